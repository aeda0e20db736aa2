//! The files of a working folder, sorted by the ignore rules and stored as a tree.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use baton_core::base::git_name::CommitId;

use crate::git::clone::files::is_real_dir;
use crate::git::clone::private_clone::CloneState;
use crate::git::clone::worktrees::{Worktrees, blocking};
use crate::git::error::GitError;
use crate::git::vault::folder::{self, Entry, Kind, Listing};
use crate::git::vault::ignored::{self, LeftOut, Sorted};
use crate::git::vault::snapshot::{Fault, Remains};

/// One file. Git holds a larger one badly, and an agent that wrote it did so by mistake.
pub const FILE_BYTES_MAX: u64 = 2 << 30;
/// Where a clone keeps the repositories of its submodules.
const MODULES: &str = "modules";
/// How they are stored. No file of the agent's has this name in the vault: it would be escaped.
const MODULES_STORED: &str = "%baton-modules%";

/// What was stored, under no ref yet.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    pub tree: String,
    pub left_out: Vec<LeftOut>,
    pub faults: Vec<Fault>,
    pub fingerprint: u64,
}

impl Worktrees {
    /// Stores what is in the folder; of one that is gone, what the commit `last` had.
    pub(crate) async fn contents(
        &self,
        remains: &Remains,
        last: Option<&CommitId>,
    ) -> Result<Contents, GitError> {
        let root = &remains.clone.folder;
        if !is_real_dir(root) {
            let tree = match last {
                Some(last) => self.tree_id(last).await?,
                None => self.write_tree(root, &[]).await?,
            };
            return Ok(Contents { tree, ..Contents::default() });
        }
        let (listing, sorted) = self.look(remains).await?;
        let mut faults = faults_of(&listing);
        let beyond = "it is ignored, not known to be rebuildable, and beyond what a vault takes";
        faults.extend(sorted.too_large.iter().map(|path| fault(path, beyond)));
        let entries: Vec<Entry> = listing.entries.into_iter().filter(|entry| !is_too_large(entry)).collect();
        let tree = self.write_tree(root, &entries).await?;
        let tree = self.with_modules(remains, tree, &mut faults).await?;
        Ok(Contents { tree, left_out: sorted.left_out, faults, fingerprint: listing.fingerprint })
    }

    /// Lists the folder without what the ignore rules and the limits leave out.
    pub(crate) async fn look(&self, remains: &Remains) -> Result<(Listing, Sorted), GitError> {
        let index = self.index_at(remains.clone.clone(), remains.clone.record.indexed().as_ref()).await?;
        let list = self.with_index("list the ignored files", &index);
        let list =
            list.args(["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"]);
        let mut ignored = list.find().await?.unwrap_or_default();
        let reused = remains.clone.record.reused();
        for path in &reused {
            ignored.extend_from_slice(path.as_os_str().as_bytes());
            ignored.push(0);
        }
        let folder = remains.clone.folder.clone();
        // The refs, reflogs and index of a clone are kept as commits. A repository that cannot be read is kept as it is.
        let is_sound = matches!(remains.clone.state(&self.repository.objects()), CloneState::Sound(_));
        blocking("read", &remains.clone.folder, move || {
            let sorted = ignored::sort(&folder, &ignored, &reused);
            let mut skipped = sorted.skipped();
            if is_sound {
                skipped.insert(PathBuf::from(".git"));
            }
            Ok((folder::list(&folder, &skipped)?, sorted))
        })
        .await
    }

    /// Adds the repositories of the clone's submodules to the tree.
    async fn with_modules(
        &self,
        remains: &Remains,
        tree: String,
        faults: &mut Vec<Fault>,
    ) -> Result<String, GitError> {
        let modules = remains.clone.git_dir().join(MODULES);
        let is_sound = matches!(remains.clone.state(&self.repository.objects()), CloneState::Sound(_));
        if !is_sound || !is_real_dir(&modules) {
            return Ok(tree);
        }
        let root = modules.clone();
        let listing = blocking("read", &modules, move || folder::list(&root, &BTreeSet::new())).await?;
        faults.extend(faults_of(&listing));
        let entries: Vec<Entry> = listing.entries.into_iter().filter(|entry| !is_too_large(entry)).collect();
        let inner = self.write_tree(&modules, &entries).await?;
        let mut top = self.repository.call("read a tree").args(["ls-tree", "-z", &tree]).run().await?;
        top.extend(format!("040000 tree {inner}\t{MODULES_STORED}\0").bytes());
        self.repository.call("write a tree").args(["mktree", "-z"]).input(top).line().await
    }
}

fn fault(path: &Path, why: &str) -> Fault {
    Fault { path: path.to_owned(), why: why.to_owned() }
}

fn faults_of(listing: &Listing) -> Vec<Fault> {
    let unreadable = listing.unreadable.iter().map(|(path, why)| fault(path, why));
    let large = listing.entries.iter().filter(|entry| is_too_large(entry));
    unreadable.chain(large.map(|entry| fault(&entry.path, "it is larger than a vault takes"))).collect()
}

fn is_too_large(entry: &Entry) -> bool {
    matches!(entry.kind, Kind::File { .. }) && entry.bytes > FILE_BYTES_MAX
}

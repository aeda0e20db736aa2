//! A worktree's files, looked at with the ignore rules in mind and stored as a tree.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use baton_core::base::git_name::CommitId;

use crate::git::error::GitError;
use crate::git::folder::{self, Entry, Kind, Listing};
use crate::git::ignored::{self, LeftOut, Sorted};
use crate::git::program::At;
use crate::git::room::{Worktrees, blocking};
use crate::git::vault::{Fault, Remains};

/// One file. Git holds a larger one badly, and an agent that wrote it did so by mistake.
pub const FILE_BYTES_MAX: u64 = 2 << 30;
/// Where git keeps the repositories of one worktree's submodules; it goes when the worktree goes.
const MODULES: &str = "modules";
/// How they are stored. No file of the agent's has this name in the vault: it would be escaped.
const MODULES_STORED: &str = "%baton-modules%";

/// Stored, but not under any ref yet.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    pub tree: String,
    pub left_out: Vec<LeftOut>,
    pub faults: Vec<Fault>,
    pub fingerprint: u64,
}

impl Worktrees {
    /// Stores what lies in the folder; of one that is gone, what the commit `last` had.
    pub(crate) async fn contents(
        &self,
        remains: &Remains,
        last: Option<&CommitId>,
    ) -> Result<Contents, GitError> {
        if !remains.folder.is_dir() {
            let tree = match last {
                Some(last) => self.tree_id(last).await?,
                None => self.write_tree(&remains.folder, &[]).await?,
            };
            return Ok(Contents { tree, ..Contents::default() });
        }
        let (listing, sorted) = self.look(remains).await?;
        let mut faults = faults_of(&listing);
        let beyond = "it is ignored, not known to be rebuildable, and beyond what a vault takes";
        faults.extend(sorted.too_large.iter().map(|path| fault(path, beyond)));
        let entries: Vec<Entry> = listing.entries.into_iter().filter(|entry| !is_too_large(entry)).collect();
        let tree = self.write_tree(&remains.folder, &entries).await?;
        let tree = self.with_modules(remains, tree, &mut faults).await?;
        Ok(Contents { tree, left_out: sorted.left_out, faults, fingerprint: listing.fingerprint })
    }

    /// The folder as it is, without what the ignore rules and the limits leave out.
    pub(crate) async fn look(&self, remains: &Remains) -> Result<(Listing, Sorted), GitError> {
        let git_dir = remains.git_dir.as_deref().unwrap_or(self.repository.git_dir());
        let at = At::Worktree { git_dir, folder: &remains.folder };
        let list = self.repository.call_at("list the ignored files", at);
        // The repository's own index is the human's, and says nothing about this folder.
        let list = if remains.git_dir.is_some() { list } else { list.env("GIT_INDEX_FILE", "/dev/null") };
        let list =
            list.args(["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"]);
        // With a damaged index nothing counts as ignored, and so everything is kept.
        let ignored = list.find().await?.unwrap_or_default();
        let folder = remains.folder.clone();
        blocking("read", &remains.folder, move || {
            let sorted = ignored::sort(&folder, &ignored);
            let mut skipped = sorted.skipped();
            if folder.join(".git").is_file() {
                // The way from the worktree to its repository; git's, not the agent's.
                skipped.insert(PathBuf::from(".git"));
            }
            Ok((folder::list(&folder, &skipped)?, sorted))
        })
        .await
    }

    /// Adds the repositories of the worktree's submodules to the tree, when there are any.
    async fn with_modules(
        &self,
        remains: &Remains,
        tree: String,
        faults: &mut Vec<Fault>,
    ) -> Result<String, GitError> {
        let modules = remains.git_dir.as_ref().map(|git_dir| git_dir.join(MODULES));
        let Some(modules) = modules.filter(|modules| modules.is_dir()) else { return Ok(tree) };
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

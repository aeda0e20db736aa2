//! The refs of a clone, read from its files. Git does not run there: its configuration is the agent's.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use baton_core::base::git_name::{BranchName, CommitId};

use crate::git::clone::files::{self, is_real_dir};

const BRANCHES: &str = "refs/heads/";
const REF_BYTES_MAX: u64 = 4 << 10;
const PACKED_BYTES_MAX: u64 = 64 << 20;
const LOG_BYTES_MAX: u64 = 16 << 20;
/// Loose refs and logs that are read. An agent makes a few.
const FILES_MAX: usize = 10_000;
/// Commits of reflogs that are considered, the latest first.
const STEPS_MAX: usize = 2_000;

/// Files in a `.git` that say what git was in the middle of.
const UNFINISHED: [(&str, &str); 6] = [
    ("MERGE_HEAD", "merge"),
    ("rebase-merge", "rebase"),
    ("rebase-apply", "rebase"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
    ("BISECT_LOG", "bisect"),
];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CloneRefs {
    head: CloneHead,
    pub refs: BTreeMap<String, CommitId>,
    /// What git was in the middle of.
    pub unfinished: Option<&'static str>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum CloneHead {
    Ref(String),
    Commit(CommitId),
}

impl CloneRefs {
    /// An error says what is wrong with the clone.
    pub(crate) fn read(git_dir: &Path) -> Result<Self, String> {
        let head =
            files::read(&git_dir.join("HEAD"), REF_BYTES_MAX).map_err(|error| format!("HEAD: {error}"))?;
        let head = String::from_utf8_lossy(&head).trim().to_owned();
        let head = match head.strip_prefix("ref: ") {
            Some(name) if name.starts_with("refs/") && name != "refs/heads/.invalid" => {
                CloneHead::Ref(name.to_owned())
            }
            Some(_) => return Err("HEAD names no ref".to_owned()),
            None => CloneHead::Commit(head.parse().map_err(|_| "HEAD is damaged".to_owned())?),
        };
        let mut refs = BTreeMap::new();
        match files::read(&git_dir.join("packed-refs"), PACKED_BYTES_MAX) {
            Ok(packed) => refs.extend(parse_packed(&packed)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(format!("packed-refs: {error}")),
        }
        for path in files_below(&git_dir.join("refs")) {
            let name = path.strip_prefix(git_dir).ok().and_then(|name| name.to_str());
            let text = files::read(&path, REF_BYTES_MAX).unwrap_or_default();
            if let (Some(name), Ok(commit)) = (name, String::from_utf8_lossy(&text).trim().parse()) {
                refs.insert(name.to_owned(), commit);
            }
        }
        let is_there = |(file, _): &&(&str, &str)| fs::symlink_metadata(git_dir.join(file)).is_ok();
        let unfinished = UNFINISHED.iter().find(is_there).map(|(_, what)| *what);
        Ok(Self { head, refs, unfinished })
    }

    /// The commit HEAD leads to; none on a branch without commits.
    pub(crate) fn head(&self) -> Option<&CommitId> {
        match &self.head {
            CloneHead::Ref(name) => self.refs.get(name),
            CloneHead::Commit(commit) => Some(commit),
        }
    }

    pub(crate) fn branch(&self, branch: &BranchName) -> Option<&CommitId> {
        self.refs.get(&format!("{BRANCHES}{branch}"))
    }

    pub(crate) fn is_on(&self, branch: &BranchName) -> bool {
        matches!(&self.head, CloneHead::Ref(name) if name.strip_prefix(BRANCHES) == Some(branch.as_str()))
    }

    /// The name of the branch it is on.
    pub(crate) fn current_branch(&self) -> Option<&str> {
        match &self.head {
            CloneHead::Ref(name) => name.strip_prefix(BRANCHES),
            CloneHead::Commit(_) => None,
        }
    }

    /// Branches that lead elsewhere than when the clone was made, apart from its own.
    pub(crate) fn moved(&self, made_with: &[u8], own: Option<&BranchName>) -> Vec<String> {
        let own = own.map(|branch| format!("{BRANCHES}{branch}"));
        let is_moved = |(name, commit): &(String, CommitId)| {
            name.starts_with(BRANCHES) && own.as_ref() != Some(name) && self.refs.get(name) != Some(commit)
        };
        parse_packed(made_with).into_iter().filter(is_moved).map(|(name, _)| name).collect()
    }
}

/// Puts a clone on a branch that leads to a commit. No file outside `.git` changes.
pub(crate) fn put_on(git_dir: &Path, branch: &BranchName, commit: &CommitId) -> io::Result<()> {
    let name = format!("{BRANCHES}{branch}");
    for lock in [format!("{name}.lock"), "HEAD.lock".to_owned(), "index.lock".to_owned()] {
        // What a killed git left. The agent's processes are gone, so nobody holds it.
        let _ = fs::remove_file(git_dir.join(lock));
    }
    files::replace(git_dir, Path::new(&name), format!("{commit}\n").as_bytes())?;
    files::replace(git_dir, Path::new("HEAD"), format!("ref: {name}\n").as_bytes())
}

/// The packed refs of a clone with the person's as they are now, apart from the clone's own branch.
pub(crate) fn renew_packed(git_dir: &Path, persons: &[u8], own: &BranchName) -> Vec<u8> {
    let own = format!("{BRANCHES}{own}");
    let packed = files::read(&git_dir.join("packed-refs"), PACKED_BYTES_MAX).unwrap_or_default();
    let mut refs: BTreeMap<String, CommitId> = parse_packed(&packed).into_iter().collect();
    refs.extend(parse_packed(persons).into_iter().filter(|(name, _)| *name != own));
    refs.iter().flat_map(|(name, commit)| format!("{commit} {name}\n").into_bytes()).collect()
}

/// Every commit the reflogs mention, up to a limit.
pub(crate) fn logged_commits(git_dir: &Path) -> BTreeSet<CommitId> {
    let mut logs = vec![git_dir.join("logs/HEAD")];
    logs.extend(files_below(&git_dir.join("logs/refs")));
    let mut commits = BTreeSet::new();
    for log in logs {
        let Ok(log) = files::read(&log, LOG_BYTES_MAX) else { continue };
        for line in String::from_utf8_lossy(&log).lines().rev() {
            if commits.len() >= STEPS_MAX {
                return commits;
            }
            commits.extend(line.split(' ').take(2).filter_map(parse_commit));
        }
    }
    commits
}

/// Where HEAD was last.
pub(crate) fn last_step(git_dir: &Path) -> Option<CommitId> {
    let log = files::read(&git_dir.join("logs/HEAD"), LOG_BYTES_MAX).ok()?;
    let log = String::from_utf8_lossy(&log);
    let mut words = log.lines().next_back()?.split(' ');
    let (old, new) = (words.next()?, words.next()?);
    // A branch deleted under HEAD is logged as a step to nowhere.
    parse_commit(new).or_else(|| parse_commit(old))
}

/// The branches in the text of a `packed-refs` file.
pub(crate) fn branches_in(packed: &[u8]) -> Vec<(BranchName, CommitId)> {
    let branch =
        |(name, commit): (String, CommitId)| Some((name.strip_prefix(BRANCHES)?.parse().ok()?, commit));
    parse_packed(packed).into_iter().filter_map(branch).collect()
}

fn parse_packed(packed: &[u8]) -> Vec<(String, CommitId)> {
    let text = String::from_utf8_lossy(packed);
    let entries = text.lines().filter_map(|line| line.split_once(' '));
    entries.filter_map(|(commit, name)| Some((name.to_owned(), commit.parse().ok()?))).collect()
}

/// All zeros stand for no commit.
fn parse_commit(id: &str) -> Option<CommitId> {
    id.parse().ok().filter(|_| id.bytes().any(|digit| digit != b'0'))
}

/// Regular files, links not followed.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        if found.len() >= FILES_MAX || !is_real_dir(&folder) {
            continue;
        }
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => open.push(entry.path()),
                Ok(kind) if kind.is_file() => found.push(entry.path()),
                _ => {}
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "1111111111111111111111111111111111111111";
    const TWO: &str = "2222222222222222222222222222222222222222";

    fn clone_with(head: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("refs/heads/baton")).unwrap();
        fs::write(folder.path().join("HEAD"), head).unwrap();
        folder
    }

    #[test]
    fn a_loose_ref_hides_a_packed_one() {
        let folder = clone_with("ref: refs/heads/main\n");
        fs::write(
            folder.path().join("packed-refs"),
            format!("# pack-refs with: peeled\n{ONE} refs/heads/main\n^{TWO}\n"),
        )
        .unwrap();
        let packed = CloneRefs::read(folder.path()).unwrap();
        assert_eq!(packed.head().map(CommitId::as_str), Some(ONE));
        fs::write(folder.path().join("refs/heads/main"), TWO).unwrap();
        let loose = CloneRefs::read(folder.path()).unwrap();
        assert_eq!(loose.head().map(CommitId::as_str), Some(TWO));
        assert_eq!(loose.moved(format!("{ONE} refs/heads/main\n").as_bytes(), None), ["refs/heads/main"]);
        assert!(packed.moved(format!("{ONE} refs/heads/main\n").as_bytes(), None).is_empty());
    }

    #[test]
    fn a_clone_is_put_on_a_branch_unless_a_link_is_in_the_way() {
        let folder = clone_with("junk");
        assert!(CloneRefs::read(folder.path()).is_err());
        let (branch, commit) = ("baton/TASK-00000001".parse().unwrap(), ONE.parse().unwrap());
        put_on(folder.path(), &branch, &commit).unwrap();
        let refs = CloneRefs::read(folder.path()).unwrap();
        assert!(refs.is_on(&branch));
        assert_eq!((refs.head(), refs.unfinished), (Some(&commit), None));
        let elsewhere = tempfile::tempdir().unwrap();
        fs::remove_dir_all(folder.path().join("refs/heads/baton")).unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), folder.path().join("refs/heads/baton")).unwrap();
        put_on(folder.path(), &branch, &commit).unwrap_err();
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
        fs::write(folder.path().join("MERGE_HEAD"), TWO).unwrap();
        assert_eq!(CloneRefs::read(folder.path()).unwrap().unfinished, Some("merge"));
    }
}

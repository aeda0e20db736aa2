//! What can go wrong with git, in the few kinds a caller has to tell apart.
//!
//! The message says what was tried and what came of it; [`GitError::hint`] says what to do next.

use crate::base::error::ErrorKind;
use crate::base::refusals::failure;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use baton_core::base::git_name::BranchName;
use baton_core::base::id::AttemptId;
use baton_core::base::words::shell_word;
use rustix::io::Errno;

use crate::git::command::version::GitVersion;

#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error("git cannot be started as \"{program}\": {source}")]
    Missing { program: String, source: io::Error },
    #[error("git {found} is too old: Baton needs {} or newer", GitVersion::OLDEST)]
    TooOld { found: GitVersion },
    #[error("could not {tried}: {stderr}")]
    Failed { tried: &'static str, code: Option<i32>, stderr: String },
    #[error("could not {tried}: git was not done after {} s", after.as_secs())]
    TimedOut { tried: &'static str, after: Duration },
    #[error("could not {tried}: git's answer is longer than {bytes_max} bytes")]
    TooLong { tried: &'static str, bytes_max: usize },
    /// Git answered, but not in the form it documents.
    #[error("could not {tried}: git's answer makes no sense: {answer}")]
    Garbled { tried: &'static str, answer: String },
    #[error("could not {tried} {}: {source}", path.display())]
    File { tried: &'static str, path: PathBuf, source: io::Error },
    #[error("another Baton process has held {} for {} s", path.display(), after.as_secs())]
    Busy { path: PathBuf, after: Duration },

    #[error("{} is not a git repository", path.display())]
    NotARepository { path: PathBuf },
    #[error("the repository {} has no commits yet", path.display())]
    NoCommits { path: PathBuf },
    #[error("there is no branch {branch}")]
    NoBranch { branch: BranchName },
    #[error("no branch of {} stands out as the one to start from", path.display())]
    NoBaseBranch { path: PathBuf, branches: Vec<String> },
    /// Git keeps branches as files: `a` and `a/b` cannot both exist.
    #[error("the branch {branch} cannot be made: the branch {by} is in its way")]
    InTheWay { branch: BranchName, by: String },
    #[error("the branch {branch} is checked out in {}", at.display())]
    CheckedOut { branch: BranchName, at: PathBuf },
    #[error("{branch} and {into} have no commit in common")]
    Unrelated { branch: BranchName, into: BranchName },
    #[error("{into} kept moving while {branch} was merged into it")]
    KeptMoving { branch: BranchName, into: BranchName },

    #[error("\"{}\" cannot be copied into a worktree: {why}", path.display())]
    BadCopy { path: PathBuf, why: &'static str },
    #[error("the worktree of {attempt} now belongs to {by}")]
    HandedOn { attempt: AttemptId, by: AttemptId },
    #[error("{attempt} has no worktree")]
    NoWorktree { attempt: AttemptId },
    #[error("nothing is kept of {attempt}")]
    NoVault { attempt: AttemptId },
    #[error("{} is there already", path.display())]
    Exists { path: PathBuf },
    /// I17: what cannot be kept is not removed.
    #[error("the worktree of {attempt} was not removed: {}", faults.join("; "))]
    NotKept { attempt: AttemptId, faults: Vec<String> },
    #[error("the worktree of {attempt} was not removed: its files kept changing")]
    KeptChanging { attempt: AttemptId },
}

impl GitError {
    /// Whether somebody holds what is to be changed, and trying again later will do: a branch that is checked out, a lock.
    pub fn is_in_the_way(&self) -> bool {
        match self {
            Self::CheckedOut { .. } | Self::Busy { .. } | Self::KeptMoving { .. } => true,
            Self::Failed { stderr, .. } => is_lock_held(stderr),
            _ => false,
        }
    }

    /// Whether a lock file was in the way.
    pub(crate) fn is_lock_held(&self) -> bool {
        matches!(self, Self::Failed { stderr, .. } if is_lock_held(stderr))
    }

    /// What to do next, in a sentence or a command.
    pub fn hint(&self) -> String {
        match self {
            Self::Missing { source, .. } if is_exhausted(source) => {
                let why = "files, processes or memory of the machine or this user are used up";
                format!("{why}: end something, or raise the limit (`ulimit -n`, `ulimit -u`)")
            }
            Self::Missing { .. } => "install git, or put it on PATH".to_owned(),
            Self::TooOld { .. } => format!("install git {} or newer", GitVersion::OLDEST),
            Self::Failed { stderr, .. } => hint_of_stderr(stderr),
            Self::TimedOut { .. } => {
                "see whether another program holds the repository, then try again".to_owned()
            }
            Self::TooLong { .. } => {
                "this repository is larger than Baton was made for; please report it".to_owned()
            }
            Self::Garbled { .. } => {
                "run `git fsck` in the repository; please report it if that is clean".to_owned()
            }
            Self::File { path, .. } => {
                format!("look at {}: its owner, its rights, and the disk", path.display())
            }
            Self::Busy { .. } => "end the other Baton process, or wait for it".to_owned(),
            Self::NotARepository { path } => {
                format!("run `git init` in {}, or name another folder", path.display())
            }
            Self::NoCommits { path } => {
                format!("run `git -C {} commit --allow-empty -m \"Start\"`", quoted(path))
            }
            Self::NoBranch { branch } => {
                format!("make it with `git branch {branch}`, or name one from `git branch --list`")
            }
            Self::NoBaseBranch { branches, .. } if branches.is_empty() => "make a branch first".to_owned(),
            Self::NoBaseBranch { branches, .. } => format!("name the base branch: {}", branches.join(", ")),
            Self::InTheWay { by, .. } => format!("rename it: `git branch -m {by} {by}-old`"),
            Self::CheckedOut { branch, at } => format!(
                "free {branch} with `git -C {} switch --detach`, or merge it there yourself, then try again",
                quoted(at)
            ),
            Self::Unrelated { .. } => "rebase the work onto the branch it is meant for".to_owned(),
            Self::KeptMoving { .. } | Self::KeptChanging { .. } => {
                "see what else works on it, then try again".to_owned()
            }
            Self::BadCopy { .. } => "name a file of yours by its path inside the repository".to_owned(),
            Self::HandedOn { by, .. } => format!("look at {by} instead"),
            Self::NoWorktree { attempt } => {
                format!("bring its files back with the vault of {attempt}, if it has one")
            }
            Self::NoVault { .. } => "look whether its worktree still stands".to_owned(),
            Self::Exists { .. } => "name a folder that does not exist yet".to_owned(),
            Self::NotKept { .. } => "move these files away or make them readable, then try again".to_owned(),
        }
    }
}

/// Git says much in prose. These few sentences have been stable for years and have a remedy.
/// What git prints when the remote itself says no.
const REFUSED_PUSH: [&str; 3] = ["remote rejected", "hook declined", "protected branch"];
/// What git prints when it does not get that far.
const UNREACHABLE_REMOTE: [&str; 4] = [
    "Could not read from remote repository",
    "Authentication failed",
    "Could not resolve host",
    "does not appear to be a git repository",
];

/// What git prints when a program that changes files on the way is missing or fails.
const FAILED_FILTER: [&str; 3] = ["smudge filter", "clean filter", "external filter"];

fn hint_of_stderr(stderr: &str) -> String {
    if stderr.contains("dubious ownership") {
        return "the repository belongs to another user; if you trust it, run the `git config --global --add \
                safe.directory` command above"
            .to_owned();
    }
    if is_lock_held(stderr) {
        return "another git is at work, or one died; when none runs any more, delete the .lock file named above"
            .to_owned();
    }
    if REFUSED_PUSH.iter().any(|words| stderr.contains(words)) {
        return "the remote does not take the push: look at its hooks and at the rules of the branch, or let this machine push there"
            .to_owned();
    }
    if UNREACHABLE_REMOTE.iter().any(|words| stderr.contains(words)) {
        return "check the address of the remote and this machine's access to it: `git ls-remote URL`"
            .to_owned();
    }
    if FAILED_FILTER.iter().any(|words| stderr.contains(words)) {
        return "install the program that the filter named above runs (`git config --get-regexp filter`), such as git-lfs, or take \
                the filter out of .gitattributes"
            .to_owned();
    }
    if stderr.contains("No space left on device") {
        return "make room on the disk, then try again".to_owned();
    }
    "run `git status` and `git fsck` in the repository".to_owned()
}

/// Out of files, processes or memory, of which git's absence says nothing.
fn is_exhausted(source: &io::Error) -> bool {
    let exhausted = [Errno::MFILE, Errno::NFILE, Errno::AGAIN, Errno::NOMEM];
    Errno::from_io_error(source).is_some_and(|errno| exhausted.contains(&errno))
}

fn is_lock_held(stderr: &str) -> bool {
    stderr.contains(".lock': File exists")
}

/// A path for a command line a person will paste.
fn quoted(path: &Path) -> String {
    shell_word(&path.display().to_string())
}

failure! {
    GitError { |it|
        // What the caller can fix by asking otherwise, what is in the way for now, and what is broken.
        kind: match it {
            _ if it.is_in_the_way() => ErrorKind::Conflict,
            Self::NotARepository { .. }
            | Self::NoCommits { .. }
            | Self::NoBranch { .. }
            | Self::NoBaseBranch { .. } => ErrorKind::InvalidInput,
            Self::InTheWay { .. }
            | Self::CheckedOut { .. }
            | Self::Unrelated { .. }
            | Self::KeptMoving { .. }
            | Self::HandedOn { .. }
            | Self::KeptChanging { .. }
            | Self::Exists { .. }
            | Self::Busy { .. } => ErrorKind::Conflict,
            Self::TimedOut { .. } => ErrorKind::Unavailable,
            Self::Missing { .. }
            | Self::TooOld { .. }
            | Self::Failed { .. }
            | Self::TooLong { .. }
            | Self::Garbled { .. }
            | Self::File { .. }
            | Self::BadCopy { .. }
            | Self::NoWorktree { .. }
            | Self::NoVault { .. }
            | Self::NotKept { .. } => ErrorKind::Internal,
        },
        hint: it.hint(),
        explained: it.explained(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_is_not_missing_where_the_machine_is_out_of_files_or_processes() {
        let hint =
            |errno: Errno| GitError::Missing { program: "git".to_owned(), source: errno.into() }.hint();
        for errno in [Errno::MFILE, Errno::NFILE, Errno::AGAIN, Errno::NOMEM] {
            assert!(hint(errno).contains("ulimit"), "{}", hint(errno));
        }
        assert!(hint(Errno::NOENT).contains("install git"));
    }

    #[test]
    fn a_missing_filter_is_about_its_program_and_not_about_the_repository() {
        for stderr in [
            "error: external filter 'git-lfs smudge -- %f' failed 127\nfatal: a.bin: smudge filter lfs failed",
            "fatal: a.txt: clean filter 'crypt' failed",
        ] {
            let hint = hint_of_stderr(stderr);
            assert!(hint.contains("install the program") && !hint.contains("fsck"), "{hint}");
        }
    }
}

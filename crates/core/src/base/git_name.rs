//! Names that git accepts: branches and commits.
//!
//! Both come from outside (settings, agents, git output) and end up in command lines and paths, so they are validated
//! once, on the way in. Whether the branch or commit exists is not checked here.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::base::id::{ProjectId, TaskId};

/// Longest part of an invalid name that is quoted back.
const QUOTED_CHARS_MAX: usize = 80;

fn quoted(text: &str) -> String {
    text.chars().take(QUOTED_CHARS_MAX).collect()
}

/// A branch name under git's ref rules, and slightly stricter: no white space of any kind.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct BranchName(String);

/// A text that is not a valid branch name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{text}\" cannot be a branch: {why}; use a name like feature/dca27809")]
pub struct InvalidBranchName {
    pub text: String,
    pub why: &'static str,
}

impl BranchName {
    /// Git stores a branch as a file and file systems stop at 255 bytes per name; this leaves room for the suffixes
    /// git adds.
    pub const LEN_MAX: usize = 200;

    /// The branch for a task's own work.
    pub fn for_task(task: TaskId) -> Self {
        Self(format!("baton/{task}"))
    }

    /// Whether it is the branch for some task's own work.
    pub fn is_of_task(&self) -> bool {
        self.task().is_some()
    }

    /// The task whose own work it is for, if it is such a branch.
    pub fn task(&self) -> Option<TaskId> {
        self.0.strip_prefix("baton/")?.parse().ok()
    }

    /// The branch that collects accepted work outside a feature, for a person to merge.
    pub fn integration() -> Self {
        Self("baton/next".to_owned())
    }

    /// The branch shared by the tasks of a feature. It carries the project's digits.
    pub fn feature(project: ProjectId) -> Self {
        Self(format!("feature/{:08x}", project.bits()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Why git would reject the name, or `None` if it is valid.
fn objection(name: &str) -> Option<&'static str> {
    if name.is_empty() {
        return Some("it is empty");
    }
    if name.len() > BranchName::LEN_MAX {
        return Some("it is longer than 200 bytes");
    }
    if name.starts_with('-') {
        return Some("it starts with - and would pass for an option");
    }
    if name == "@" || name == "HEAD" {
        return Some("git keeps this name for itself");
    }
    if name.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Some("it has white space or a control character");
    }
    if name.contains(['~', '^', ':', '?', '*', '[', '\\']) {
        return Some("it has one of ~ ^ : ? * [ \\");
    }
    if name.contains("..") {
        return Some("it has two dots in a row");
    }
    if name.contains("@{") {
        return Some("it has @{");
    }
    if name.ends_with('.') {
        return Some("it ends with a dot");
    }
    name.split('/').find_map(|part| {
        if part.is_empty() {
            Some("a part between slashes is empty")
        } else if part.starts_with('.') {
            Some("a part starts with a dot")
        } else if has_lock_suffix(part) {
            Some("a part ends with .lock")
        } else {
            None
        }
    })
}

/// In any letter case: on some file systems `x.LOCK` is the lock file git creates for `x`.
fn has_lock_suffix(part: &str) -> bool {
    part.to_ascii_lowercase().ends_with(".lock")
}

impl FromStr for BranchName {
    type Err = InvalidBranchName;

    fn from_str(text: &str) -> Result<Self, InvalidBranchName> {
        match objection(text) {
            None => Ok(Self(text.to_owned())),
            Some(why) => Err(InvalidBranchName { text: quoted(text), why }),
        }
    }
}

/// A commit by its full hash: SHA-1 or SHA-256, lower-case. Short forms are rejected, because their meaning changes
/// as a repository grows.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CommitId(String);

/// A text that is not a full commit hash.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "\"{text}\" is not a commit: give all 40 (or 64) lower-case hex digits, as `git rev-parse` prints them"
)]
pub struct InvalidCommitId {
    pub text: String,
}

impl CommitId {
    /// Enough digits to tell commits apart in a line of text.
    const SHORT_LEN: usize = 10;

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn short(&self) -> &str {
        self.0.get(..Self::SHORT_LEN).unwrap_or(&self.0)
    }
}

impl FromStr for CommitId {
    type Err = InvalidCommitId;

    fn from_str(text: &str) -> Result<Self, InvalidCommitId> {
        let is_hex = text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        if is_hex && matches!(text.len(), 40 | 64) {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidCommitId { text: quoted(text) })
        }
    }
}

macro_rules! text_form {
    ($name:ident, $error:ident) => {
        impl TryFrom<String> for $name {
            type Error = $error;

            fn try_from(text: String) -> Result<Self, $error> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> String {
                name.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

text_form!(BranchName, InvalidBranchName);
text_form!(CommitId, InvalidCommitId);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_of_a_task_is_known_by_its_name() {
        for (name, is_of_task) in
            [("baton/TASK-0000000a", true), ("baton/next", false), ("main", false), ("TASK-0000000a", false)]
        {
            assert_eq!(name.parse::<BranchName>().unwrap().is_of_task(), is_of_task, "{name}");
        }
    }
    use proptest::prelude::*;

    #[test]
    fn our_own_branches_are_valid() {
        let task = BranchName::for_task(TaskId::from_bits(0x9a69_e916));
        let feature = BranchName::feature(ProjectId::from_bits(0xdca2));
        assert_eq!(task.as_str(), "baton/TASK-9a69e916");
        assert_eq!(feature.as_str(), "feature/0000dca2");
        assert_eq!(task.as_str().parse(), Ok(task));
        assert_eq!(feature.as_str().parse(), Ok(feature));
    }

    #[test]
    fn names_git_accepts_are_accepted() {
        for good in ["main", "a", "release/1.2.x", "fix-#12", "user@host", "größe", "a.lockfile", "@a"] {
            assert!(good.parse::<BranchName>().is_ok(), "{good}");
        }
    }

    #[test]
    fn names_git_rejects_are_rejected() {
        for bad in [
            "",
            "-x",
            "--upload-pack=evil",
            "a..b",
            "a b",
            "a\tb",
            "a\nb",
            "a\u{7f}",
            "a\u{3000}b",
            "a~1",
            "a^",
            "a:b",
            "a?",
            "a*",
            "a[b",
            "a\\b",
            "a@{1}",
            "a.lock",
            "a.LOCK",
            "a.lock/b",
            "a/",
            "/a",
            "a//b",
            "a.",
            ".a",
            "a/.b",
            "@",
            "HEAD",
            &"x".repeat(201),
        ] {
            assert!(bad.parse::<BranchName>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_commit_is_a_full_lower_case_hash() {
        let sha1 = "0123456789abcdef0123456789abcdef01234567";
        assert_eq!(sha1.parse::<CommitId>().map(|id| id.short().to_owned()), Ok("0123456789".to_owned()));
        assert!("a".repeat(64).parse::<CommitId>().is_ok());
        for bad in ["", "HEAD", "0123456", &sha1.to_uppercase(), &"a".repeat(41), &"g".repeat(40)] {
            assert!(bad.parse::<CommitId>().is_err(), "{bad}");
        }
    }

    #[test]
    fn json_goes_through_the_check() {
        assert!(serde_json::from_str::<BranchName>(r#""-x""#).is_err());
        assert!(serde_json::from_str::<CommitId>(r#""main""#).is_err());
        let main: BranchName = serde_json::from_str(r#""main""#).unwrap();
        assert_eq!(serde_json::to_string(&main).unwrap(), r#""main""#);
    }

    proptest! {
        #[test]
        fn no_text_panics_and_what_passes_is_safe_on_a_command_line(text in ".{0,220}") {
            let _ = text.parse::<CommitId>();
            if let Ok(branch) = text.parse::<BranchName>() {
                prop_assert!(!branch.as_str().starts_with('-'));
                prop_assert!(branch.as_str().len() <= BranchName::LEN_MAX);
                prop_assert!(!branch.as_str().chars().any(|c| c.is_control() || c == ' '));
            }
        }
    }
}

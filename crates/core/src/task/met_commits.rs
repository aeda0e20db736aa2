//! The person's own commits that the work of a task met on its way into the branch.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::base::git_name::{BranchName, CommitId};

/// Commits of a branch of the person's that came in together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MetCommits {
    pub branch: BranchName,
    /// What they were committed on, and the newest of them.
    pub from: CommitId,
    pub to: CommitId,
    /// Each with its subject, newest first.
    pub subjects: Vec<String>,
}

/// For people: whose they are, and the newest of them.
impl fmt::Display for MetCommits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "your own commits on {} (up to {})", self.branch, self.to.short())
    }
}

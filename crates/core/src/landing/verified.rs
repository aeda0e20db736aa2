//! A command that verifies one task: it should fail on what the task started from, and pass on what the branch becomes.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::base::git_name::CommitId;
use crate::base::text::NonBlank;

/// The evidence of one command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerifiedCommand {
    pub command: NonBlank,
    /// What the task started from, and the exit code there.
    pub base: CommitId,
    pub before: i32,
    /// The exit code on the commit that landed.
    pub after: i32,
}

impl VerifiedCommand {
    /// Whether it can tell work from no work.
    pub const fn proves_something(&self) -> bool {
        self.before != 0
    }
}

impl fmt::Display for VerifiedCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { command, before, after, .. } = self;
        if self.proves_something() {
            write!(f, "`{command}` failed before (exit code {before}) and ended with {after} after")
        } else {
            write!(f, "`{command}` passed before the work too, so it proves nothing")
        }
    }
}

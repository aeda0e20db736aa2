//! Something odd that Baton saw about an attempt's work: evidence, whatever the agent says.

use std::fmt;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "finding", rename_all = "snake_case")]
pub enum WorkFinding {
    /// Git was in the middle of a merge, a rebase or the like.
    Unfinished {
        operation: String,
    },
    /// The work contains lines that git writes around a conflict.
    ConflictMarkers {
        files: Vec<String>,
    },
    /// A file too large to merge without asking.
    LargeFile {
        path: String,
        bytes: u64,
    },
    /// An uncommitted file too large to commit for the agent. It is still in the working folder.
    FileNotCommitted {
        path: String,
        bytes: u64,
    },
    /// Baton committed what the agent had left, without running this hook of the repository; it may have refused the agent's
    /// own commit.
    HookNotRun {
        hook: String,
    },
    /// A symbolic link that leads out of the repository.
    LinkOutside {
        path: String,
        target: String,
    },
    SubmoduleChanged {
        path: String,
    },
    /// Files that the settings protect: what the work is judged by, for example.
    ProtectedFiles {
        files: Vec<String>,
    },
    /// The commit the attempt started from is not in its history any more.
    BaseRewritten,
    /// The agent moved a branch of its own copy that is not its task's. The person's did not move.
    BranchMoved {
        name: String,
    },
    /// The working folder is gone.
    FolderGone,
    /// There is a link or a file in place of the working folder.
    FolderReplaced,
    /// The repository in the working folder is gone, damaged, or contains objects that git refuses.
    RepositoryBroken {
        detail: String,
    },
}

impl WorkFinding {
    /// Whether a person has to look before the work is merged.
    pub const fn needs_person(&self) -> bool {
        match self {
            Self::Unfinished { .. }
            | Self::ConflictMarkers { .. }
            | Self::LargeFile { .. }
            | Self::FileNotCommitted { .. }
            | Self::HookNotRun { .. }
            | Self::LinkOutside { .. }
            | Self::SubmoduleChanged { .. }
            | Self::ProtectedFiles { .. }
            | Self::BaseRewritten
            | Self::FolderGone
            | Self::FolderReplaced
            | Self::RepositoryBroken { .. } => true,
            Self::BranchMoved { .. } => false,
        }
    }
}

/// A sentence without its full stop.
impl fmt::Display for WorkFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unfinished { operation } => write!(f, "the agent left a {operation} unfinished"),
            Self::ConflictMarkers { files } => write!(f, "conflict markers in {}", files.join(", ")),
            Self::LargeFile { path, bytes } => write!(f, "{path} has {}", megabytes(*bytes)),
            Self::FileNotCommitted { path, bytes } => {
                write!(f, "{path} has {} and was not committed", megabytes(*bytes))
            }
            Self::HookNotRun { hook } => {
                write!(
                    f,
                    "Baton committed the agent's changes without the {hook} hook, which may have refused them"
                )
            }
            Self::LinkOutside { path, target } => {
                write!(f, "{path} is a link out of the repository, to {target}")
            }
            Self::SubmoduleChanged { path } => write!(f, "the submodule {path} changed"),
            Self::ProtectedFiles { files } => write!(f, "it changes protected files: {}", files.join(", ")),
            Self::BaseRewritten => f.write_str("the agent rewrote the history it started from"),
            Self::BranchMoved { name } => {
                write!(f, "the agent moved {name} in its own copy; yours did not move")
            }
            Self::FolderGone => f.write_str("the agent deleted its working folder"),
            Self::FolderReplaced => f.write_str("the agent replaced its working folder by a link"),
            Self::RepositoryBroken { detail } => write!(f, "the agent broke its repository: {detail}"),
        }
    }
}

/// With a tenth, so that a file just above a limit does not look like one at it.
fn megabytes(bytes: u64) -> String {
    let tenths = bytes.saturating_mul(10).div_ceil(1 << 20);
    format!("{}.{} MB", tenths / 10, tenths % 10)
}

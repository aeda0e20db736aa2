//! The git room: worktrees for attempts, and everything else Baton asks of git.
//!
//! An attempt works in a worktree of its own under the state directory, on its task's branch. Baton
//! measures what came of it, keeps every byte before it removes anything (I17), and merges what was
//! accepted without touching the human's checkout. Nothing outside this module names git; nothing in it
//! knows a task's state or the store.
//!
//! What Baton keeps for itself lies under `refs/baton/`, where neither `git branch` nor `git push` looks:
//!
//! | ref | what |
//! | --- | --- |
//! | `base/<attempt>` | the commit an attempt started from, until its worktree is removed |
//! | `leftovers/<attempt>` | the commit Baton made of what an agent had left uncommitted |
//! | `vault/<attempt>` | everything that was in the worktree |
//! | `from/<attempt>` | where the task's branch stood at the remote when the attempt began |
//! | `vault/<attempt>.tip`, `vault/<attempt>.leftovers` | work set aside when an agent left its branch |

mod call;
mod checkout;
mod contents;
mod error;
mod explained;
mod folder;
mod hanging;
mod head;
mod ignored;
mod leftovers;
mod lock;
mod lookup;
mod measure;
mod merge;
mod origin;
mod program;
mod register;
mod registration;
mod remove;
mod repository;
mod restore;
mod retention;
mod room;
mod scratch;
mod settle;
mod setup;
mod spare;
mod talk;
mod tree;
mod vault;
mod version;
mod watching;
pub use checkout::{Checkout, CheckoutSpec, Place};
pub use contents::FILE_BYTES_MAX;
pub use error::GitError;
pub use ignored::{IGNORED_BYTES_MAX, IGNORED_FILES_MAX, LeftOut};
pub use measure::{Excerpt, Measured, Trace};
pub use merge::{MergeSpec, Merged};
pub use origin::{CLONES, Pushed};
pub use program::Git;
pub use remove::Retired;
pub use repository::{BranchMade, Repository};
pub use restore::Restored;
pub use retention::{Kept, Pruned, Standing, VaultEntry};
pub use room::Worktrees;
pub use settle::{Aside, AsideReason, Settled};
pub use setup::Setup;
pub use vault::{Fault, Vaulted};
pub use version::GitVersion;
pub use watching::{FilesWritten, Watcher};

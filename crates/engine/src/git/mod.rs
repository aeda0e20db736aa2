//! Everything Baton asks of git. No other module names it, and this one knows neither a task's state nor the store.
//!
//! An attempt works in a repository of its own, a private clone in the state folder on its task's branch (`clone`). Baton
//! brings its commits over and measures them (`settle`), keeps every byte before it removes anything (I17, `vault`), and
//! merges what was accepted without touching the person's checkout (`repository`). I20: nothing an attempt does in its clone
//! changes the person's repository.
//!
//! Refs under `refs/baton/` are Baton's own; neither `git branch` nor `git push` shows them:
//!
//! | ref | what |
//! | --- | --- |
//! | `base/<attempt>` | the commit an attempt started from, until its working folder is removed |
//! | `leftovers/<attempt>` | the commit Baton made of what an agent had left uncommitted |
//! | `vault/<attempt>` | everything that was in the working folder |
//! | `given/<task branch>/<branch>/<commit>` | where a branch stood when the task's work was started from it or could take it in |
//! | `made/<branch>` | where the integration branch was created from that branch, until something lands on it |
//! | `landed/<branch>` | where Baton moved that branch last |
//! | `from/<attempt>` | where the task's branch was at the remote when the attempt began |
//! | `vault/<attempt>.tip`, `.before`, `.leftovers` | work that was set aside because the branch no longer leads to it |

mod clone;
mod command;
mod error;
mod explained;
mod repository;
mod settle;
mod vault;

pub use clone::checkout::{Checkout, CheckoutBase, CheckoutSpec};
pub use clone::config::{CommitIdentity, FALLBACK_EMAIL, FALLBACK_NAME};
pub use clone::scratch::ScratchClone;
pub use clone::setup::Setup;
pub use clone::worktrees::Worktrees;
pub(crate) use command::program::At;
pub use command::program::Git;
pub use command::progress::{FilesWritten, Watcher};
pub use command::version::GitVersion;
pub use error::GitError;
pub(crate) use repository::brought::brings_in_line;
pub(crate) use repository::definitions::CommitFiles;
pub(crate) use repository::given::{GivenTip, WorkRange};
pub(crate) use repository::landed::landed_ref;
pub use repository::merge::{MergeSpec, Merged};
pub use repository::protected::ProtectedCommit;
pub use repository::remote::{CLONES, Pushed, TRIED_TO_CLONE, TRIED_TO_FETCH};
pub use repository::stack::Stacked;
pub use repository::{BranchMade, Repository};
pub use settle::leftovers::LEFTOVER_BYTES_MAX;
pub use settle::measure::{Excerpt, Measured, Trace};
pub use settle::settlement::{Aside, AsideReason, Settled};
pub use vault::contents::FILE_BYTES_MAX;
pub(crate) use vault::folder::folder_bytes;
pub use vault::ignored::{IGNORED_BYTES_MAX, IGNORED_FILES_MAX, LeftOut};
pub use vault::remove::Retired;
pub use vault::restore::Restored;
pub use vault::retention::{KeptWorktree, ListedWorktree, Pruned, VaultEntry};
pub use vault::snapshot::{Fault, Vaulted};

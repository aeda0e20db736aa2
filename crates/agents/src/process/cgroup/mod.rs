//! A control group (cgroup v2) for each attempt, where the system lets Baton make one. All processes in it share a limit on
//! memory and a weight of the processors, they cannot leave it by forking, and they are killed as one.
//!
//! Groups are made below the one that Baton runs in. A group passes controllers on only if no process is directly in it, so
//! Baton moves into a leaf if nobody else is there. Where a part is refused, the others are used; limits on memory are
//! also enforced by measuring, see `memory`.

mod base;
mod group;
mod membership;

pub(crate) use base::GroupLimits;
pub use base::{Delegation, delegation, enable, prepare};
pub(super) use base::{create, enter, word, words};
pub(super) use group::{kill, memory_bytes, pids, remove};
pub(super) use membership::{GroupId, id_of};

//! Ends every process tree when Baton itself dies, also by SIGKILL.
//!
//! The watchdog is a small process beside Baton: Baton's own program, started in a mode of its own (see [`program`])
//! before the first agent. Baton tells it through a pipe which trees are alive. The system closes the pipe however
//! Baton ends, and the watchdog then ends what is left: TERM, a short grace, KILL. It finds a tree the same way Baton
//! does after a restart ([`super::tree`]), so children that left their process group or lost their parent are found too.
//!
//! The watchdog is neither parent nor relay of an agent: streams, exit codes and signals stay untouched, and a start
//! costs two short writes to the pipe. A watchdog that was killed is replaced at the next start.

mod handle;
mod message;
mod supervisor;

pub use handle::enable;
pub(crate) use handle::{Watch, watch};
pub use supervisor::program;

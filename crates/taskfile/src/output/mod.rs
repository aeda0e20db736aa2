//! Where output goes (the process's streams, memory, a caller's console) and how it is laid out:
//! interleaved, grouped by command, or with the task's prefix on every line.
//!
//! Starting commands belongs to `shell`; which task prints what belongs to `run`.

mod command;
mod console;
mod group;
mod prefixed;
mod sink;

pub(crate) use command::{CommandOutput, OutputMode};
pub(crate) use console::ProcessConsole;
pub use console::{Capture, Console, Stream};
pub(crate) use group::GroupedOutput;
pub(crate) use prefixed::PrefixedOutput;
pub(crate) use sink::{CommandSink, OutputPipe};

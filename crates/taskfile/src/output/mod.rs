//! Where output goes (the process's streams, memory, a caller's console) and how it is laid out:
//! interleaved, grouped by command, or with the task's prefix on every line.
//!
//! Starting commands belongs to `shell`; which task prints what belongs to `run`.

mod command;
mod console;
mod group;
mod prefixed;
mod sink;

pub use command::{CommandOutput, OutputMode};
pub use console::{Capture, Console, ProcessConsole, Stream};
pub use group::GroupedOutput;
pub use prefixed::PrefixedOutput;
pub use sink::{CommandSink, OutputPipe};

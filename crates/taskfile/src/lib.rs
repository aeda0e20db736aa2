//! Taskfile.yml, parsed, listed and run: go-task's Taskfile v3.
//!
//! [`Taskfile::open`] reads a file with everything it includes, [`Taskfile::list`] tells its tasks and
//! [`Taskfile::run`] runs one. [`cli::main`] is go-task's command line. Nothing here is asynchronous:
//! tasks that run at once do so on threads, and a run ends with everything it started when its
//! [`Cancel`] is thrown or its time is over.

pub mod ast;
pub mod cli;
mod compile;
mod escape;
mod fingerprint;
mod listing;
mod load;
mod output;
mod run;
mod shell;
mod suggest;
mod taskfile;
pub mod template;
pub mod value;
mod vars;
pub mod yaml;

pub use listing::Listed;
pub use load::LoadError;
pub use run::{Cause, RunError};
pub use shell::{Cancel, Capture, Console, SelfCall, Stream, split as split_args};
pub use taskfile::{Cache, Call, Io, Outcome, Taskfile};
pub use vars::Environment;

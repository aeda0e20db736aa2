//! Parses, lists and runs Taskfile.yml, compatible with go-task's Taskfile v3.
//!
//! [`Taskfile::open`] reads a file with everything it includes, [`Taskfile::list`] lists its tasks and
//! [`Taskfile::run`] runs one. [`cli::main`] is go-task's command line. Nothing here is asynchronous: concurrent
//! tasks run on threads, and cancelling a run or hitting its timeout ends every process it started.
//!
//! Folders, each using only those after it: `cli`, `listing` and `run`, `compile`, `context`, `fingerprint` and
//! `load`, `template`, `shell`, `output`, `ast`, `yaml`, `go`.

pub mod ast;
pub mod cli;
mod compile;
mod context;
mod fingerprint;
mod go;
mod listing;
mod load;
mod output;
mod run;
mod shell;
mod taskfile;
pub mod template;
pub mod yaml;

pub use context::{TaskEnvironment, TaskRunError, TaskRunErrorKind};
pub use go::{Map, Value};
pub use listing::ListedTask;
pub use load::{LoadError, ProjectTree, read_regular_file};
pub use output::{Capture, Console, Stream};
pub use shell::{CancelToken, TaskShim, split as split_args};
pub use taskfile::{InvocationResult, OutputTarget, TaskInvocation, Taskfile, TaskfileCache};

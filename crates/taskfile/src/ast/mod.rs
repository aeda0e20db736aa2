//! The contents of a Taskfile, decoded from the YAML tree.
//!
//! Nothing is evaluated here: templates are still text. Errors are worded as go-task words them and carry
//! their position; unknown keys are warnings, because go-task ignores them.

mod command;
mod decode;
mod include;
mod iteration;
mod output;
mod parts;
mod platform;
mod suggest;
mod task;
mod taskfile;
mod var;
mod version;
mod wildcard;

pub use command::{Action, Command, Dependency};
pub use decode::{DecodeError, Warning};
pub use include::Include;
pub use iteration::{Iteration, MatrixRow};
pub use output::OutputStyle;
pub use parts::{Allowed, Glob, Precondition, Required};
pub use platform::Platform;
pub use task::{Location, Task};
pub use taskfile::TaskfileAst;
pub use var::{Var, Vars};
pub use version::Version;
pub(crate) use wildcard::match_wildcards;

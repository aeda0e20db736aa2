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

pub use command::{Action, CommandAst, Dependency};
pub use decode::{DecodeError, TaskfileWarning};
pub use include::Include;
pub use iteration::{Iteration, MatrixRow};
pub use output::OutputStyle;
pub use parts::{AllowedValues, Glob, Precondition, RequiredVar};
pub use platform::Platform;
pub use task::{TaskAst, TaskLocation};
pub use taskfile::TaskfileAst;
pub use var::{Var, Vars};
pub use version::SchemaVersion;
pub(crate) use wildcard::match_wildcards;

//! What a Taskfile says, decoded by hand from the YAML tree.
//!
//! Nothing is evaluated here: templates are still text. Mistakes are worded as go-task words them and
//! carry their place; keys nobody knows are warnings, since go-task passes over them.

mod command;
mod decode;
mod duration;
mod include;
mod iteration;
mod output;
mod parts;
mod platform;
mod task;
mod taskfile;
mod var;
mod version;

pub use command::{Action, Command, Dependency};
pub use decode::{DecodeError, Warning};
pub use duration::go_duration;
pub use include::Include;
pub use iteration::{Iteration, MatrixRow};
pub use output::OutputStyle;
pub use parts::{Allowed, Glob, Precondition, Required};
pub use platform::Platform;
pub use task::{Location, Task};
pub use taskfile::TaskfileAst;
pub use var::{Var, Vars};
pub use version::Version;

//! Running tasks.

mod check;
mod command;
mod deps;
mod engine;
mod error;
mod find;
mod once;
mod options;
mod requires;
mod task;
mod variables;

pub use engine::{Engine, Place};
pub use error::{Cause, RunError};
pub use find::Call;
pub use options::Options;

pub(crate) use engine::read_dotenv_file;
pub(crate) use find::stars;

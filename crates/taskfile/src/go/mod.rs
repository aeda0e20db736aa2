//! Go's data and notation: the values a variable can hold, and how Go writes and reads strings, numbers,
//! times, durations and paths. go-task's output follows from these forms.
//!
//! Nothing here knows of YAML, templates or tasks.

pub(crate) mod escape;
pub(crate) mod float;
pub(crate) mod literal;
pub(crate) mod path;
pub(crate) mod time;
mod value;

pub use value::{Map, Value};

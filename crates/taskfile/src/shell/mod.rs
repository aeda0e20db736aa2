//! Running one command, directly when it is only words and in the system's bash otherwise, and the shell's
//! rules for quoting and expanding text.
//!
//! Which command runs when belongs to `run`; where its output goes belongs to `output`.

mod cancel;
mod command_words;
mod data;
mod evaluation;
mod expand;
mod insert;
mod place;
mod process;
mod quote;
mod syntax;
mod task_shim;
mod wait;
mod words;

pub use cancel::CancelToken;
pub(crate) use cancel::{CancelReason, CancelScope};
pub(crate) use data::{DataKind, conceal, conceal_words, has_data, reveal};
pub(crate) use expand::{expand_fields, expand_literal};
pub(crate) use process::{CommandError, CommandRequest, run};
pub(crate) use quote::quote;
pub use quote::split;
pub use task_shim::TaskShim;

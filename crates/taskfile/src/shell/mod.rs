//! Running one command, directly when it is only words and in the system's bash otherwise, and the shell's
//! rules for quoting and expanding text.
//!
//! Which command runs when belongs to `run`; where its output goes belongs to `output`.

mod cancel;
mod expand;
mod process;
mod quote;
mod self_call;
mod syntax;
mod wait;
mod words;

pub use cancel::{Cancel, Ended, Scope};
pub use expand::{expand_fields, expand_literal};
pub use process::{Failure, Request, run};
pub use quote::{quote, split};
pub use self_call::SelfCall;

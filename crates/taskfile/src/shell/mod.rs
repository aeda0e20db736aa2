//! Running a command: directly when it is only words, in the system's bash otherwise.

mod cancel;
mod console;
mod expand;
mod process;
mod quote;
mod self_call;
mod syntax;
mod wait;
mod words;

pub use cancel::{Cancel, Ended, Scope};
pub use console::{Capture, Console, Stream, Terminal};
pub use expand::{expand_fields, expand_literal};
pub use process::{Failure, Request, Sink, run};
pub use quote::{quote, split};
pub use self_call::SelfCall;

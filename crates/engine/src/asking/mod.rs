//! Asking the human: the one door every agent's question comes through, and those who answer in a human's place.
//!
//! Whether a question may be asked, and by whom it may be answered, core decides. Here it is made durable first and
//! only then told to anyone.

mod attendant;
mod door;
mod leave;
mod secret;
pub use attendant::{Attendant, Attended};
pub use door::{Asked, Door, Waited};
pub use leave::Leave;
pub use secret::{BadSecret, Secret};

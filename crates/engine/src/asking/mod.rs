//! Asking the human: the one door every agent's question comes through, and those who answer in a human's place.
//!
//! Whether a question may be asked, and by whom it may be answered, core decides. Here it is made durable first and
//! only then told to anyone.

mod answers;
mod auto_responder;
mod delivery;
mod gateway;
mod host_leave;
mod leave;
pub use answers::Answers;
pub use auto_responder::{Attended, AutoResponder};
pub use delivery::{MessageDelivery, MessageSender, MessageTarget};
pub use gateway::{AgentGateway, Asked, Waited};
pub use host_leave::HostLeave;
pub use leave::Leave;

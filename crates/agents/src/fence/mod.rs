//! The fence around an agent: what it can see, write and reach (I21).
//!
//! A [`FenceRequest`] describes what an attempt needs; [`Fence::build`] makes of it what this machine can do, and a report
//! of what it cannot. On Linux that is bubblewrap with Landlock as a second layer, or Landlock alone; on macOS a Seatbelt
//! profile. `strict` is all or nothing. [`proxy`] lets named hosts through, [`relay`] Baton's own tools.
//!
//! Nothing here starts an agent: `process` does, with the command line that the fence gives it.

pub mod abilities;
mod bubblewrap;
mod built;
mod helper;
pub mod host_pattern;
#[cfg(target_os = "linux")]
mod kernel_rules;
mod layout;
mod places;
pub mod proxy;
pub mod relay;
mod request;
pub mod seatbelt;
mod tools;

pub use built::{FENCED, Fence, FenceError};
pub use helper::{HelperProgram, enable, helper, program};
pub use request::{FencePolicy, FenceRequest, ForwardedPort};

//! Runs background services: in a task of its own each, restarted with back-off, never stopped by an error or a panic.
//!
//! Here is how services run, what they report and how one item's failure stays with that item. What a service does is in
//! the folder that owns it; `services` lists them. Nothing here knows git, agents or settings.

mod error;
mod failpoint;
mod guarded;
mod items;
mod name;
mod registry;
mod service;
mod supervise;
mod wake;

pub use error::ServiceError;
pub use failpoint::FAIL_VARIABLE;
pub use guarded::guarded;
pub use items::{Attempted, Item, Items};
pub use name::{ItemKind, ServiceName};
pub use registry::{Monitor, ServiceReport, ServiceState, Services};
pub use service::{Round, Service};
pub use supervise::{AtEnd, Supervisor};
pub use wake::Wake;

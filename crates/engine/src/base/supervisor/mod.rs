//! Runs background services, each in its own task, restarted with back-off after an error or a panic.
//!
//! Contains how services run, what they report and how failures of single items are isolated. What a service does is in
//! the folder that owns it; `services` starts them. Nothing here depends on git, agents or settings.

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
pub use guarded::catch_panic;
pub use items::{Item, ItemResult, Items};
pub use name::{ItemKind, ServiceName};
pub use registry::{Monitor, ServiceState, ServiceStatus, Services};
pub use service::{Round, Service};
pub use supervise::{AtEnd, Supervisor};
pub use wake::Wake;

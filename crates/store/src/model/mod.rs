//! The values that go into a store and come out of it: requests, answers, filters and pages.
//!
//! No SQL and no backend belongs here, and nothing core already defines.

pub mod claim;
pub mod commit;
pub mod event;
pub mod lease;
pub mod outbox;
pub mod progress;
pub mod query;
pub mod record_kind;

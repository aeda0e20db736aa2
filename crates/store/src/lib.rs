//! The durable store: one trait, two backends (SQLite and PostgreSQL), the same guarantees.
//!
//! The store persists what core decides. It writes a [`Change`](baton_core::records::change::Change) atomically, hands out
//! claims and notifies readers of new events. It makes no decisions: a task's state, the claim order and what counts
//! as done come from core and are stored as columns. This is the only crate that contains SQL.

pub mod backend;
mod call;
mod columns;
pub mod crash_point;
pub mod error;
pub mod external;
pub mod latency;
pub mod model;
pub mod postgres;
pub mod sqlite;
pub mod store;

pub use crate::model::progress::{ProgressListener, ProgressStage};
pub use backend::Backend;
pub use error::StoreError;
pub use postgres::{PostgresOptions, PostgresStore};
pub use sqlite::{SqliteOptions, SqliteStore};
pub use store::Store;

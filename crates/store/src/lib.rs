//! Rows that outlive a crash: one small trait, two backends, the same promises.
//!
//! The store keeps what core made. It writes a [`Change`](baton_core::change::Change) whole or not at all,
//! hands out claims, and tells readers what is new. It decides nothing: which state a task has, who is next
//! and what counts as done are core's words, kept here as columns. This is the only crate that names SQL.

pub mod backend;
mod columns;
pub mod error;
pub mod external;
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

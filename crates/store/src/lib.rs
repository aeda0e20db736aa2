//! Rows that outlive a crash: one small trait, two backends, the same promises.
//!
//! The store keeps what core made. It writes a [`Change`](baton_core::records::change::Change) whole or not at all,
//! hands out claims, and tells readers what is new. It decides nothing: which state a task has, who is next
//! and what counts as done are core's words, kept here as columns. This is the only crate that names SQL.

pub mod any;
pub mod claim;
mod columns;
pub mod commit;
pub mod error;
pub mod foreign;
pub mod lease;
pub mod onlooker;
pub mod outbox;
pub mod postgres;
pub mod query;
pub mod recorded;
pub mod sqlite;
pub mod store;

pub use any::AnyStore;
pub use error::StoreError;
pub use onlooker::{Onlooker, Stage};
pub use postgres::{PostgresOptions, PostgresStore};
pub use sqlite::{SqliteOptions, SqliteStore};
pub use store::Store;

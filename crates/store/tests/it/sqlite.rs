//! The conformance suite on SQLite.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use baton_store::{SqliteOptions, SqliteStore};
use tempfile::TempDir;

use crate::suite::make::START;
use crate::suite::{Fixture, conformance};

/// A directory of its own, and a clock that moves only when told to.
pub(crate) struct Sqlite {
    pub(crate) folder: TempDir,
    pub(crate) clock_ms: Arc<AtomicI64>,
}

impl Sqlite {
    pub(crate) fn new() -> Self {
        Self { folder: TempDir::new().unwrap(), clock_ms: Arc::new(AtomicI64::new(0)) }
    }

    pub(crate) fn path(&self) -> std::path::PathBuf {
        self.folder.path().join("baton.db")
    }

    pub(crate) fn options(&self) -> SqliteOptions {
        let clock_ms = Arc::clone(&self.clock_ms);
        let clock = Arc::new(move || START.plus_ms(clock_ms.load(Ordering::SeqCst)));
        SqliteOptions { clock, ..SqliteOptions::default() }
    }
}

impl Fixture for Sqlite {
    type Store = SqliteStore;

    async fn fresh() -> Self {
        Self::new()
    }

    async fn open(&self) -> SqliteStore {
        SqliteStore::open(&self.path(), self.options()).unwrap()
    }

    async fn advance(&self, ms: i64) {
        self.clock_ms.fetch_add(ms, Ordering::SeqCst);
    }
}

conformance!(Sqlite);

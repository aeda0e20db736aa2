//! The conformance suite on PostgreSQL.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::SystemTime;

use baton_store::{Backend, PostgresOptions, PostgresStore};

use crate::server;
use crate::suite::{self, Fixture, conformance};

/// A namespace of its own on the shared server.
pub(crate) struct Postgres {
    pub(crate) options: PostgresOptions,
}

impl Postgres {
    pub(crate) fn new() -> Self {
        Self { options: PostgresOptions::new(server::shared().unwrap(), fresh_namespace()) }
    }
}

/// Unique, also among earlier runs.
pub(crate) fn fresh_namespace() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let since = SystemTime::UNIX_EPOCH.elapsed().unwrap().as_micros();
    format!("t{since}_{}_{number}", std::process::id())
}

/// Runs a test that needs a server.
pub(crate) fn run(test: impl Future<Output = ()>) {
    suite::run_on::<Postgres>(test);
}

impl Fixture for Postgres {
    type Store = PostgresStore;

    async fn fresh() -> Self {
        Self::new()
    }

    async fn open(&self) -> PostgresStore {
        PostgresStore::open(&self.options).await.unwrap()
    }

    fn missing() -> Option<String> {
        server::missing()
    }

    async fn advance(&self, ms: i64) {
        // The server's clock cannot be moved: ask it until it shows the later time.
        let store = self.open().await;
        let later = store.now().await.unwrap().plus_ms(ms);
        while store.now().await.unwrap() < later {
            tokio::task::yield_now().await;
        }
    }
}

conformance!(Postgres);

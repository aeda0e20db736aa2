//! How a SQLite store is opened.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use baton_core::time::Timestamp;

use crate::model::progress::ProgressListener;

/// Where the store gets its time from.
pub type StoreClock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// How a store is opened. The default is right for everything but tests.
#[derive(Clone)]
pub struct SqliteOptions {
    /// Leases are judged by it.
    pub clock: StoreClock,
    /// The file grows to this many pages of 4 KiB and no further; what does not fit is refused as on a full disk.
    pub pages_max: Option<u32>,
    /// Told while opening it, or copying it, takes long.
    pub progress: ProgressListener,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self { clock: Arc::new(system_clock), pages_max: None, progress: ProgressListener::default() }
    }
}

fn system_clock() -> Timestamp {
    // Before 1970 only on a machine whose clock was never set.
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_ms(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

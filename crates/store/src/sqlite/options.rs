//! Options for opening a SQLite store.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use baton_core::base::time::Timestamp;

use crate::model::progress::ProgressListener;

/// Where the store gets the time.
pub type StoreClock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// The defaults are right for everything but tests.
#[derive(Clone)]
pub struct SqliteOptions {
    /// Leases expire by this clock.
    pub clock: StoreClock,
    /// Limits the file to this many pages of 4 KiB; beyond that, writes fail as on a full disk.
    pub pages_max: Option<u32>,
    /// Called while opening or copying takes long.
    pub progress: ProgressListener,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self { clock: Arc::new(system_clock), pages_max: None, progress: ProgressListener::default() }
    }
}

fn system_clock() -> Timestamp {
    // Earlier than 1970 only if the clock was never set.
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_ms(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

//! The system clock, for what is measured on this machine. Decisions use the store's clock instead.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use baton_agents::driver::RunClock;
use baton_core::base::time::Timestamp;

pub(crate) fn system() -> RunClock {
    Arc::new(|| {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_ms(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    })
}

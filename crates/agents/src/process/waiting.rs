//! Things that are waited for beside everything else.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// Until `span` has passed since `moment`; for ever when there is no span.
pub async fn after(moment: Instant, span: Option<Duration>) {
    match span.and_then(|span| moment.checked_add(span)) {
        Some(end) => sleep_until(end).await,
        None => std::future::pending().await,
    }
}

/// Until somebody cancels.
pub async fn cancelled(cancel: &mut watch::Receiver<bool>) {
    if cancel.wait_for(|is_cancelled| *is_cancelled).await.is_err() {
        // Nobody is left who could cancel.
        std::future::pending::<()>().await;
    }
}

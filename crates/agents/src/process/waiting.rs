//! Deadlines and cancellation, for use in `select!`.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// Waits until `span` after `moment`; forever without a span.
pub(crate) async fn after(moment: Instant, span: Option<Duration>) {
    match span.and_then(|span| moment.checked_add(span)) {
        Some(end) => sleep_until(end).await,
        None => std::future::pending().await,
    }
}

/// Waits for a cancel.
pub(crate) async fn cancelled(cancel: &mut watch::Receiver<bool>) {
    if cancel.wait_for(|is_cancelled| *is_cancelled).await.is_err() {
        // The sender is gone, so no cancel can come.
        std::future::pending::<()>().await;
    }
}

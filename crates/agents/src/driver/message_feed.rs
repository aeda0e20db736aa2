//! Messages of people to an agent at work.

use tokio::sync::watch;

/// Everything said since the run began, oldest first. The feeder appends and never removes; the run remembers how much
/// of it the agent got.
pub type MessageFeed = watch::Receiver<Vec<String>>;

/// A feed without messages.
pub(crate) fn no_messages() -> MessageFeed {
    watch::channel(Vec::new()).1
}

/// What comes after the first `taken` messages. Never returns when nothing more can come. Cancel-safe.
pub(crate) async fn next_messages(feed: &mut MessageFeed, taken: usize) -> Vec<String> {
    if let Ok(all) = feed.wait_for(|all| all.len() > taken).await {
        return all.iter().skip(taken).cloned().collect();
    }
    std::future::pending().await
}

//! The highest event number known to this process, and the commits other processes have not been notified of.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::watch;

/// The payload when work became ready without an event.
pub(crate) const FREED: &str = "freed";

#[derive(Clone)]
pub(crate) struct CommitFeed {
    newest: watch::Sender<u64>,
    /// All listeners were notified up to here.
    announced: Arc<AtomicU64>,
    /// The last commit of this process that did not include its own notification.
    pending: watch::Sender<u64>,
}

impl CommitFeed {
    pub(crate) fn new(seq: u64) -> Self {
        let announced = Arc::new(AtomicU64::new(0));
        Self { newest: watch::Sender::new(seq), announced, pending: watch::Sender::new(0) }
    }

    pub(crate) fn subscribe(&self) -> watch::Receiver<u64> {
        self.newest.subscribe()
    }

    /// Numbers arrive on several paths and out of order; lower ones are ignored.
    pub(crate) fn advance(&self, seq: u64) {
        raise(&self.newest, seq);
    }

    /// A notification was received; it covers every commit before it.
    pub(crate) fn note_announced(&self, seq: u64) {
        self.announced.fetch_max(seq, Ordering::Relaxed);
        self.advance(seq);
    }

    /// This process committed events up to `seq`.
    pub(crate) fn note_commit(&self, seq: u64, is_announced: bool) {
        self.advance(seq);
        if !is_announced {
            raise(&self.pending, seq);
        }
    }

    /// Work may have become ready without an event.
    pub(crate) fn wake(&self) {
        self.newest.send_modify(|_| {});
    }

    /// Changes with every commit that still has to be announced.
    pub(crate) fn subscribe_unannounced(&self) -> watch::Receiver<u64> {
        self.pending.subscribe()
    }

    /// The last commit to announce, unless a later notification has covered it.
    pub(crate) fn unannounced(&self) -> Option<u64> {
        let pending = *self.pending.borrow();
        (pending > self.announced.load(Ordering::Relaxed)).then_some(pending)
    }
}

fn raise(known: &watch::Sender<u64>, seq: u64) {
    known.send_if_modified(|known| {
        let is_news = seq > *known;
        if is_news {
            *known = seq;
        }
        is_news
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_is_unannounced_until_a_later_notification() {
        let feed = CommitFeed::new(3);
        feed.note_commit(4, true);
        assert_eq!(feed.unannounced(), None);
        feed.note_commit(5, false);
        assert_eq!(feed.unannounced(), Some(5));
        feed.note_announced(4);
        assert_eq!(feed.unannounced(), Some(5), "that was before it");
        feed.note_announced(7);
        assert_eq!(feed.unannounced(), None, "a notice counts for all before it");
        assert_eq!(*feed.subscribe().borrow(), 7);
    }
}

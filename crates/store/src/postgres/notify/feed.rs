//! News of commits, by this process or another: the highest event number known here, and what others have yet to hear.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::watch;

/// The payload when work became ready without an event.
pub(crate) const FREED: &str = "freed";

#[derive(Clone)]
pub(crate) struct News {
    newest: watch::Sender<u64>,
    /// Everybody who listens was told of all up to here.
    told: Arc<AtomicU64>,
    /// The last commit of this process that was not told with the commit itself.
    owed: watch::Sender<u64>,
}

impl News {
    pub(crate) fn new(seq: u64) -> Self {
        let told = Arc::new(AtomicU64::new(0));
        Self { newest: watch::Sender::new(seq), told, owed: watch::Sender::new(0) }
    }

    pub(crate) fn subscribe(&self) -> watch::Receiver<u64> {
        self.newest.subscribe()
    }

    /// Numbers come by several ways and out of order; only a higher one is news.
    pub(crate) fn reached(&self, seq: u64) {
        rise(&self.newest, seq);
    }

    /// A notice for all who listen, which counts for every commit before it.
    pub(crate) fn heard(&self, seq: u64) {
        self.told.fetch_max(seq, Ordering::Relaxed);
        self.reached(seq);
    }

    /// This process has written events up to `seq`.
    pub(crate) fn written(&self, seq: u64, is_told: bool) {
        self.reached(seq);
        if !is_told {
            rise(&self.owed, seq);
        }
    }

    /// Something may be claimable that was not, without an event that says so.
    pub(crate) fn stir(&self) {
        self.newest.send_modify(|_| {});
    }

    /// Changes with every commit that is still to be told.
    pub(crate) fn owing(&self) -> watch::Receiver<u64> {
        self.owed.subscribe()
    }

    /// What others have to be told of, unless somebody has done so in the meantime.
    pub(crate) fn owed(&self) -> Option<u64> {
        let owed = *self.owed.borrow();
        (owed > self.told.load(Ordering::Relaxed)).then_some(owed)
    }
}

fn rise(known: &watch::Sender<u64>, seq: u64) {
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
    fn what_was_not_told_is_owed_until_a_later_notice_is_heard() {
        let news = News::new(3);
        news.written(4, true);
        assert_eq!(news.owed(), None);
        news.written(5, false);
        assert_eq!(news.owed(), Some(5));
        news.heard(4);
        assert_eq!(news.owed(), Some(5), "that was before it");
        news.heard(7);
        assert_eq!(news.owed(), None, "a notice counts for all before it");
        assert_eq!(*news.subscribe().borrow(), 7);
    }
}

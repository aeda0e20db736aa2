//! News of commits, by this process or another: the highest event number known here.

use tokio::sync::watch;

#[derive(Clone)]
pub(super) struct News(watch::Sender<u64>);

impl News {
    pub(super) fn new(seq: u64) -> Self {
        Self(watch::Sender::new(seq))
    }

    pub(super) fn subscribe(&self) -> watch::Receiver<u64> {
        self.0.subscribe()
    }

    /// Numbers come by several ways and out of order; only a higher one is news.
    pub(super) fn reached(&self, seq: u64) {
        self.0.send_if_modified(|known| {
            let is_news = seq > *known;
            if is_news {
                *known = seq;
            }
            is_news
        });
    }

    /// Something may be claimable that was not, without an event that says so.
    pub(super) fn stir(&self) {
        self.0.send_modify(|_| {});
    }
}

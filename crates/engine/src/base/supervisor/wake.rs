//! What wakes a service: signals and a period, limited by a minimum pause.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

trait Signal: Send {
    /// Ignores changes so far.
    fn arm(&mut self);
    /// Waits for the next change. Never returns after the sender is gone.
    fn changed(&mut self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;
}

impl<T: Send + Sync> Signal for watch::Receiver<T> {
    fn arm(&mut self) {
        self.mark_unchanged();
    }

    fn changed(&mut self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async {
            if watch::Receiver::changed(self).await.is_err() {
                std::future::pending::<()>().await;
            }
        })
    }
}

/// When a service runs its next round: when one of its signals changes, or after its period.
pub struct Wake {
    period: Duration,
    signals: Vec<Box<dyn Signal>>,
}

impl Wake {
    pub fn every(period: Duration) -> Self {
        Self { period, signals: Vec::new() }
    }

    #[must_use]
    pub fn on<T: Send + Sync + 'static>(mut self, signal: watch::Receiver<T>) -> Self {
        self.signals.push(Box::new(signal));
        self
    }

    pub(super) const fn period(&self) -> Duration {
        self.period
    }

    /// Called before a round: changes from then on end the next wait.
    pub(super) fn arm(&mut self) {
        for signal in &mut self.signals {
            signal.arm();
        }
    }

    /// Waits for a signal, the period or `again_at`, but at least until `not_before`.
    pub(super) async fn wait(&mut self, again_at: Option<Instant>, not_before: Option<Instant>) {
        let latest = Instant::now() + self.period;
        let latest = again_at.map_or(latest, |at| at.min(latest));
        let mut waits: Vec<_> = self.signals.iter_mut().map(|signal| signal.changed()).collect();
        let any = poll_fn(|context| {
            if waits.iter_mut().any(|wait| wait.as_mut().poll(context).is_ready()) {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        });
        tokio::select! {
            () = any => {}
            () = sleep_until(latest) => {}
        }
        if let Some(at) = not_before {
            sleep_until(at).await;
        }
    }
}

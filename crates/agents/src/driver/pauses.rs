//! Times in which an agent's processes are stopped because the machine has no room. They count against no limit.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Pause {
    from: Instant,
    /// None while it lasts.
    to: Option<Instant>,
}

/// Pauses one attempt. Dropped, nothing pauses it any more.
#[derive(Debug, Default)]
pub struct PauseSwitch(watch::Sender<Vec<Pause>>);

/// What a run sees of it.
#[derive(Debug, Clone)]
pub struct Pauses(watch::Receiver<Vec<Pause>>);

impl PauseSwitch {
    /// False if it is paused already.
    pub fn pause(&self) -> bool {
        self.0.send_if_modified(|all| {
            let is_new = all.last().is_none_or(|last| last.to.is_some());
            if is_new {
                all.push(Pause { from: Instant::now(), to: None });
            }
            is_new
        })
    }

    /// False if it is not paused.
    pub fn resume(&self) -> bool {
        self.0.send_if_modified(|all| match all.last_mut().filter(|last| last.to.is_none()) {
            Some(last) => {
                last.to = Some(Instant::now());
                true
            }
            None => false,
        })
    }

    pub fn is_paused(&self) -> bool {
        self.0.borrow().last().is_some_and(|last| last.to.is_none())
    }

    pub fn watch(&self) -> Pauses {
        Pauses(self.0.subscribe())
    }
}

impl Pauses {
    /// For a run that nobody pauses.
    pub fn never() -> Self {
        PauseSwitch::default().watch()
    }

    /// Returns when `limit` of time has passed since then in which the agent could work; never without a limit.
    pub(crate) async fn worked(&self, since: Instant, limit: Option<Duration>) {
        let Some(limit) = limit else { return std::future::pending().await };
        let mut pauses = self.0.clone();
        loop {
            let (lost, is_paused) = lost_since(since, &pauses.borrow_and_update());
            let deadline = since.checked_add(limit).and_then(|at| at.checked_add(lost));
            let changed = async {
                if pauses.changed().await.is_err() {
                    std::future::pending::<()>().await;
                }
            };
            tokio::select! {
                () = changed => {}
                () = over(deadline), if !is_paused => return,
            }
        }
    }
}

async fn over(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        // Further away than the clock counts.
        None => std::future::pending().await,
    }
}

/// The time lost to pauses that are over, and whether one lasts.
fn lost_since(since: Instant, pauses: &[Pause]) -> (Duration, bool) {
    let lost =
        pauses.iter().filter_map(|pause| Some(pause.to?.saturating_duration_since(pause.from.max(since))));
    (lost.sum(), pauses.last().is_some_and(|last| last.to.is_none()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn time_in_a_pause_does_not_count() {
        let switch = PauseSwitch::default();
        let (pauses, started) = (switch.watch(), Instant::now());
        let limit = Some(Duration::from_secs(10));
        tokio::time::advance(Duration::from_secs(4)).await;
        assert!(switch.pause() && !switch.pause() && switch.is_paused());
        tokio::select! {
            () = pauses.worked(started, limit) => panic!("it is paused"),
            () = tokio::time::sleep(Duration::from_mins(1)) => {}
        }
        assert!(switch.resume() && !switch.resume());
        pauses.worked(started, limit).await;
        assert_eq!(started.elapsed(), Duration::from_secs(70));
        // What began after the pause has lost nothing.
        let later = Instant::now();
        pauses.worked(later, limit).await;
        assert_eq!(later.elapsed(), Duration::from_secs(10));
    }
}

//! The supervisor: runs each service in a task of its own until the end is called.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tracing::{Instrument, debug_span};

use super::error::ServiceError;
use super::failpoint;
use super::guarded::guarded;
use super::name::ServiceName;
use super::registry::{Monitor, ServiceState, Services};
use super::service::{Round, Service};
use super::wake::Wake;
use crate::base::announce::Announce;

/// The pause after a first failure; it doubles with each one after that.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// And grows up to the service's period, or to this.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// A service that wakes more often than this still pauses this long when it keeps failing.
const SHORTEST_LONG_PAUSE: Duration = Duration::from_secs(1);

/// What happens to a service when the end is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtEnd {
    /// It runs one more round, for what others left.
    LastRound,
    /// A round under way is dropped after this long.
    Cancel(Duration),
}

/// Dropped, it takes all its services with it.
pub struct Supervisor {
    services: Services,
    announce: Announce,
    end: watch::Receiver<bool>,
    running: JoinSet<()>,
}

impl Supervisor {
    /// Its services end when `end` turns true.
    pub fn new(services: Services, announce: Announce, end: watch::Receiver<bool>) -> Self {
        Self { services, announce, end, running: JoinSet::new() }
    }

    /// Starts a service. `make` makes an instance, now and after every failure.
    pub fn start<S, F>(&mut self, name: ServiceName, wake: Wake, at_end: AtEnd, make: F)
    where
        S: Service + 'static,
        F: Fn() -> S + Send + 'static,
    {
        let monitor = self.services.monitor(name);
        let supervised =
            Supervised { monitor, announce: Arc::clone(&self.announce), at_end, end: self.end.clone() };
        self.running.spawn(supervised.run(wake, make));
    }

    /// Waits until the end was called and every service has come to its own.
    pub async fn join(mut self) {
        // A supervised task itself neither fails nor panics; if one did, the others still end in order.
        while self.running.join_next().await.is_some() {}
    }
}

struct Supervised {
    monitor: Monitor,
    announce: Announce,
    at_end: AtEnd,
    end: watch::Receiver<bool>,
}

impl Supervised {
    async fn run<S: Service>(mut self, mut wake: Wake, make: impl Fn() -> S + Send) {
        let longest = wake.period().clamp(SHORTEST_LONG_PAUSE, LONGEST_PAUSE);
        let mut service = make();
        let mut failures = 0;
        loop {
            // Whoever could call the end is gone: that is one.
            let is_last = *self.end.borrow_and_update() || self.end.has_changed().is_err();
            if is_last && self.at_end != AtEnd::LastRound {
                break;
            }
            wake.arm();
            let outcome = self.round(&mut service).await;
            let Some(outcome) = outcome else { break };
            let failed = match &outcome {
                Ok(round) => {
                    failures = 0;
                    self.note_success(round);
                    None
                }
                Err(error) => {
                    failures += 1;
                    self.note_failure(error);
                    service = make();
                    Some(pause_after(failures, longest))
                }
            };
            if is_last {
                break;
            }
            // The round may have seen the end already; waiting for it to change again would wait in vain.
            if *self.end.borrow() {
                continue;
            }
            let waiting = async {
                match (failed, outcome) {
                    (Some(pause), _) => sleep(pause).await,
                    (None, Ok(round)) => wake.wait(round.again_at, round.not_before).await,
                    (None, Err(_)) => {}
                }
            };
            tokio::select! {
                () = waiting => {}
                _ = self.end.changed() => {}
            }
        }
        if let Err(error) = guarded(service.close()).await {
            tracing::warn!(service = %self.monitor.name(), %error, "service did not end cleanly");
        }
    }

    /// One round; none when the end cut it off.
    async fn round<S: Service>(&mut self, service: &mut S) -> Option<Result<Round, ServiceError>> {
        let name = self.monitor.name();
        let round = guarded(async {
            failpoint::service(name)?;
            service.run_once().await
        })
        .instrument(debug_span!("round", service = %name));
        let AtEnd::Cancel(grace) = self.at_end else { return Some(round.await) };
        let mut round = std::pin::pin!(round);
        let ended = async { drop(self.end.wait_for(|end| *end).await) };
        tokio::select! {
            done = &mut round => return Some(done),
            () = ended => {}
        }
        timeout(grace, round).await.ok()
    }

    fn note_success(&self, round: &Round) {
        let name = self.monitor.name();
        tracing::trace!(service = %name, done = round.items_done, failed = round.items_failed, "round");
        if self.monitor.succeeded(round) == ServiceState::Failing {
            (self.announce)(&format!("Service {name} works again."));
        }
    }

    fn note_failure(&self, error: &ServiceError) {
        let name = self.monitor.name();
        let (before, after) = self.monitor.failed(error);
        if before != ServiceState::Failing && after == ServiceState::Failing {
            (self.announce)(&format!("Service {name} is failing: {error}. It is retried; see baton doctor."));
        }
    }
}

fn pause_after(failures: u32, longest: Duration) -> Duration {
    FIRST_PAUSE.saturating_mul(1 << failures.saturating_sub(1).min(16)).min(longest)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    struct Flaky {
        rounds: Arc<AtomicU32>,
        made: u32,
    }

    impl Service for Flaky {
        async fn run_once(&mut self) -> Result<Round, ServiceError> {
            match self.rounds.fetch_add(1, Ordering::SeqCst) {
                0 => Err(ServiceError::new("broken pipe")),
                1 => panic!("out of bounds"),
                _ if self.made < 3 => Err(ServiceError::new("the same instance was used again")),
                _ => Ok(Round::default()),
            }
        }
    }

    #[tokio::test]
    async fn i23_a_service_survives_its_errors_and_panics_with_a_fresh_instance() {
        let (end, ending) = watch::channel(false);
        let services = Services::default();
        let mut supervisor = Supervisor::new(services.clone(), Arc::new(|_: &str| {}), ending);
        let (rounds, count) = (Arc::new(AtomicU32::new(0)), AtomicU32::new(0));
        let make = move || {
            let made = count.fetch_add(1, Ordering::SeqCst) + 1;
            Flaky { rounds: Arc::clone(&rounds), made }
        };
        let wake = Wake::every(Duration::from_secs(5));
        supervisor.start(ServiceName::Outbox, wake, AtEnd::LastRound, make);
        let mut changes = services.changes();
        loop {
            let report = services.snapshot().remove(0);
            if report.state == ServiceState::Running && report.rounds == 3 {
                assert_eq!(
                    (report.restarts, report.last_error.as_deref()),
                    (2, Some("panicked: out of bounds"))
                );
                break;
            }
            changes.changed().await.unwrap();
        }
        end.send(true).unwrap();
        supervisor.join().await;
    }

    /// Its round ends in the moment the end is called.
    struct EndsWithTheEnd(watch::Receiver<bool>);

    impl Service for EndsWithTheEnd {
        async fn run_once(&mut self) -> Result<Round, ServiceError> {
            let _ = self.0.wait_for(|end| *end).await;
            Ok(Round::default())
        }
    }

    #[tokio::test]
    async fn a_round_that_ends_with_the_end_is_the_last_one() {
        let (end, ending) = watch::channel(false);
        for at_end in [AtEnd::Cancel(Duration::from_mins(1)), AtEnd::LastRound] {
            end.send_replace(false);
            let mut supervisor = Supervisor::new(Services::default(), Arc::new(|_: &str| {}), ending.clone());
            let own = ending.clone();
            let wake = Wake::every(Duration::from_hours(24));
            supervisor.start(ServiceName::Pruner, wake, at_end, move || EndsWithTheEnd(own.clone()));
            tokio::task::yield_now().await;
            end.send_replace(true);
            supervisor.join().await;
        }
    }

    #[test]
    fn pauses_double_up_to_a_limit() {
        let pauses: Vec<u128> =
            (1..=8).map(|failures| pause_after(failures, Duration::from_secs(5)).as_millis()).collect();
        assert_eq!(pauses, [100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
    }
}

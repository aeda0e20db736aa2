//! The supervisor: runs each service in its own task until shutdown.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tracing::{Instrument, debug_span};

use super::error::ServiceError;
use super::failpoint;
use super::guarded::catch_panic;
use super::name::ServiceName;
use super::registry::{Monitor, ServiceState, Services};
use super::service::{Round, Service};
use super::wake::Wake;
use crate::base::announce::Announce;

/// The pause after a first failure; doubled after each further one.
const PAUSE_MIN: Duration = Duration::from_millis(100);
/// The pause grows to the service's period, or to this.
const PAUSE_MAX: Duration = Duration::from_secs(30);
/// The longest pause of a service with a shorter period.
const PAUSE_MAX_MIN: Duration = Duration::from_secs(1);

/// What happens to a service at shutdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtEnd {
    /// It runs one more round, for what other services left.
    LastRound,
    /// A running round is dropped after this time.
    Cancel(Duration),
}

/// Aborts its services when dropped.
pub struct Supervisor {
    services: Services,
    announce: Announce,
    end: watch::Receiver<bool>,
    running: JoinSet<()>,
}

impl Supervisor {
    /// The services shut down when `end` becomes true.
    pub fn new(services: Services, announce: Announce, end: watch::Receiver<bool>) -> Self {
        Self { services, announce, end, running: JoinSet::new() }
    }

    /// Starts a service. `make` creates an instance, now and after every failure.
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

    /// Waits for shutdown and for every service to end.
    pub async fn join(mut self) {
        // Supervised tasks do not panic; if one did, the others would still be joined.
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
        let longest = wake.period().clamp(PAUSE_MAX_MIN, PAUSE_MAX);
        let mut service = make();
        let mut failures = 0;
        loop {
            // A dropped sender counts as shutdown.
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
                    self.record_success(round);
                    None
                }
                Err(error) => {
                    failures += 1;
                    self.record_failure(error);
                    service = make();
                    Some(pause_after(failures, longest))
                }
            };
            if is_last {
                break;
            }
            // The round may have consumed the change; waiting for another would wait forever.
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
        if let Err(error) = catch_panic(service.close()).await {
            tracing::warn!(service = %self.monitor.name(), %error, "service did not shut down cleanly");
        }
    }

    /// Runs one round. None if shutdown interrupted it.
    async fn round<S: Service>(&mut self, service: &mut S) -> Option<Result<Round, ServiceError>> {
        let name = self.monitor.name();
        let round = catch_panic(async {
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

    fn record_success(&self, round: &Round) {
        let name = self.monitor.name();
        tracing::trace!(service = %name, done = round.items_done, failed = round.items_failed, "round");
        if self.monitor.succeeded(round) == ServiceState::Failing {
            (self.announce)(&format!("Service {name} works again."));
        }
    }

    fn record_failure(&self, error: &ServiceError) {
        let name = self.monitor.name();
        let (before, after) = self.monitor.failed(error);
        if before != ServiceState::Failing && after == ServiceState::Failing {
            (self.announce)(&format!("Service {name} is failing: {error}. It is retried; see baton doctor."));
        }
    }
}

fn pause_after(failures: u32, longest: Duration) -> Duration {
    PAUSE_MIN.saturating_mul(1 << failures.saturating_sub(1).min(16)).min(longest)
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
    async fn i23_a_service_survives_errors_and_panics_with_a_new_instance() {
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

    /// Its round ends at shutdown.
    struct EndsAtShutdown(watch::Receiver<bool>);

    impl Service for EndsAtShutdown {
        async fn run_once(&mut self) -> Result<Round, ServiceError> {
            let _ = self.0.wait_for(|end| *end).await;
            Ok(Round::default())
        }
    }

    #[tokio::test]
    async fn a_round_ending_during_shutdown_is_the_last_one() {
        let (end, ending) = watch::channel(false);
        for at_end in [AtEnd::Cancel(Duration::from_mins(1)), AtEnd::LastRound] {
            end.send_replace(false);
            let mut supervisor = Supervisor::new(Services::default(), Arc::new(|_: &str| {}), ending.clone());
            let own = ending.clone();
            let wake = Wake::every(Duration::from_hours(24));
            supervisor.start(ServiceName::Pruner, wake, at_end, move || EndsAtShutdown(own.clone()));
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

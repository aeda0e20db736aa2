//! The rescuer: renews the leases of what lives, and takes back what does not.
//!
//! Renewing always comes before judging, so that a laptop that slept does not lose its work to itself.

use std::time::Duration;

use baton_core::actor::Actor;
use baton_core::command::Command;
use baton_store::model::lease::Lease;

use crate::desk::Desk;
use crate::error::EngineError;
use crate::running::Running;

/// Expired leases taken back in one round; more come in the next.
const RESCUED_MAX: u32 = 100;

pub struct Rescuer {
    desk: Desk,
    running: Running,
    worker: String,
    lease_ms: i64,
}

impl Rescuer {
    pub fn new(desk: Desk, running: Running, worker: String, lease_ms: i64) -> Self {
        Self { desk, running, worker, lease_ms }
    }

    /// Often enough that two rounds may fail before a lease runs out.
    pub fn period(&self) -> Duration {
        Duration::from_millis(u64::try_from(self.lease_ms / 3).unwrap_or(1_000).max(100))
    }

    /// One round. Returns the leases that were taken back, whoever had them.
    pub async fn run_once(&self) -> Result<Vec<Lease>, EngineError> {
        self.renew().await?;
        let expired = self.desk.store.expired_leases(RESCUED_MAX).await?;
        let alive = self.running.ids();
        let lost: Vec<Lease> = expired.into_iter().filter(|lease| !alive.contains(&lease.attempt)).collect();
        self.take_back(&lost).await
    }

    /// After a start: whatever this worker held before it died is not running any more, whatever its lease says.
    pub async fn take_back_own(&self) -> Result<Vec<Lease>, EngineError> {
        let alive = self.running.ids();
        let mine = |lease: &Lease| lease.worker == self.worker && !alive.contains(&lease.attempt);
        let lost: Vec<Lease> = self.desk.store.leases().await?.into_iter().filter(mine).collect();
        self.take_back(&lost).await
    }

    /// Renews what runs here. An attempt whose lease somebody else took is stopped: its result would not count.
    async fn renew(&self) -> Result<(), EngineError> {
        let alive = self.running.ids();
        if alive.is_empty() {
            return Ok(());
        }
        for lost in self.desk.store.renew(&self.worker, &alive, self.lease_ms).await? {
            self.running.stop(lost);
        }
        Ok(())
    }

    async fn take_back(&self, lost: &[Lease]) -> Result<Vec<Lease>, EngineError> {
        let mut taken = Vec::new();
        for lease in lost {
            let expire = Command::ExpireLease { attempt: lease.attempt };
            match self.desk.apply(lease.task, expire, Actor::Baton).await {
                Ok(_) => taken.push(lease.clone()),
                // It ended by itself in the meantime.
                Err(EngineError::Refused(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(taken)
    }
}

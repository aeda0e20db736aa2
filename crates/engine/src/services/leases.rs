//! Renews the leases of attempts that run here, and takes back expired leases.
//!
//! Renews before it looks for expired leases, so that a laptop that slept keeps its own work.

use std::time::Duration;

use baton_core::people::actor::Actor;
use baton_core::transition::command::Command;
use baton_core::transition::refusal::CommandRefusal;
use baton_store::model::lease::Lease;

use crate::base::supervisor::{Item, ItemKind, Items, Round, Service, ServiceError, ServiceName};
use crate::cluster::running::Running;
use crate::services::recovery::end_orphans_of;
use crate::services::workspace::Workspace;
use crate::tasks::service::TaskService;

/// Expired leases taken back in one round.
const RESCUED_MAX: u32 = 100;

pub struct LeaseKeeper {
    tasks: TaskService,
    running: Running,
    worker: String,
    lease_ms: i64,
    items: Items,
}

impl LeaseKeeper {
    pub fn new(tasks: TaskService, running: Running, worker: String, lease_ms: i64, items: Items) -> Self {
        Self { tasks, running, worker, lease_ms, items }
    }

    pub(super) fn of(workspace: &Workspace) -> Self {
        let items = workspace.items(ServiceName::Leases);
        let (tasks, running) = (workspace.tasks.clone(), workspace.running.clone());
        Self::new(tasks, running, workspace.node.name.clone(), workspace.settings.lease_ms(), items)
    }

    /// Two rounds may fail before a lease expires.
    pub fn period(lease_ms: i64) -> Duration {
        Duration::from_millis(u64::try_from(lease_ms / 3).unwrap_or(1_000).max(100))
    }

    /// One round. Returns the leases that were taken back, from any worker.
    pub async fn run_once(&self) -> Result<Vec<Lease>, ServiceError> {
        self.renew().await?;
        let expired = self.tasks.store.expired_leases(RESCUED_MAX).await?;
        let alive = self.running.ids();
        let lost: Vec<Lease> = expired.into_iter().filter(|lease| !alive.contains(&lease.attempt)).collect();
        self.take_back(&lost).await
    }

    /// After a start: takes back the leases of this worker's previous process, expired or not.
    pub async fn take_back_own(&self) -> Result<Vec<Lease>, ServiceError> {
        let alive = self.running.ids();
        let mine = |lease: &Lease| lease.worker == self.worker && !alive.contains(&lease.attempt);
        let lost: Vec<Lease> = self.tasks.store.leases().await?.into_iter().filter(mine).collect();
        self.take_back(&lost).await
    }

    /// Renews the leases of attempts that run here. Stops an attempt whose lease was lost, because its result is discarded.
    async fn renew(&self) -> Result<(), ServiceError> {
        let alive = self.running.ids();
        if alive.is_empty() {
            return Ok(());
        }
        for lost in self.tasks.store.renew(&self.worker, &alive, self.lease_ms).await? {
            self.running.stop(lost);
        }
        Ok(())
    }

    async fn take_back(&self, lost: &[Lease]) -> Result<Vec<Lease>, ServiceError> {
        let mut taken = Vec::new();
        for lease in lost {
            let item = Item::new(ItemKind::Lease, &lease.attempt).for_task(lease.task);
            let expired = async {
                let expire = Command::ExpireLease { attempt: lease.attempt };
                match self.tasks.apply(lease.task, expire, Actor::Baton).await {
                    Ok(_) => Ok(true),
                    // It ended in the meantime.
                    Err(error) if error.is::<CommandRefusal>() => Ok(false),
                    Err(error) => Err(error),
                }
            };
            if self.items.attempt(&item, expired).await?.done() == Some(true) {
                taken.push(lease.clone());
            }
        }
        Ok(taken)
    }
}

/// The service. Also ends the processes of lost attempts.
pub(super) struct LeaseService {
    workspace: Workspace,
    keeper: LeaseKeeper,
}

impl LeaseService {
    pub(super) fn new(workspace: Workspace) -> Self {
        Self { keeper: LeaseKeeper::of(&workspace), workspace }
    }
}

impl Service for LeaseService {
    async fn run_once(&mut self) -> Result<Round, ServiceError> {
        for Lease { attempt, worker, .. } in self.keeper.run_once().await? {
            // Other machines end their own processes.
            if worker == self.workspace.node.name {
                end_orphans_of(&self.workspace, attempt).await;
            }
            (self.workspace.announce)(&format!("The lease of {attempt} expired, and the attempt is over"));
        }
        Ok(self.keeper.items.end_round())
    }
}

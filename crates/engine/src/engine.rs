//! Everything that runs while `baton up` does: the dispatcher, and the services around it.

use std::fs;
use std::mem;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use baton_agents::identity::ProcessIdentity;
use baton_agents::tree::end_orphans;
use baton_core::attempt_record::Closing;
use baton_core::id::AttemptId;
use baton_store::model::lease::Lease;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until};

use crate::courier::Courier;
use crate::desk::Desk;
use crate::dispatcher::Dispatcher;
use crate::error::EngineError;
use crate::heartbeat::Heartbeat;
use crate::log_relay::LogRelay;
use crate::looping::Conductor;
use crate::place::Place;
use crate::post::worker_name;
use crate::pruner::Pruner;
use crate::recycler::Recycler;
use crate::rescuer::Rescuer;
use crate::runner::PROCESS_FILE;
use crate::settings::{RecyclePolicy, Settings};
use crate::stewardship::Stewardship;
use crate::stocker::Stocker;
use crate::workshop::{Say, Workshop};
use crate::worktree::Git;

/// Between TERM and KILL for what an earlier run left behind.
const ORPHAN_GRACE: Duration = Duration::from_secs(2);
/// The services' own safety net; a change wakes them at once.
const SWEEP: Duration = Duration::from_secs(5);

/// Whoever is not the steward looks into the outbox no more often than this, however much happens on other machines. What
/// is there for it is to stop an agent, or to clear up after one.
const OUTBOX_PAUSE: Duration = Duration::from_millis(500);

/// After a day a worker that took no leave is taken off the list.
const WORKER_GONE_MS: i64 = 24 * 3_600_000;

pub struct Engine {
    pub shop: Workshop,
}

impl Engine {
    pub async fn new(
        desk: Desk,
        settings: Settings,
        place: Place,
        program: PathBuf,
        say: Say,
    ) -> Result<Self, EngineError> {
        let worker = worker_name(&place)?;
        let shop = Workshop::new(desk, settings, place, program, say);
        Ok(Self { shop: Workshop { git: Git::find().await?, worker, ..shop } })
    }

    /// Finds what an earlier run left, then works until `shutdown` turns true.
    pub async fn run(&self, shutdown: watch::Receiver<bool>) -> Result<(), EngineError> {
        let (_never, hurry) = watch::channel(false);
        Box::pin(self.run_until(shutdown, hurry)).await
    }

    /// The same; once it is to end, it waits for its agents only until `hurry` turns true.
    pub async fn run_until(
        &self,
        shutdown: watch::Receiver<bool>,
        hurry: watch::Receiver<bool>,
    ) -> Result<(), EngineError> {
        self.recover().await?;
        let mut dispatcher = Dispatcher::new(self.shop.clone());
        let (done, services_end) = watch::channel(false);
        let heartbeat = Heartbeat::new(self.shop.clone());
        let beating = heartbeat.run(shutdown.clone(), services_end.clone());
        let working = async {
            let worked = dispatcher.run(shutdown, hurry).await;
            // The services outlive the runners, so that what these leave is still seen to.
            let _ = done.send(true);
            worked
        };
        let (worked, rescued, served, beaten, (), (), (), ()) = tokio::join!(
            working,
            self.keep_leases(services_end.clone()),
            self.serve(services_end.clone()),
            beating,
            self.prune(services_end.clone()),
            self.hand_in_rest(services_end.clone()),
            self.relay_logs(services_end.clone()),
            self.stock(services_end)
        );
        worked.and(rescued).and(served).and(beaten)
    }

    /// After a crash: processes of dead attempts are ended, what they did is kept where others find it, and their tasks
    /// go back to the queue.
    pub async fn recover(&self) -> Result<Vec<AttemptId>, EngineError> {
        let mine = |lease: &Lease| lease.worker == self.shop.worker;
        let leases: Vec<Lease> = self.shop.desk.store.leases().await?.into_iter().filter(mine).collect();
        let left = self.left_processes();
        for attempt in leases.iter().map(|lease| lease.attempt).chain(left) {
            self.end_orphans_of(attempt).await;
        }
        for lease in &leases {
            let task = self.shop.desk.task(lease.task).await?.value;
            self.shop.hand_over(&task, lease.attempt).await;
        }
        self.keep_what_was_lost().await;
        for hold in self.shop.desk.holds().await? {
            let until =
                hold.until.map_or_else(|| "somebody releases it".to_owned(), |until| until.to_string());
            (self.shop.say)(&format!("agent {} still rests until {until}: {}", hold.agent, hold.reason));
        }
        let taken = self.rescuer().take_back_own().await?;
        for Lease { attempt, .. } in &taken {
            (self.shop.say)(&format!("{attempt} was lost with the last run; its task is in the queue again"));
        }
        Ok(taken.into_iter().map(|lease| lease.attempt).collect())
    }

    /// Attempts whose agents an earlier run started here and did not see end, whoever has their tasks now.
    fn left_processes(&self) -> Vec<AttemptId> {
        let entries = fs::read_dir(self.shop.attempts_folder()).into_iter().flatten().flatten();
        let left = entries.filter(|entry| entry.path().join(PROCESS_FILE).exists());
        left.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
    }

    /// Attempts that other machines took back while this one was away: what they had leaves this machine too.
    async fn keep_what_was_lost(&self) {
        if !self.shop.place.store.is_shared() {
            return;
        }
        let entries = fs::read_dir(self.shop.attempts_folder()).into_iter().flatten().flatten();
        let attempts: Vec<AttemptId> =
            entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
        for attempt in attempts {
            if let Err(error) = self.keep_if_lost(attempt).await {
                (self.shop.say)(&format!("{attempt}: what it had stays on this machine for now: {error}"));
            }
        }
    }

    async fn keep_if_lost(&self, attempt: AttemptId) -> Result<(), EngineError> {
        let Some(record) = self.shop.desk.store.attempt(attempt).await? else { return Ok(()) };
        let is_lost = matches!(record.closing, Some(Closing::Lost { .. }));
        if is_lost {
            let task = self.shop.desk.task(record.task_id).await?.value;
            self.shop.hand_over(&task, attempt).await;
        }
        Ok(())
    }

    /// Pushes what could not be pushed when it was made, until it has arrived.
    async fn hand_in_rest(&self, mut end: watch::Receiver<bool>) {
        while !*end.borrow() {
            tokio::select! {
                // What went wrong is told where it went wrong first; here it is only tried again.
                _ = self.shop.push_unarrived() => {}
                _ = end.changed() => return,
            }
            tokio::select! {
                () = sleep(SWEEP) => {}
                _ = end.changed() => {}
            }
        }
    }

    async fn end_orphans_of(&self, attempt: AttemptId) {
        let file = self.shop.attempt_folder(attempt).join(PROCESS_FILE);
        let identity: Option<ProcessIdentity> =
            fs::read_to_string(&file).ok().and_then(|text| serde_json::from_str(&text).ok());
        match end_orphans(attempt, identity.as_ref(), ORPHAN_GRACE).await {
            Ok(()) => {
                // It is not there when the attempt never got as far.
                let _ = fs::remove_file(&file);
            }
            Err(leftover) => (self.shop.say)(&format!("{attempt}: {leftover}")),
        }
    }

    fn rescuer(&self) -> Rescuer {
        let lease_ms = self.shop.settings.lease_ms();
        Rescuer::new(self.shop.desk.clone(), self.shop.running.clone(), self.shop.worker.clone(), lease_ms)
    }

    async fn keep_leases(&self, mut end: watch::Receiver<bool>) -> Result<(), EngineError> {
        let rescuer = self.rescuer();
        while !*end.borrow() {
            let lost = tokio::select! {
                lost = rescuer.run_once() => lost?,
                // Where the store is away there is nothing to wait for at the end.
                _ = end.changed() => return Ok(()),
            };
            for Lease { attempt, worker, .. } in lost {
                // What another machine started is ended there.
                if worker == self.shop.worker {
                    self.end_orphans_of(attempt).await;
                }
                (self.shop.say)(&format!("{attempt} gave no sign of life; its task is in the queue again"));
            }
            tokio::select! {
                () = sleep(rescuer.period()) => {}
                _ = end.changed() => {}
            }
        }
        Ok(())
    }

    /// A worktree made ahead of time whenever one was taken. Without one an agent only starts later.
    async fn stock(&self, mut end: watch::Receiver<bool>) {
        let mut stocker = Stocker::new(self.shop.clone());
        let mut changes = self.shop.desk.store.subscribe();
        let mut told = None;
        stocker.begin().await;
        while !*end.borrow() {
            changes.mark_unchanged();
            // Ended in the middle it leaves half a worktree, which the next one clears.
            let made = tokio::select! {
                made = stocker.run_once() => made,
                _ = end.changed() => return,
            };
            // The same trouble is told once.
            if let Err(error) = made
                && told.as_ref() != Some(&error.to_string())
            {
                (self.shop.say)(&format!("No worktree could be made ahead of time: {error}"));
                told = Some(error.to_string());
            }
            tokio::select! {
                _ = changes.changed() => {}
                () = sleep(SWEEP) => {}
                _ = end.changed() => {}
            }
        }
    }

    /// Logs that are here, for those who watch them elsewhere.
    async fn relay_logs(&self, end: watch::Receiver<bool>) {
        if let Some(relay) = LogRelay::new(self.shop.clone()) {
            relay.run(end).await;
        }
    }

    /// Rounds of the pruner. What it could not do is told and tried again; nothing depends on it.
    async fn prune(&self, mut end: watch::Receiver<bool>) {
        let pruner = Pruner::new(self.shop.clone());
        while !*end.borrow() {
            // Ended in the middle it leaves everything whole, as after a crash.
            tokio::select! {
                swept = pruner.run_once(SystemTime::now()) => match swept {
                    Ok(swept) if swept.is_empty() => {}
                    Ok(swept) => (self.shop.say)(&swept.to_string()),
                    Err(error) => (self.shop.say)(&format!("Nothing could be pruned: {error}")),
                },
                _ = end.changed() => return,
            }
            tokio::select! {
                () = sleep(Pruner::PERIOD) => {}
                _ = end.changed() => {}
            }
        }
    }

    /// A machine that has not been heard of for a day is not listed any more; it joins again by itself.
    async fn forget_gone_workers(&self) -> Result<(), EngineError> {
        let store = &self.shop.desk.store;
        let now = store.now().await?;
        for seen in store.workers().await? {
            if now.ms().saturating_sub(seen.seen_at.ms()) > WORKER_GONE_MS {
                store.forget_worker(&seen.worker.name).await?;
            }
        }
        Ok(())
    }

    /// The courier and the recycler, woken by every change; and runs whose task ended without them end too.
    async fn serve(&self, mut end: watch::Receiver<bool>) -> Result<(), EngineError> {
        let mut stewardship = Stewardship::new(self.shop.clone());
        let mut courier = Courier::new(self.shop.clone(), false);
        let recycler = Recycler::new(self.shop.desk.clone());
        let conductor = Conductor::new(self.shop.clone());
        let mut changes = self.shop.desk.store.subscribe();
        loop {
            changes.mark_unchanged();
            let is_steward = stewardship.is_held().await?;
            if courier.is_outdated(is_steward) {
                let next = Courier::new(self.shop.clone(), is_steward);
                mem::replace(&mut courier, next).finish().await?;
                courier.begin().await?;
                if is_steward {
                    self.forget_gone_workers().await?;
                }
            }
            courier.run_once().await?;
            if is_steward {
                self.shop.desk.end_runs_without_work().await?;
                conductor.run_once().await?;
                if self.shop.settings.recycle == RecyclePolicy::Automatic {
                    for task in recycler.run_once().await? {
                        (self.shop.say)(&format!("{task} was too large; see baton task show {task}"));
                    }
                }
            }
            // Once more after the end was called, for what the last runners left.
            if *end.borrow() {
                courier.finish().await?;
                return stewardship.hand_over().await;
            }
            let not_before = Instant::now() + if is_steward { Duration::ZERO } else { OUTBOX_PAUSE };
            tokio::select! {
                _ = changes.changed() => {}
                idled = courier.idle() => idled?,
                () = sleep(SWEEP) => {}
                _ = end.changed() => {}
            }
            tokio::select! {
                () = sleep_until(not_before) => {}
                _ = end.changed() => {}
            }
        }
    }
}

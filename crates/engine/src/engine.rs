//! Everything that runs while `baton up` does: the dispatcher, and the services around it.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use baton_agents::identity::ProcessIdentity;
use baton_agents::tree::end_orphans;
use baton_core::id::AttemptId;
use baton_store::Store;
use tokio::sync::watch;
use tokio::time::sleep;

use crate::courier::Courier;
use crate::desk::Desk;
use crate::dispatcher::Dispatcher;
use crate::error::EngineError;
use crate::log_relay::LogRelay;
use crate::looping::Conductor;
use crate::place::Place;
use crate::pruner::Pruner;
use crate::recycler::Recycler;
use crate::rescuer::Rescuer;
use crate::runner::PROCESS_FILE;
use crate::settings::{RecyclePolicy, Settings};
use crate::stocker::Stocker;
use crate::workshop::{Say, Workshop};
use crate::worktree::Git;

/// Between TERM and KILL for what an earlier run left behind.
const ORPHAN_GRACE: Duration = Duration::from_secs(2);
/// The services' own safety net; a change wakes them at once.
const SWEEP: Duration = Duration::from_secs(5);

pub struct Engine<S> {
    pub shop: Workshop<S>,
}

impl<S: Store> Engine<S> {
    pub async fn new(
        desk: Desk<S>,
        settings: Settings,
        place: Place,
        program: PathBuf,
        say: Say,
    ) -> Result<Self, EngineError> {
        let shop = Workshop::new(desk, settings, place, program, say);
        Ok(Self { shop: Workshop { git: Git::find().await?, ..shop } })
    }

    /// Finds what an earlier run left, then works until `shutdown` turns true.
    pub async fn run(&self, shutdown: watch::Receiver<bool>) -> Result<(), EngineError> {
        self.recover().await?;
        let dispatcher = Dispatcher::new(self.shop.clone());
        let (done, services_end) = watch::channel(false);
        let working = async {
            let worked = dispatcher.run(shutdown).await;
            // The services outlive the runners, so that what these leave is still seen to.
            let _ = done.send(true);
            worked
        };
        let (worked, rescued, served, (), (), ()) = tokio::join!(
            working,
            self.keep_leases(services_end.clone()),
            self.serve(services_end.clone()),
            self.prune(services_end.clone()),
            self.relay_logs(services_end.clone()),
            self.stock(services_end)
        );
        worked.and(rescued).and(served)
    }

    /// After a crash: processes of dead attempts are ended, then their tasks go back to the queue.
    pub async fn recover(&self) -> Result<Vec<AttemptId>, EngineError> {
        for lease in self.shop.desk.store.leases().await? {
            if lease.worker == self.shop.worker {
                self.end_orphans_of(lease.attempt).await;
            }
        }
        for hold in self.shop.desk.holds().await? {
            let until =
                hold.until.map_or_else(|| "somebody releases it".to_owned(), |until| until.to_string());
            (self.shop.say)(&format!("agent {} still rests until {until}: {}", hold.agent, hold.reason));
        }
        let taken = self.rescuer().take_back_own().await?;
        for attempt in &taken {
            (self.shop.say)(&format!("{attempt} was lost with the last run; its task is in the queue again"));
        }
        Ok(taken)
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

    fn rescuer(&self) -> Rescuer<S> {
        let lease_ms = self.shop.settings.lease_ms();
        Rescuer::new(self.shop.desk.clone(), self.shop.running.clone(), self.shop.worker.clone(), lease_ms)
    }

    async fn keep_leases(&self, mut end: watch::Receiver<bool>) -> Result<(), EngineError> {
        let rescuer = self.rescuer();
        while !*end.borrow() {
            for attempt in rescuer.run_once().await? {
                self.end_orphans_of(attempt).await;
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
                () = sleep(Pruner::<S>::PERIOD) => {}
                _ = end.changed() => {}
            }
        }
    }

    /// The courier and the recycler, woken by every change; and runs whose task ended without them end too.
    async fn serve(&self, mut end: watch::Receiver<bool>) -> Result<(), EngineError> {
        let mut courier = Courier::new(self.shop.clone());
        let recycler = Recycler::new(self.shop.desk.clone());
        courier.begin().await?;
        let conductor = Conductor::new(self.shop.clone());
        let mut changes = self.shop.desk.store.subscribe();
        loop {
            changes.mark_unchanged();
            courier.run_once().await?;
            self.shop.desk.end_runs_without_work().await?;
            conductor.run_once().await?;
            if self.shop.settings.recycle == RecyclePolicy::Automatic {
                for task in recycler.run_once().await? {
                    (self.shop.say)(&format!("{task} was too large; see baton task show {task}"));
                }
            }
            // Once more after the end was called, for what the last runners left.
            if *end.borrow() {
                return Ok(());
            }
            tokio::select! {
                _ = changes.changed() => {}
                idled = courier.idle() => idled?,
                () = sleep(SWEEP) => {}
                _ = end.changed() => {}
            }
        }
    }
}

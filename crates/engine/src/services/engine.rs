//! Everything that runs while `baton up` does: the dispatcher, and the services around it.

use std::path::PathBuf;
use std::time::Duration;

use baton_core::base::id::AttemptId;
use tokio::sync::watch;

use super::auto_responder::QuestionService;
use super::changes::{ChangeRouter, Topics};
use super::leases::{LeaseKeeper, LeaseService};
use super::notices::NoticeService;
use super::notifier::Notifier;
use super::outbox::OutboxWorker;
use super::pruner::Pruner;
use super::push::PushService;
use super::queues::Queues;
use super::recovery::recover;
use super::recycler::RecycleService;
use super::runs::RunCleanup;
use super::timers::TimerService;
use super::worktree_pool::WorktreePool;
use crate::base::error::EngineError;
use crate::cluster::heartbeat::{Heartbeat, LAST_BEAT};
use crate::cluster::leader::{LeaderElection, Leadership};
use crate::cluster::log_relay::{self, LogRelay};
use crate::cluster::node::worker_name;
use crate::dispatch::dispatcher::{self, Dispatcher, LAST_CLAIM};
use crate::dispatch::runners::Runners;
use crate::git::Git;
use crate::loops::LoopDriver;
use crate::settings::Settings;
use crate::settings::place::Place;
use crate::supervisor::{AtEnd, ServiceName, Supervisor, Wake};
use crate::tasks::service::TaskService;
use crate::workshop::{Say, Workshop};

/// The services' own safety net; a change wakes them at once.
const SWEEP: Duration = Duration::from_secs(5);
/// A round that leaves nothing half done may be dropped at any moment.
const AT_ONCE: AtEnd = AtEnd::Cancel(Duration::ZERO);

pub struct Engine {
    pub shop: Workshop,
}

impl Engine {
    pub async fn new(
        tasks: TaskService,
        settings: Settings,
        place: Place,
        program: PathBuf,
        say: Say,
    ) -> Result<Self, EngineError> {
        let worker = worker_name(&place)?;
        let shop = Workshop::new(tasks, settings, place, program, say);
        Ok(Self { shop: Workshop { git: Git::find().await?, worker, ..shop } })
    }

    /// Finds what an earlier run left, then works until `shutdown` turns true.
    pub async fn run(&self, shutdown: watch::Receiver<bool>) -> Result<(), EngineError> {
        let (_never, hurry) = watch::channel(false);
        Box::pin(self.run_until(shutdown, hurry)).await
    }

    /// The same; once it is to end, it waits for its agents only until `hurry` turns true.
    ///
    /// Services end in stages, each after what it works for: the dispatcher, then the attempts, then what looks after
    /// attempts and tasks, then their effects, and the lead last.
    pub async fn run_until(
        &self,
        shutdown: watch::Receiver<bool>,
        hurry: watch::Receiver<bool>,
    ) -> Result<(), EngineError> {
        Box::pin(self.recover()).await?;
        let shop = &self.shop;
        let runners = Runners::default();
        let dispatching = self.start_dispatcher(&runners, shutdown.clone());
        let stages = self.start_services(&shutdown);
        dispatching.join().await;
        runners.drain(shop, hurry).await;
        for stage in stages {
            stage.end().await;
        }
        Ok(())
    }

    /// Takes back what an earlier run left. Returns the attempts.
    pub async fn recover(&self) -> Result<Vec<AttemptId>, EngineError> {
        Box::pin(recover(&self.shop)).await
    }

    fn start_dispatcher(&self, runners: &Runners, shutdown: watch::Receiver<bool>) -> Supervisor {
        let shop = self.shop.clone();
        let mut supervisor = Supervisor::new(shop.services.clone(), shop.say.clone(), shutdown);
        let wake = Wake::every(dispatcher::SWEEP).on(shop.tasks.store.subscribe()).on(shop.running.ends());
        let runners = runners.clone();
        let make = move || Dispatcher::new(shop.clone(), runners.clone());
        supervisor.start(ServiceName::Dispatcher, wake, AtEnd::Cancel(LAST_CLAIM), make);
        supervisor
    }

    /// All others, in the order they end.
    fn start_services(&self, draining: &watch::Receiver<bool>) -> Vec<Stage> {
        let leadership = Leadership::new(&self.shop);
        let queues = Queues::default();
        vec![
            self.start_keepers(&leadership),
            self.start_outbox(&leadership, &queues),
            self.start_responders(&leadership, &queues),
            self.start_notifier(&leadership, &queues),
            self.start_cluster(&leadership, draining),
        ]
    }

    /// What looks after attempts, tasks, loops and what is kept on this machine.
    fn start_keepers(&self, leadership: &Leadership) -> Stage {
        let mut stage = Stage::new(&self.shop);
        let (store, topics) = (&self.shop.tasks.store, Topics::default());
        let swept = || Wake::every(SWEEP);
        let woken_by = |topic: &watch::Sender<u64>| swept().on(topic.subscribe()).on(leadership.changes());

        let shop = self.shop.clone();
        let period = LeaseKeeper::period(shop.settings.lease_ms());
        let make = move || LeaseService::new(shop.clone());
        stage.start(ServiceName::Leases, Wake::every(period), AT_ONCE, make);

        let (shop, lead) = (self.shop.clone(), leadership.clone());
        let make = move || LoopDriver::new(shop.clone(), lead.clone());
        stage.start(ServiceName::Loops, woken_by(&topics.loops), AtEnd::LastRound, make);

        let (shop, lead) = (self.shop.clone(), leadership.clone());
        let make = move || RunCleanup::new(&shop, lead.clone());
        stage.start(ServiceName::Runs, woken_by(&topics.runs), AtEnd::LastRound, make);

        let (shop, lead) = (self.shop.clone(), leadership.clone());
        let make = move || RecycleService::new(shop.clone(), lead.clone());
        stage.start(ServiceName::Recycler, woken_by(&topics.provisional), AtEnd::LastRound, make);

        // Ended in the middle it leaves half a worktree, which the next one clears.
        let shop = self.shop.clone();
        let make = move || WorktreePool::new(shop.clone());
        stage.start(ServiceName::WorktreePool, swept().on(topics.claims.subscribe()), AT_ONCE, make);

        let shop = self.shop.clone();
        let make = move || PushService::new(shop.clone());
        stage.start(ServiceName::Push, swept(), AT_ONCE, make);

        // Ended in the middle it leaves everything whole, as after a crash.
        let shop = self.shop.clone();
        let make = move || Pruner::new(shop.clone());
        stage.start(ServiceName::Pruner, Wake::every(Pruner::PERIOD), AT_ONCE, make);

        let wake = Wake::every(SWEEP).on(store.subscribe());
        let store = store.clone();
        let make = move || ChangeRouter::new(store.clone(), topics.clone());
        stage.start(ServiceName::Changes, wake, AT_ONCE, make);
        stage
    }

    fn start_outbox(&self, leadership: &Leadership, queues: &Queues) -> Stage {
        let mut stage = Stage::new(&self.shop);
        let (shop, lead, queues) = (self.shop.clone(), leadership.clone(), queues.clone());
        let has_notifier = self.notifier().is_set();
        let wake =
            Wake::every(SWEEP).on(shop.tasks.store.subscribe()).on(shop.running.ends()).on(lead.changes());
        let make = move || OutboxWorker::new(shop.clone(), lead.clone(), queues.clone(), has_notifier);
        stage.start(ServiceName::Outbox, wake, AtEnd::LastRound, make);
        stage
    }

    /// What the outbox hands timers and questions to.
    fn start_responders(&self, leadership: &Leadership, queues: &Queues) -> Stage {
        let mut stage = Stage::new(&self.shop);
        let (shop, lead, timers) = (self.shop.clone(), leadership.clone(), queues.timers.clone());
        let wake = Wake::every(SWEEP).on(timers.signal()).on(lead.changes());
        let make = move || TimerService::new(&shop, lead.clone(), timers.clone());
        stage.start(ServiceName::Timers, wake, AtEnd::LastRound, make);

        let (shop, lead, queues) = (self.shop.clone(), leadership.clone(), queues.clone());
        let wake = Wake::every(SWEEP).on(queues.questions.signal()).on(lead.changes());
        let make = move || QuestionService::new(&shop, lead.clone(), queues.clone());
        stage.start(ServiceName::AutoResponder, wake, AtEnd::LastRound, make);
        stage
    }

    fn start_notifier(&self, leadership: &Leadership, queues: &Queues) -> Stage {
        let mut stage = Stage::new(&self.shop);
        let (shop, lead, queues) = (self.shop.clone(), leadership.clone(), queues.clone());
        let notifier = self.notifier();
        let wake = Wake::every(SWEEP).on(queues.notices.signal()).on(lead.changes());
        let make = move || NoticeService::new(shop.clone(), lead.clone(), queues.clone(), notifier.clone());
        stage.start(ServiceName::Notifier, wake, AtEnd::LastRound, make);
        stage
    }

    /// What a process that shares its store owes the others.
    fn start_cluster(&self, leadership: &Leadership, draining: &watch::Receiver<bool>) -> Stage {
        let mut stage = Stage::new(&self.shop);
        if !self.shop.place.store.is_shared() {
            return stage;
        }
        let (shop, drain) = (self.shop.clone(), draining.clone());
        let wake = Wake::every(Heartbeat::PERIOD).on(draining.clone());
        let make = move || Heartbeat::new(shop.clone(), drain.clone());
        stage.start(ServiceName::Heartbeat, wake, AtEnd::Cancel(LAST_BEAT), make);
        if LeaderElection::is_candidate(&self.shop) {
            let (shop, lead) = (self.shop.clone(), leadership.clone());
            let make = move || LeaderElection::new(shop.clone(), lead.clone());
            stage.start(ServiceName::Leader, Wake::every(LeaderElection::PERIOD), AT_ONCE, make);
        }
        if let Some(relay) = LogRelay::new(self.shop.clone()) {
            let wake = Wake::every(log_relay::SWEEP).on(relay.watched());
            stage.start(ServiceName::LogRelay, wake, AT_ONCE, move || relay.fresh());
        }
        stage
    }

    fn notifier(&self) -> Notifier {
        let notify = &self.shop.settings.notify;
        let (root, program) = (self.shop.place.root.clone(), self.shop.program.clone());
        Notifier::new(notify.command.clone(), notify.webhook.clone(), root, program)
    }
}

/// Services that end together.
struct Stage {
    end: watch::Sender<bool>,
    supervisor: Supervisor,
}

impl Stage {
    fn new(shop: &Workshop) -> Self {
        let (end, ending) = watch::channel(false);
        Self { end, supervisor: Supervisor::new(shop.services.clone(), shop.say.clone(), ending) }
    }

    fn start<S, F>(&mut self, name: ServiceName, wake: Wake, at_end: AtEnd, make: F)
    where
        S: crate::supervisor::Service + 'static,
        F: Fn() -> S + Send + 'static,
    {
        self.supervisor.start(name, wake, at_end, make);
    }

    async fn end(self) {
        // Nobody listens where no service was started.
        let _ = self.end.send(true);
        self.supervisor.join().await;
    }
}

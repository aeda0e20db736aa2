//! Everything that runs while `baton up` does: the dispatcher, and the services around it.

use std::path::PathBuf;
use std::time::Duration;

use baton_core::base::id::AttemptId;
use tokio::sync::watch;

use crate::base::announce::Announce;
use crate::base::error::EngineError;
use crate::base::supervisor::{AtEnd, ServiceName, Supervisor, Wake};
use crate::cluster::leader::{LeaderElection, Leadership};
use crate::cluster::log_relay::{self, LogRelay};
use crate::cluster::node::{Node, worker_name};
use crate::dispatch::dispatcher::{self, Dispatcher, LAST_CLAIM};
use crate::dispatch::runners::Runners;
use crate::git::Git;
use crate::runs::loops::LoopDriver;
use crate::services::auto_responder::QuestionService;
use crate::services::changes::{ChangeRouter, Topics};
use crate::services::heartbeat::{Heartbeat, LAST_BEAT};
use crate::services::leases::{LeaseKeeper, LeaseService};
use crate::services::notices::NoticeService;
use crate::services::notifier::Notifier;
use crate::services::outbox::OutboxWorker;
use crate::services::pruner::Pruner;
use crate::services::push::PushService;
use crate::services::queues::Queues;
use crate::services::recovery::recover;
use crate::services::recycler::RecycleService;
use crate::services::runs::RunCleanup;
use crate::services::timers::TimerService;
use crate::services::workspace::Workspace;
use crate::services::worktree_pool::WorktreePool;
use crate::settings::Settings;
use crate::settings::place::Place;
use crate::tasks::service::TaskService;

/// The services' own safety net; a change wakes them at once.
const SWEEP: Duration = Duration::from_secs(5);
/// A round that leaves nothing half done may be dropped at any moment.
const AT_ONCE: AtEnd = AtEnd::Cancel(Duration::ZERO);

pub struct Engine {
    pub workspace: Workspace,
}

impl Engine {
    pub async fn new(
        tasks: TaskService,
        settings: Settings,
        place: Place,
        program: PathBuf,
        announce: Announce,
    ) -> Result<Self, EngineError> {
        let node = Node { name: worker_name(&place)?, ..Node::new(&place) };
        Self::of_node(tasks, settings, place, node, program, announce).await
    }

    /// The same for a node that was described by the command line.
    pub async fn of_node(
        tasks: TaskService,
        settings: Settings,
        place: Place,
        node: Node,
        program: PathBuf,
        announce: Announce,
    ) -> Result<Self, EngineError> {
        let mut workspace = Workspace::new(tasks, settings, place, node, program, announce);
        workspace.projects.git = Git::find().await?;
        Ok(Self { workspace })
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
        let workspace = &self.workspace;
        let runners = Runners::default();
        let dispatching = self.start_dispatcher(&runners, shutdown.clone());
        let stages = self.start_services(&shutdown);
        dispatching.join().await;
        runners.drain(&workspace.running, workspace.node.grace, hurry).await;
        for stage in stages {
            stage.end().await;
        }
        Ok(())
    }

    /// Takes back what an earlier run left. Returns the attempts.
    pub async fn recover(&self) -> Result<Vec<AttemptId>, EngineError> {
        Box::pin(recover(&self.workspace)).await
    }

    fn start_dispatcher(&self, runners: &Runners, shutdown: watch::Receiver<bool>) -> Supervisor {
        let workspace = self.workspace.clone();
        let mut supervisor =
            Supervisor::new(workspace.services.clone(), workspace.announce.clone(), shutdown);
        let wake =
            Wake::every(dispatcher::SWEEP).on(workspace.tasks.store.subscribe()).on(workspace.running.ends());
        let runners = runners.clone();
        let (context, node) = (workspace.attempt_context(), workspace.node.clone());
        let items = workspace.items(ServiceName::Dispatcher);
        let make = move || Dispatcher::new(context.clone(), node.clone(), items.clone(), runners.clone());
        supervisor.start(ServiceName::Dispatcher, wake, AtEnd::Cancel(LAST_CLAIM), make);
        supervisor
    }

    /// All others, in the order they end.
    fn start_services(&self, draining: &watch::Receiver<bool>) -> Vec<Stage> {
        let leadership = Leadership::new(&self.workspace.node);
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
        let mut stage = Stage::new(&self.workspace);
        let (store, topics) = (&self.workspace.tasks.store, Topics::default());
        let swept = || Wake::every(SWEEP);
        let woken_by = |topic: &watch::Sender<u64>| swept().on(topic.subscribe()).on(leadership.changes());

        let workspace = self.workspace.clone();
        let period = LeaseKeeper::period(workspace.settings.lease_ms());
        let make = move || LeaseService::new(workspace.clone());
        stage.start(ServiceName::Leases, Wake::every(period), AT_ONCE, make);

        let (workspace, lead) = (self.workspace.clone(), leadership.clone());
        let make = move || {
            let (items, announce) = (workspace.items(ServiceName::Loops), workspace.announce.clone());
            LoopDriver::new(workspace.tasks.clone(), workspace.acceptor(), lead.clone(), items, announce)
        };
        stage.start(ServiceName::Loops, woken_by(&topics.loops), AtEnd::LastRound, make);

        let (workspace, lead) = (self.workspace.clone(), leadership.clone());
        let make = move || RunCleanup::new(&workspace, lead.clone());
        stage.start(ServiceName::Runs, woken_by(&topics.runs), AtEnd::LastRound, make);

        let (workspace, lead) = (self.workspace.clone(), leadership.clone());
        let make = move || RecycleService::new(workspace.clone(), lead.clone());
        stage.start(ServiceName::Recycler, woken_by(&topics.provisional), AtEnd::LastRound, make);

        // Ended in the middle it leaves half a worktree, which the next one clears.
        let workspace = self.workspace.clone();
        let make = move || WorktreePool::new(workspace.clone());
        stage.start(ServiceName::WorktreePool, swept().on(topics.claims.subscribe()), AT_ONCE, make);

        let workspace = self.workspace.clone();
        let make = move || PushService::new(workspace.clone());
        stage.start(ServiceName::Push, swept(), AT_ONCE, make);

        // Ended in the middle it leaves everything whole, as after a crash.
        let workspace = self.workspace.clone();
        let make = move || Pruner::new(workspace.clone());
        stage.start(ServiceName::Pruner, Wake::every(Pruner::PERIOD), AT_ONCE, make);

        let wake = Wake::every(SWEEP).on(store.subscribe());
        let store = store.clone();
        let make = move || ChangeRouter::new(store.clone(), topics.clone());
        stage.start(ServiceName::Changes, wake, AT_ONCE, make);
        stage
    }

    fn start_outbox(&self, leadership: &Leadership, queues: &Queues) -> Stage {
        let mut stage = Stage::new(&self.workspace);
        let (workspace, lead, queues) = (self.workspace.clone(), leadership.clone(), queues.clone());
        let has_notifier = self.notifier().is_set();
        let wake = Wake::every(SWEEP)
            .on(workspace.tasks.store.subscribe())
            .on(workspace.running.ends())
            .on(lead.changes());
        let make = move || OutboxWorker::new(workspace.clone(), lead.clone(), queues.clone(), has_notifier);
        stage.start(ServiceName::Outbox, wake, AtEnd::LastRound, make);
        stage
    }

    /// What the outbox hands timers and questions to.
    fn start_responders(&self, leadership: &Leadership, queues: &Queues) -> Stage {
        let mut stage = Stage::new(&self.workspace);
        let (workspace, lead, timers) = (self.workspace.clone(), leadership.clone(), queues.timers.clone());
        let wake = Wake::every(SWEEP).on(timers.signal()).on(lead.changes());
        let make = move || TimerService::new(&workspace, lead.clone(), timers.clone());
        stage.start(ServiceName::Timers, wake, AtEnd::LastRound, make);

        let (workspace, lead, queues) = (self.workspace.clone(), leadership.clone(), queues.clone());
        let wake = Wake::every(SWEEP).on(queues.questions.signal()).on(lead.changes());
        let make = move || QuestionService::new(&workspace, lead.clone(), queues.clone());
        stage.start(ServiceName::AutoResponder, wake, AtEnd::LastRound, make);
        stage
    }

    fn start_notifier(&self, leadership: &Leadership, queues: &Queues) -> Stage {
        let mut stage = Stage::new(&self.workspace);
        let (workspace, lead, queues) = (self.workspace.clone(), leadership.clone(), queues.clone());
        let notifier = self.notifier();
        let wake = Wake::every(SWEEP).on(queues.notices.signal()).on(lead.changes());
        let make =
            move || NoticeService::new(workspace.clone(), lead.clone(), queues.clone(), notifier.clone());
        stage.start(ServiceName::Notifier, wake, AtEnd::LastRound, make);
        stage
    }

    /// What a process that shares its store owes the others.
    fn start_cluster(&self, leadership: &Leadership, draining: &watch::Receiver<bool>) -> Stage {
        let mut stage = Stage::new(&self.workspace);
        if !self.workspace.place.store.is_shared() {
            return stage;
        }
        let (workspace, drain) = (self.workspace.clone(), draining.clone());
        let wake = Wake::every(Heartbeat::PERIOD).on(draining.clone());
        let make = move || Heartbeat::new(workspace.clone(), drain.clone());
        stage.start(ServiceName::Heartbeat, wake, AtEnd::Cancel(LAST_BEAT), make);
        if LeaderElection::is_candidate(&self.workspace.node) {
            let (workspace, lead) = (self.workspace.clone(), leadership.clone());
            let make = move || {
                LeaderElection::new(workspace.tasks.store.clone(), workspace.node.clone(), lead.clone())
            };
            stage.start(ServiceName::Leader, Wake::every(LeaderElection::PERIOD), AT_ONCE, make);
        }
        if let Some(relay) = self.log_relay() {
            let wake = Wake::every(log_relay::SWEEP).on(relay.watched());
            stage.start(ServiceName::LogRelay, wake, AT_ONCE, move || relay.fresh());
        }
        stage
    }

    /// None where there is only one machine.
    fn log_relay(&self) -> Option<LogRelay> {
        let Workspace { tasks, node, place, .. } = &self.workspace;
        LogRelay::new(&tasks.store, node, place.clone(), self.workspace.items(ServiceName::LogRelay))
    }

    fn notifier(&self) -> Notifier {
        let notify = &self.workspace.settings.notify;
        let (root, program) = (self.workspace.place.root.clone(), self.workspace.agents.program.clone());
        Notifier::new(notify.command.clone(), notify.webhook.clone(), root, program)
    }
}

/// Services that end together.
struct Stage {
    end: watch::Sender<bool>,
    supervisor: Supervisor,
}

impl Stage {
    fn new(workspace: &Workspace) -> Self {
        let (end, ending) = watch::channel(false);
        Self {
            end,
            supervisor: Supervisor::new(workspace.services.clone(), workspace.announce.clone(), ending),
        }
    }

    fn start<S, F>(&mut self, name: ServiceName, wake: Wake, at_end: AtEnd, make: F)
    where
        S: crate::base::supervisor::Service + 'static,
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

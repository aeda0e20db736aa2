//! The engine of `baton up` and `baton worker`: the dispatcher and all services.

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
use crate::services::landing::LandingService;
use crate::services::leases::{LeaseKeeper, LeaseService};
use crate::services::notices::NoticeService;
use crate::services::notifier::Notifier;
use crate::services::outbox::OutboxWorker;
use crate::services::pruner::Pruner;
use crate::services::push::PushService;
use crate::services::queues::Queues;
use crate::services::recovery::recover;
use crate::services::recycler::RecycleService;
use crate::services::remover::WorktreeRemover;
use crate::services::room::RoomKeeper;
use crate::services::routines::RoutineService;
use crate::services::runs::RunCleanup;
use crate::services::timers::TimerService;
use crate::services::workspace::Workspace;
use crate::services::worktree_pool::WorktreePool;
use crate::settings::Settings;
use crate::settings::location::StateLocation;
use crate::tasks::service::TaskService;

/// The period of services that are normally woken by a change.
const SWEEP: Duration = Duration::from_secs(5);
/// For services whose rounds can be dropped at any time.
const AT_ONCE: AtEnd = AtEnd::Cancel(Duration::ZERO);
/// A worktree that is being removed at shutdown has this long; most are small.
const LAST_REMOVAL: Duration = Duration::from_secs(2);

pub struct Engine {
    pub workspace: Workspace,
}

impl Engine {
    pub async fn new(
        tasks: TaskService,
        settings: Settings,
        place: StateLocation,
        program: PathBuf,
        announce: Announce,
    ) -> Result<Self, EngineError> {
        let node = Node { name: worker_name(&place)?, ..Node::new(&place) };
        let mut workspace = Workspace::new(tasks, settings, place, node, program, announce);
        workspace.projects.git = Git::find().await?;
        Ok(Self { workspace })
    }

    /// Recovers from an earlier run, then runs until `shutdown` becomes true.
    pub async fn run(&self, shutdown: watch::Receiver<bool>) -> Result<(), EngineError> {
        let (_never, hurry) = watch::channel(false);
        Box::pin(self.run_until(shutdown, hurry)).await
    }

    /// As [`run`](Self::run); at shutdown it waits for its agents only until `hurry` becomes true.
    ///
    /// Services shut down in stages, so that each outlives the services that need it: the dispatcher, the attempts, the
    /// services for attempts and tasks, their effects, and leader election last.
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

    /// Takes back the attempts of an earlier run.
    pub async fn recover(&self) -> Result<Vec<AttemptId>, EngineError> {
        Box::pin(recover(&self.workspace)).await
    }

    fn start_dispatcher(&self, runners: &Runners, shutdown: watch::Receiver<bool>) -> Supervisor {
        let workspace = self.workspace.clone();
        let mut supervisor =
            Supervisor::new(workspace.services.clone(), workspace.announce.clone(), shutdown);
        let wake = Wake::every(dispatcher::SWEEP)
            .on(workspace.tasks.store.subscribe())
            .on(workspace.running.ends())
            .on(workspace.projects.setups.ends());
        let runners = runners.clone();
        let (context, node) = (workspace.attempt_context(), workspace.node.clone());
        let (scheduling, items) = (workspace.scheduling(), workspace.items(ServiceName::Dispatcher));
        let make = move || {
            Dispatcher::new(context.clone(), scheduling.clone(), node.clone(), items.clone(), runners.clone())
        };
        supervisor.start(ServiceName::Dispatcher, wake, AtEnd::Cancel(LAST_CLAIM), make);
        supervisor
    }

    /// All other services, in the order of their shutdown.
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

    /// The services for attempts, tasks, loops and local files.
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

        let (workspace, lead) = (self.workspace.clone(), leadership.clone());
        let make = move || RoutineService::new(workspace.clone(), lead.clone());
        stage.start(ServiceName::Routines, woken_by(&topics.routines), AtEnd::LastRound, make);

        // What it leaves behind when it is interrupted is found again: lanes, verdicts and branches.
        let (workspace, lead) = (self.workspace.clone(), leadership.clone());
        let ended = watch::Sender::new(0);
        let wake = woken_by(&topics.lanes).on(topics.provisional.subscribe()).on(ended.subscribe());
        let wake = wake.on(self.workspace.landing.looks());
        let make = move || LandingService::new(workspace.clone(), lead.clone(), ended.clone());
        stage.start(ServiceName::Landing, wake, AT_ONCE, make);

        // If interrupted, it leaves an incomplete worktree, which the next start removes.
        let workspace = self.workspace.clone();
        let make = move || WorktreePool::new(workspace.clone());
        stage.start(ServiceName::WorktreePool, swept().on(topics.claims.subscribe()), AT_ONCE, make);

        let workspace = self.workspace.clone();
        let make = move || PushService::new(workspace.clone());
        stage.start(ServiceName::Push, swept(), AT_ONCE, make);

        let workspace = self.workspace.clone();
        let make = move || RoomKeeper::new(workspace.clone());
        stage.start(ServiceName::Room, Wake::every(RoomKeeper::PERIOD), AT_ONCE, make);

        // Safe to interrupt, as by a crash.
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

    /// The services to which the outbox passes timers and questions.
    fn start_responders(&self, leadership: &Leadership, queues: &Queues) -> Stage {
        let mut stage = Stage::new(&self.workspace);
        let (workspace, lead, timers) = (self.workspace.clone(), leadership.clone(), queues.timers.clone());
        let wake = Wake::every(SWEEP).on(timers.signal()).on(lead.changes());
        let make = move || TimerService::new(&workspace, lead.clone(), timers.clone());
        stage.start(ServiceName::Timers, wake, AtEnd::LastRound, make);

        let (workspace, lead, asked) = (self.workspace.clone(), leadership.clone(), queues.clone());
        let wake = Wake::every(SWEEP).on(asked.questions.signal()).on(lead.changes());
        let make = move || QuestionService::new(&workspace, lead.clone(), asked.clone());
        stage.start(ServiceName::AutoResponder, wake, AtEnd::LastRound, make);

        // What it leaves is removed after the next start.
        let (workspace, removals) = (self.workspace.clone(), queues.removals.clone());
        let wake = Wake::every(SWEEP).on(removals.signal()).on(workspace.running.ends());
        let make = move || WorktreeRemover::new(workspace.clone(), removals.clone());
        stage.start(ServiceName::WorktreeRemover, wake, AtEnd::Cancel(LAST_REMOVAL), make);
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

    /// The services that only a shared store needs.
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

/// Services that shut down together.
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
        // There is no receiver if no service was started.
        let _ = self.end.send(true);
        self.supervisor.join().await;
    }
}

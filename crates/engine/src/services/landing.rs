//! Accepts work where the settings say so, and works on the lanes of accepted work: for each project and lane in a task of its own,
//! so that one whose hooks or checks take long holds up no other.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use baton_core::base::accept_policy::AcceptPolicy;
use baton_core::base::id::{ProjectId, TaskId};
use baton_core::landing::policy::{PolicyStep, policy_step};
use baton_core::people::actor::Actor;
use baton_core::records::change::Versioned;
use baton_core::task::Task;
use baton_core::task::revision::Revision;
use baton_core::task::state::{QueueName, TaskState};
use baton_core::transition::refusal::CommandRefusal;
use baton_store::model::query::TaskFilter;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::base::error::EngineError;
use crate::base::supervisor::{Item, ItemKind, Items, Round, Service, ServiceError, ServiceName};
use crate::cluster::leader::Leadership;
use crate::landing::lanes::{self, Lane, LaneKey};
use crate::landing::reviewer::{self, ReviewStep};
use crate::projects::Projects;
use crate::projects::source::CodeSource;
use crate::services::workspace::Workspace;
use crate::settings::StartOn;

/// Finished tasks read at once.
const PAGE: u32 = 200;
/// Between two looks at whether a branch that failed has moved; no check runs for that.
const RED_PAUSE_MAX: Duration = Duration::from_secs(10);
/// Dependents of one task that are looked at for an early start. The others wait for it to land.
const DEPENDENTS_MAX: u32 = 100;

/// A branch in a folder is worked on by the machine that has the folder, one of a remote by the leader.
pub(super) struct LandingService {
    workspace: Workspace,
    leadership: Leadership,
    items: Items,
    active: BTreeMap<LaneKey, SpawnedTask>,
    /// Finished work that is being accepted by its project's policy, each project in a task of its own: a hook takes as long as its
    /// author wants.
    accepting: BTreeMap<Option<ProjectId>, SpawnedTask>,
    /// Incremented when a lane is done, so that what came in meanwhile is seen.
    ended: watch::Sender<u64>,
}

/// Ends the work when it is dropped, and with it the processes of checks and hooks.
struct SpawnedTask {
    handle: JoinHandle<()>,
    /// Set before anybody is woken; the handle says so only a moment later.
    has_ended: Arc<AtomicBool>,
}

impl SpawnedTask {
    fn is_over(&self) -> bool {
        self.has_ended.load(Ordering::Acquire) || self.handle.is_finished()
    }
}

impl Drop for SpawnedTask {
    fn drop(&mut self) {
        self.handle.abort();
    }
}

impl LandingService {
    pub(super) fn new(workspace: Workspace, leadership: Leadership, ended: watch::Sender<u64>) -> Self {
        let items = workspace.items(ServiceName::Landing);
        Self { workspace, leadership, items, active: BTreeMap::new(), accepting: BTreeMap::new(), ended }
    }

    fn is_ours(&self, lane: &Lane) -> bool {
        match &lane.source {
            CodeSource::Here(folder) => !self.workspace.node.is_shared || folder.is_dir(),
            CodeSource::Remote(_) => self.leadership.is_held(),
        }
    }

    fn start(&mut self, lane: Lane, item: Item) {
        let (items, lander, ended) = (self.items.clone(), self.workspace.lander(), self.ended.clone());
        let (key, has_ended) = (lane.key.clone(), Arc::new(AtomicBool::new(false)));
        let flag = has_ended.clone();
        let work = async move {
            // An error is on the item; only a store that cannot record it is lost here, and then the next round fails.
            let _ = items.attempt(&item, lander.work(&lane)).await;
            flag.store(true, Ordering::Release);
            ended.send_modify(|count| *count += 1);
        };
        self.active.insert(key, SpawnedTask { handle: tokio::spawn(work), has_ended });
    }
}

impl LandingService {
    /// Accepts what needs no person, in the name of the setting. Core refuses whatever a person has to look at.
    async fn accept_ready(&mut self) -> Result<(), ServiceError> {
        self.accepting.retain(|_, task| !task.is_over());
        if !self.leadership.is_held() {
            self.accepting.clear();
            return Ok(());
        }
        let mut ready: BTreeMap<Option<ProjectId>, Vec<(TaskId, AcceptPolicy, Item)>> = BTreeMap::new();
        let Workspace { projects, tasks, .. } = &self.workspace;
        let filter = TaskFilter { queue: Some(QueueName::Provisional), ..TaskFilter::default() };
        let mut cursor = None;
        loop {
            let page = tasks.store.tasks(&filter, cursor, PAGE).await?;
            for Versioned { value: task, .. } in &page.items {
                let item = Item::new(ItemKind::Landing, &task.id()).for_task(task.id());
                let (settings, is_checked) = match projects.settings_and_checks(task).await {
                    Ok(found) => found,
                    Err(error) => {
                        self.items.failed(&item, &error.into()).await?;
                        continue;
                    }
                };
                let policy = settings.accept_policy(task);
                let step = policy_step(policy, is_checked, task);
                // Whether to merge what a person refused is a person's decision; it is shown as one that waits.
                if step != PolicyStep::Wait && self.contains_refused(&item, task).await? {
                    continue;
                }
                match step {
                    PolicyStep::Accept if self.items.is_due(&item) => {
                        ready.entry(task.spec().project_id).or_default().push((task.id(), policy, item));
                    }
                    PolicyStep::Review if self.items.is_due(&item) => {
                        self.items.attempt(&item, self.review(task, policy)).await?;
                    }
                    PolicyStep::Wait | PolicyStep::Accept | PolicyStep::Review => {}
                }
            }
            cursor = page.next;
            if cursor.is_none() {
                break;
            }
        }
        for (project, ready) in ready {
            if !self.accepting.contains_key(&project) {
                let accepting = self.start_accepting(ready);
                self.accepting.insert(project, accepting);
            }
        }
        Ok(())
    }

    /// One after another, in the order in which they were created.
    fn start_accepting(&self, ready: Vec<(TaskId, AcceptPolicy, Item)>) -> SpawnedTask {
        let (workspace, items, ended) = (self.workspace.clone(), self.items.clone(), self.ended.clone());
        let has_ended = Arc::new(AtomicBool::new(false));
        let flag = has_ended.clone();
        let work = async move {
            for (task, policy, item) in ready {
                // An error is on the item; only a store that cannot record it is lost here, and then the next round fails.
                let _ = items.attempt(&item, accept(&workspace, task, policy)).await;
            }
            flag.store(true, Ordering::Release);
            ended.send_modify(|count| *count += 1);
        };
        SpawnedTask { handle: tokio::spawn(work), has_ended }
    }

    /// True as well if nobody can say; then the item fails, and is tried again.
    async fn contains_refused(&self, item: &Item, task: &Task) -> Result<bool, ServiceError> {
        match self.workspace.projects.refused_below(task).await {
            Ok(refused) => Ok(refused.is_some()),
            Err(error) => {
                self.items.failed(item, &error.into()).await?;
                Ok(true)
            }
        }
    }

    /// `start_on = "landing"`: what waits for nothing but work in this lane starts on that work.
    async fn start_dependents(&self, lane: &Lane) -> Result<(), ServiceError> {
        let Workspace { tasks, projects, .. } = &self.workspace;
        // Settings that cannot be read are reported by the lane itself.
        let Ok(settings) = projects.settings_of(lane.project.as_ref()) else { return Ok(()) };
        if settings.start_on != StartOn::Landing {
            return Ok(());
        }
        let resting = lane.resting.iter().map(|member| &member.task);
        let landing: Vec<TaskId> = lane.tasks.iter().chain(resting).map(Task::id).collect();
        let edges = tasks.store.dependents_of_many(&landing, DEPENDENTS_MAX).await?;
        let waiting: BTreeSet<TaskId> =
            edges.iter().filter(|edge| !edge.is_met).map(|edge| edge.task).collect();
        let waiting: Vec<TaskId> = waiting.into_iter().collect();
        let edges = tasks.store.dependencies_of_many(&waiting).await?;
        for Versioned { value: task, .. } in tasks.store.tasks_by_ids(&waiting).await? {
            let open = edges.iter().filter(|edge| edge.task == task.id() && !edge.is_met).map(|edge| edge.on);
            let on: Vec<TaskId> = open.collect();
            let is_new = matches!(task.state(), TaskState::Incoming) && task.ledger().started == 0;
            if !is_new || !on.iter().all(|on| landing.contains(on)) {
                continue;
            }
            let item = Item::new(ItemKind::Landing, &task.id()).for_task(task.id());
            self.items.attempt(&item, start_early(projects, &lane.key, &task, on)).await?;
        }
        Ok(())
    }

    async fn review(&self, task: &Task, policy: AcceptPolicy) -> Result<(), EngineError> {
        let Workspace { projects, settings, .. } = &self.workspace;
        match reviewer::review(projects, settings, task).await {
            Ok(ReviewStep::Agreed) => accept(&self.workspace, task.id(), policy).await,
            Ok(ReviewStep::Waits | ReviewStep::SentBack) => Ok(()),
            // Somebody decided first.
            Err(refused) if refused.is::<CommandRefusal>() => Ok(()),
            Err(error) => Err(error),
        }
    }
}

async fn accept(workspace: &Workspace, task: TaskId, policy: AcceptPolicy) -> Result<(), EngineError> {
    let actor = Actor::policy(format!("accept_when = {policy}"));
    let accepted = match workspace.acceptor().accept(task, false, actor).await {
        Ok(_) => Ok(()),
        // Somebody decided first.
        Err(refused) if refused.is::<CommandRefusal>() => Ok(()),
        Err(error) => Err(error),
    };
    let error = accepted.as_ref().err().map(|error| format!("{error}\n{}", error.hint()));
    workspace.landing.note_accepting(task, error);
    accepted
}

/// It no longer waits for these, because it starts on their work.
async fn start_early(
    projects: &Projects,
    lane: &LaneKey,
    task: &Task,
    on: Vec<TaskId>,
) -> Result<(), EngineError> {
    // Work for another branch cannot be built on.
    if lanes::key_of(projects, task).await? != *lane {
        return Ok(());
    }
    let revision = Revision { not_after: on.clone(), starts_on: on, ..Revision::default() };
    let actor = Actor::policy("start_on = landing");
    match projects.tasks.revise(task.id(), revision, &Revision::default(), actor).await {
        Ok(_) => Ok(()),
        // Somebody decided first.
        Err(refused) if refused.is::<CommandRefusal>() => Ok(()),
        Err(error) => Err(error),
    }
}

impl Service for LandingService {
    async fn run_once(&mut self) -> Result<Round, ServiceError> {
        self.accept_ready().await?;
        self.active.retain(|_, task| !task.is_over());
        let lanes = lanes::load(&self.workspace.projects).await?;
        self.workspace.landing.forget_empty(&lanes.iter().map(|lane| lane.key.clone()).collect());
        for lane in lanes {
            if !self.is_ours(&lane) {
                continue;
            }
            let item = Item::new(ItemKind::Lane, &lane.key);
            self.start_dependents(&lane).await?;
            self.items.attempt(&item, self.workspace.lander().settle_resting(&lane)).await?;
            if lane.tasks.is_empty() {
                continue;
            }
            let item = lane.tasks.first().map_or(item.clone(), |first| item.for_task(first.id()));
            let board = &self.workspace.landing;
            let item = if board.is_red(&lane.key) { item.with_pause_max(RED_PAUSE_MAX) } else { item };
            if board.is_look_requested(&lane.key) {
                self.items.forget(&item);
            }
            if self.items.is_due(&item) && !self.active.contains_key(&lane.key) {
                self.start(lane, item);
            }
        }
        Ok(self.items.end_round())
    }
}

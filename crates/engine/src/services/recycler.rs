//! The recycler: sends tasks that were too large to a breakdown, and has breakdowns planned.
//!
//! Core decides: it refuses to recycle a task that does not appear too large, and turns a second breakdown into a question
//! (I14).

use baton_core::base::id::TaskId;
use baton_core::base::text::Role;
use baton_core::people::actor::Actor;
use baton_core::recycle::RecycleReason;
use baton_core::task::state::{QueueName, ReviewMark, TaskState};
use baton_core::task::{Purpose, Task};
use baton_core::transition::command::Command;
use baton_core::transition::refusal::CommandRefusal;
use baton_store::model::query::TaskFilter;

use crate::base::error::EngineError;
use crate::base::supervisor::{Item, ItemKind, Items, Round, Service, ServiceError, ServiceName};
use crate::cluster::leader::Leadership;
use crate::projects::Projects;
use crate::services::workspace::Workspace;
use crate::settings::{PlanPolicy, RecyclePolicy, RecycleSettings};
use crate::tasks::service::TaskService;

/// Provisional tasks read at once.
const PAGE: u32 = 200;
/// The setting by which breakdowns are planned without a person.
const PLAN_POLICY: &str = "recycle.plan";

pub struct Recycler {
    tasks: TaskService,
    items: Items,
    /// Where the settings of a task's project are found. Without it, everything is recycled and planned.
    projects: Option<Projects>,
}

impl Recycler {
    pub fn new(tasks: TaskService, items: Items) -> Self {
        Self { tasks, items, projects: None }
    }

    /// Goes by the settings of each task's project.
    #[must_use]
    fn by_settings(self, projects: Projects) -> Self {
        Self { projects: Some(projects), ..self }
    }

    /// None if they cannot be read, which is recorded.
    async fn settings_for(&self, task: &Task) -> Result<Option<RecycleSettings>, ServiceError> {
        let Some(projects) = &self.projects else { return Ok(Some(RecycleSettings::default())) };
        match projects.settings_for(task).await {
            Ok(settings) => Ok(Some(settings.recycle)),
            Err(error) => {
                let item = Item::new(ItemKind::Recycle, &task.id()).for_task(task.id());
                self.items.failed(&item, &error.into()).await?;
                Ok(None)
            }
        }
    }

    /// Checks all provisional tasks. Returns those that were recycled or escalated.
    pub async fn run_once(&self) -> Result<Vec<TaskId>, ServiceError> {
        let filter = TaskFilter { queue: Some(QueueName::Provisional), ..TaskFilter::default() };
        let mut recycled = Vec::new();
        let mut cursor = None;
        loop {
            let page = self.tasks.store.tasks(&filter, cursor, PAGE).await?;
            for stored in &page.items {
                // In a loop the user decides about each subtask.
                if Role::loop_phases().contains(&stored.value.spec().role) {
                    continue;
                }
                let Some(reason) = reason_to_recycle(&stored.value) else { continue };
                let settings = self.settings_for(&stored.value).await?;
                if settings.is_none_or(|settings| settings.mode != RecyclePolicy::Automatic) {
                    continue;
                }
                let id = stored.value.id();
                let item = Item::new(ItemKind::Recycle, &id).for_task(id);
                if self.items.attempt(&item, self.recycle(id, reason)).await?.done() == Some(true) {
                    recycled.push(id);
                }
            }
            cursor = page.next;
            if cursor.is_none() {
                return Ok(recycled);
            }
        }
    }

    /// Lets agents plan the breakdowns of recycled tasks, and plan again what a person has rejected. One that was stopped
    /// is the person's.
    async fn release_breakdowns(&self) -> Result<(), ServiceError> {
        let filter = TaskFilter { queue: Some(QueueName::Breakdown), ..TaskFilter::default() };
        let mut cursor = None;
        loop {
            let page = self.tasks.store.tasks(&filter, cursor, PAGE).await?;
            for task in page.items.iter().map(|stored| &stored.value).filter(|task| wants_plan(task)) {
                let settings = self.settings_for(task).await?;
                if settings.is_none_or(|settings| settings.plan != PlanPolicy::Auto) {
                    continue;
                }
                let id = task.id();
                let item = Item::new(ItemKind::Recycle, &id).for_task(id);
                self.items.attempt(&item, self.release(id)).await?;
            }
            cursor = page.next;
            if cursor.is_none() {
                return Ok(());
            }
        }
    }

    /// Does nothing if a person was first.
    async fn release(&self, id: TaskId) -> Result<(), EngineError> {
        match self.tasks.apply(id, Command::Release, Actor::policy(PLAN_POLICY)).await {
            Ok(_) => Ok(()),
            Err(error) if error.is::<CommandRefusal>() => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// False if it was accepted, rejected or recycled first.
    async fn recycle(&self, id: TaskId, reason: RecycleReason) -> Result<bool, EngineError> {
        match self.tasks.apply(id, Command::Recycle { reason }, Actor::Baton).await {
            Ok(_) => Ok(true),
            Err(error) if error.is::<CommandRefusal>() => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// Runs on the leader.
pub(super) struct RecycleService {
    workspace: Workspace,
    leadership: Leadership,
    recycler: Recycler,
}

impl RecycleService {
    pub(super) fn new(workspace: Workspace, leadership: Leadership) -> Self {
        let items = workspace.items(ServiceName::Recycler);
        let recycler = Recycler::new(workspace.tasks.clone(), items).by_settings(workspace.projects.clone());
        Self { workspace, leadership, recycler }
    }
}

impl Service for RecycleService {
    async fn run_once(&mut self) -> Result<Round, ServiceError> {
        if !self.leadership.is_held() {
            return Ok(Round::default());
        }
        let settings = &self.workspace.settings;
        for task in self.recycler.run_once().await? {
            (self.workspace.announce)(&format!(
                "{task} is broken down into smaller tasks; see baton task show {task}"
            ));
        }
        let has_planner = settings.agent_for(&Role::breakdown()).is_some();
        if has_planner {
            self.recycler.release_breakdowns().await?;
        }
        Ok(self.recycler.items.end_round())
    }
}

/// Nobody has planned it, or a person wants another plan than the one they rejected.
fn wants_plan(task: &Task) -> bool {
    let is_for_agents =
        matches!(task.spec().purpose, Purpose::Breakdown { replaces_task_id: Some(_), by_hand: false, .. });
    let waits = *task.state() == TaskState::Breakdown { released: false };
    is_for_agents && waits && (task.ledger().started == 0 || task.has_rejected_plan())
}

/// Why this task should be broken down, if it should.
pub fn reason_to_recycle(task: &Task) -> Option<RecycleReason> {
    let TaskState::Provisional(work) = task.state() else { return None };
    match work.mark {
        ReviewMark::BurnedOut => Some(RecycleReason::TooLarge),
        ReviewMark::NotConverging => Some(RecycleReason::CumulativeFailures),
        ReviewMark::Ready
        | ReviewMark::NoChanges { .. }
        | ReviewMark::NeedsReview { .. }
        | ReviewMark::Plan => None,
    }
}

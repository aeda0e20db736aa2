//! The recycler: sends tasks that were too large to a breakdown, as soon as they turn up.
//!
//! It decides nothing itself. Core refuses to recycle what shows no sign of being too large, and turns a second
//! breakdown into a question (I14).

use baton_core::base::id::TaskId;
use baton_core::base::text::Role;
use baton_core::people::actor::Actor;
use baton_core::recycle::RecycleReason;
use baton_core::task::Task;
use baton_core::task::state::{QueueName, ReviewMark, TaskState};
use baton_core::transition::command::Command;
use baton_core::transition::refusal::CommandRefusal;
use baton_store::model::query::TaskFilter;

use crate::base::error::EngineError;
use crate::base::supervisor::{Item, ItemKind, Items, Round, Service, ServiceError, ServiceName};
use crate::cluster::leader::Leadership;
use crate::services::workspace::Workspace;
use crate::settings::RecyclePolicy;
use crate::tasks::service::TaskService;

/// Provisional tasks looked at in one page.
const PAGE: u32 = 200;

pub struct Recycler {
    tasks: TaskService,
    items: Items,
}

impl Recycler {
    pub fn new(tasks: TaskService, items: Items) -> Self {
        Self { tasks, items }
    }

    /// Looks at everything provisional once; returns what was recycled or escalated.
    pub async fn run_once(&self) -> Result<Vec<TaskId>, ServiceError> {
        let filter = TaskFilter { queue: Some(QueueName::Provisional), ..TaskFilter::default() };
        let mut recycled = Vec::new();
        let mut cursor = None;
        loop {
            let page = self.tasks.store.tasks(&filter, cursor, PAGE).await?;
            for stored in &page.items {
                // In a loop the human is asked about each subtask; nothing is decided in their place.
                if Role::loop_phases().contains(&stored.value.spec().role) {
                    continue;
                }
                let Some(reason) = reason_to_recycle(&stored.value) else { continue };
                let id = stored.value.id();
                let item = Item::new(ItemKind::Recycle, &id).of_task(id);
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

    /// False when somebody accepted, rejected or recycled it first.
    async fn recycle(&self, id: TaskId, reason: RecycleReason) -> Result<bool, EngineError> {
        match self.tasks.apply(id, Command::Recycle { reason }, Actor::Baton).await {
            Ok(_) => Ok(true),
            Err(error) if error.is::<CommandRefusal>() => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// Recycles as the leader, where the settings want it.
pub(super) struct RecycleService {
    workspace: Workspace,
    leadership: Leadership,
    recycler: Recycler,
}

impl RecycleService {
    pub(super) fn new(workspace: Workspace, leadership: Leadership) -> Self {
        let items = workspace.items(ServiceName::Recycler);
        Self { recycler: Recycler::new(workspace.tasks.clone(), items), workspace, leadership }
    }
}

impl Service for RecycleService {
    async fn run_once(&mut self) -> Result<Round, ServiceError> {
        if !self.leadership.is_held() || self.workspace.settings.recycle != RecyclePolicy::Automatic {
            return Ok(Round::default());
        }
        for task in self.recycler.run_once().await? {
            (self.workspace.announce)(&format!("{task} was too large; see baton task show {task}"));
        }
        Ok(self.recycler.items.end_round())
    }
}

/// Why this task should be broken down, if it should.
pub fn reason_to_recycle(task: &Task) -> Option<RecycleReason> {
    let TaskState::Provisional(work) = task.state() else { return None };
    match work.mark {
        ReviewMark::BurnedOut => Some(RecycleReason::TooLarge),
        ReviewMark::NotConverging => Some(RecycleReason::CumulativeFailures),
        ReviewMark::Ready | ReviewMark::NoChanges { .. } | ReviewMark::Plan => None,
    }
}

//! A task service on its own store, with short forms of common commands.

use std::collections::BTreeMap;

use baton_core::base::id::{AttemptId, TaskId};
use baton_core::base::task_type::TaskType;
use baton_core::base::text::{NonBlank, Role};
use baton_core::base::time::Timestamp;
use baton_core::people::actor::Actor;
use baton_core::schedule::{Capacity, LimitsByKey, WorkerFit};
use baton_core::task::attempt::{AttemptEnd, AttemptReport, AttemptResult, Evidence};
use baton_core::task::{Task, TaskSpec};
use baton_core::transition::command::Command;
use baton_engine::base::ids::Ids;
use baton_engine::tasks::service::TaskService;
use baton_store::model::claim::ClaimRequest;
use baton_store::{SqliteOptions, SqliteStore};
use tempfile::TempDir;

pub(crate) struct Office {
    pub(crate) tasks: TaskService,
    _folder: TempDir,
}

pub(crate) fn mia() -> Actor {
    Actor::human("mia")
}

pub(crate) fn text(text: &str) -> NonBlank {
    NonBlank::new(text).unwrap()
}

pub(crate) fn spec(title: &str, id: TaskId, created_at: Timestamp) -> TaskSpec {
    TaskSpec::new(id, "session".parse().unwrap(), TaskType::Implementation, text(title), created_at)
}

impl Office {
    pub(crate) fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(&folder.path().join("test.db"), SqliteOptions::default()).unwrap();
        Self { tasks: TaskService::new(store.into(), Ids::counted()), _folder: folder }
    }

    pub(crate) async fn add(&self, title: &str, depends_on: &[TaskId]) -> TaskId {
        let task = self.tasks.add_task(depends_on, mia(), |id, now| spec(title, id, now));
        task.await.unwrap().id()
    }

    /// Claims everything there is to claim; returns the tasks in the order they were given out.
    pub(crate) async fn claim(&self) -> Vec<(TaskId, AttemptId)> {
        let agent: baton_core::base::text::AgentName = "scripted".parse().unwrap();
        let request = ClaimRequest {
            agents: BTreeMap::from([(Role::implement(), agent.clone()), (Role::breakdown(), agent)]),
            worker: "here".to_owned(),
            attempt_ids: (0..8).map(|_| self.tasks.ids.attempt()).collect(),
            lease_ms: 60_000,
            capacity: Capacity {
                total_max: 100,
                per_role: LimitsByKey::all(100),
                per_agent: LimitsByKey::all(100),
                unaccepted_max: 100,
                per_project: LimitsByKey::none(),
                per_person: LimitsByKey::none(),
            },
            intakes: BTreeMap::new(),
            fit: WorkerFit::default(),
            actor: Actor::Baton,
        };
        let claimed = self.tasks.store.claim(request).await.unwrap();
        claimed.into_iter().map(|claimed| (claimed.task.value.id(), claimed.lease.attempt)).collect()
    }

    pub(crate) async fn settle(
        &self,
        task: TaskId,
        attempt: AttemptId,
        result: AttemptResult,
        commits: u32,
        turns: u32,
    ) -> Task {
        let verified = Evidence { commits, turns, turns_max: 50, ..Evidence::default() };
        let end = AttemptEnd { reported: AttemptReport::new(result, "Done."), verified };
        self.tasks.apply(task, Command::Settle { attempt, end }, Actor::Baton).await.unwrap()
    }
}

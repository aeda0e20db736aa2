//! A desk on a store of its own, and short words for what people do at it.

use std::collections::BTreeMap;

use baton_core::actor::Actor;
use baton_core::attempt::{AttemptEnd, AttemptResult, Evidence, Reported};
use baton_core::command::Command;
use baton_core::id::{AttemptId, TaskId};
use baton_core::schedule::{Capacity, Fit, Limits};
use baton_core::task::{Task, TaskSpec};
use baton_core::task_type::TaskType;
use baton_core::text::{NonBlank, Role};
use baton_core::time::Timestamp;
use baton_engine::desk::Desk;
use baton_engine::ids::Ids;
use baton_store::model::claim::ClaimRequest;
use baton_store::{SqliteOptions, SqliteStore};
use tempfile::TempDir;

pub struct Office {
    pub desk: Desk,
    _folder: TempDir,
}

pub fn mia() -> Actor {
    Actor::human("mia")
}

pub fn text(text: &str) -> NonBlank {
    NonBlank::new(text).unwrap()
}

pub fn spec(title: &str, id: TaskId, created_at: Timestamp) -> TaskSpec {
    TaskSpec::new(id, "session".parse().unwrap(), TaskType::Implementation, text(title), created_at)
}

impl Office {
    pub fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(&folder.path().join("test.db"), SqliteOptions::default()).unwrap();
        Self { desk: Desk::new(store.into(), Ids::counted()), _folder: folder }
    }

    pub async fn add(&self, title: &str, depends_on: &[TaskId]) -> TaskId {
        let task = self.desk.add_task(depends_on, mia(), |id, now| spec(title, id, now));
        task.await.unwrap().id()
    }

    /// Claims everything there is to claim; returns the tasks in the order they were given out.
    pub async fn claim(&self) -> Vec<(TaskId, AttemptId)> {
        let agent: baton_core::text::AgentName = "scripted".parse().unwrap();
        let request = ClaimRequest {
            agents: BTreeMap::from([(Role::implement(), agent.clone()), (Role::breakdown(), agent)]),
            worker: "here".to_owned(),
            attempt_ids: (0..8).map(|_| self.desk.ids.attempt()).collect(),
            lease_ms: 60_000,
            capacity: Capacity {
                total_max: 100,
                per_role: Limits::all(100),
                per_agent: Limits::all(100),
                unaccepted_max: 100,
                per_project: Limits::none(),
                per_person: Limits::none(),
            },
            intakes: BTreeMap::new(),
            fit: Fit::default(),
            actor: Actor::Baton,
        };
        let claimed = self.desk.store.claim(request).await.unwrap();
        claimed.into_iter().map(|claimed| (claimed.task.value.id(), claimed.lease.attempt)).collect()
    }

    pub async fn settle(
        &self,
        task: TaskId,
        attempt: AttemptId,
        result: AttemptResult,
        commits: u32,
        turns: u32,
    ) -> Task {
        let verified = Evidence { commits, turns, turns_max: 50, ..Evidence::default() };
        let end = AttemptEnd { reported: Reported::new(result, "Done as told."), verified };
        self.desk.apply(task, Command::Settle { attempt, end }, Actor::Baton).await.unwrap()
    }
}

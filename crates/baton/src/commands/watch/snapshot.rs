//! What `baton watch` shows: the data at one moment.

use baton_core::ask::question_record::QuestionRecord;
use baton_core::base::time::Timestamp;
use baton_core::task::state::TaskStatus;
use baton_engine::reports::accounts::AccountView;
use baton_engine::reports::standstill::Standstill;
use baton_engine::reports::view::TaskSummary;
use serde::Serialize;
use serde_json::Value;

use crate::context::api::{Api, ListRequest, read};
use crate::error::CliError;

#[derive(Debug, Clone, Serialize)]
pub(crate) struct WatchSnapshot {
    pub(crate) now: Timestamp,
    pub(crate) questions: Vec<QuestionRecord>,
    /// An agent works on them. A task that waits for an answer is not among them.
    pub(crate) running: Vec<TaskSummary>,
    pub(crate) to_accept: Vec<TaskSummary>,
    pub(crate) landing: Vec<TaskSummary>,
    pub(crate) failed: Vec<TaskSummary>,
    /// What waits for a person besides questions and reviews.
    pub(crate) standstills: Vec<Standstill>,
    pub(crate) ready: Vec<TaskSummary>,
    /// Of today, in millionths of a dollar.
    pub(crate) cost_micro_usd: u64,
}

impl WatchSnapshot {
    pub(crate) async fn load(api: &Api, limit: u32) -> Result<Self, CliError> {
        let tasks = |queue: &'static str| async move {
            let list = ListRequest { path: "/api/tasks", name: "tasks", query: &[("queue", queue)] };
            api.list::<TaskSummary>(&list, limit, None).await.map(|(tasks, _)| tasks)
        };
        let pending =
            ListRequest { path: "/api/questions", name: "questions", query: &[("state", "pending")] };
        let ready = ListRequest { path: "/api/tasks/ready", name: "tasks", query: &[] };
        let mut standstills: Value = api.get("/api/standstills").await?;
        let mut accounts: Value = api.get("/api/accounts").await?;
        let accounts: Vec<AccountView> = read(accounts["accounts"].take())?;
        let mut running = tasks("claimed").await?;
        running.retain(|task| task.status == TaskStatus::Running);
        Ok(Self {
            now: api.now().await?,
            questions: api.list(&pending, limit, None).await?.0,
            running,
            to_accept: tasks("provisional").await?,
            landing: tasks("landing").await?,
            failed: tasks("failed").await?,
            standstills: read(standstills["standstills"].take())?,
            ready: api.list(&ready, limit, None).await?.0,
            cost_micro_usd: accounts.iter().map(|account| account.used_today.cost_micro_usd).sum(),
        })
    }
}

//! What the work of agents cost: in total, and by project, agent and task.

use std::collections::BTreeMap;

use baton_core::base::time::Timestamp;
use baton_core::task::attempt::Evidence;
use baton_core::task::attempt_record::{AttemptClosing, AttemptRecord};
use baton_engine::reports::view::TaskSummary;
use serde::Serialize;

use crate::context::api::{Api, ListRequest};
use crate::error::CliError;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// Attempts that ended since a moment. What an agent at work has used so far is not in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct CostReport {
    pub since: Timestamp,
    pub until: Timestamp,
    pub total: CostSum,
    pub by_project: Vec<CostRow>,
    pub by_agent: Vec<CostRow>,
    pub by_task: Vec<CostRow>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct CostSum {
    pub attempts: u64,
    pub turns: u64,
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// Millionths of a dollar, as far as the agents report it.
    pub cost_micro_usd: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct CostRow {
    /// The id of the project or the task, or the agent's name; none for tasks without a project.
    pub id: Option<String>,
    pub title: Option<String>,
    #[serde(flatten)]
    pub sum: CostSum,
}

impl CostSum {
    fn add(&mut self, verified: &Evidence) {
        self.attempts += 1;
        self.turns += u64::from(verified.turns);
        self.input_tokens = self.input_tokens.saturating_add(verified.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(verified.output_tokens);
        self.cost_micro_usd = self.cost_micro_usd.saturating_add(verified.cost_micro_usd);
    }
}

/// Midnight of the day, in UTC, as budgets count days.
fn start_of_day(now: Timestamp) -> Timestamp {
    Timestamp::from_ms(now.ms() - now.ms().rem_euclid(DAY_MS))
}

/// Sums by key, with a title for each key.
#[derive(Default)]
struct Sums(BTreeMap<Option<String>, (Option<String>, CostSum)>);

impl Sums {
    fn add(&mut self, id: Option<String>, title: Option<&str>, verified: &Evidence) {
        let row = self.0.entry(id).or_insert_with(|| (title.map(str::to_owned), CostSum::default()));
        row.1.add(verified);
    }

    /// The most expensive first.
    fn rows(self) -> Vec<CostRow> {
        let rows = self.0.into_iter().map(|(id, (title, sum))| CostRow { id, title, sum });
        let mut rows: Vec<CostRow> = rows.collect();
        rows.sort_by_key(|row| std::cmp::Reverse((row.sum.cost_micro_usd, row.sum.output_tokens)));
        rows
    }
}

/// Everything that ended since then, summed up from the tasks.
pub(crate) async fn load_costs(api: &Api, since: Option<Timestamp>) -> Result<CostReport, CliError> {
    let now = api.now().await?;
    let since = since.unwrap_or_else(|| start_of_day(now));
    let list = ListRequest { path: "/api/tasks", name: "tasks", query: &[] };
    let (tasks, _): (Vec<TaskSummary>, _) = api.list(&list, u32::MAX, None).await?;
    let mut total = CostSum::default();
    let (mut by_project, mut by_agent, mut by_task) = (Sums::default(), Sums::default(), Sums::default());
    // A task changes when an attempt of it ends.
    for task in tasks.iter().filter(|task| task.updated_at >= since) {
        let view = api.task(task.task_id).await?;
        for record in &view.attempts {
            let Some(verified) = ended_since(record, since) else { continue };
            total.add(verified);
            by_project.add(task.project_id.map(|id| id.to_string()), None, verified);
            by_agent.add(Some(record.attempt.agent.to_string()), None, verified);
            by_task.add(Some(task.task_id.to_string()), Some(task.title.as_str()), verified);
        }
    }
    let (by_project, by_agent, by_task) = (by_project.rows(), by_agent.rows(), by_task.rows());
    Ok(CostReport { since, until: now, total, by_project, by_agent, by_task })
}

fn ended_since(record: &AttemptRecord, since: Timestamp) -> Option<&Evidence> {
    match &record.closing {
        Some(AttemptClosing::Ended { at, end }) if *at >= since => Some(&end.verified),
        Some(AttemptClosing::Ended { .. } | AttemptClosing::Lost { .. } | AttemptClosing::Stopped { .. })
        | None => None,
    }
}

//! What the work of agents cost: in total, and by project, agent and task.

use std::collections::BTreeMap;

use baton_core::base::id::ProjectId;
use baton_core::base::time::Timestamp;
use baton_core::limits::budget::Budget;
use baton_core::limits::spending::SpendingAmount;
use baton_core::task::Task;
use baton_core::task::attempt_record::AttemptUse;
use serde::{Deserialize, Serialize};

use crate::base::error::EngineError;
use crate::query::TaskFilter;
use crate::reports::accounts::used_today;
use crate::services::workspace::Workspace;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;
/// Tasks read at once.
const TASKS_PAGE: u32 = 500;

/// Attempts that ended since a moment, and what was used today, agents included that are at work or were stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CostReport {
    pub since: Timestamp,
    pub until: Timestamp,
    pub total: CostSum,
    pub by_project: Vec<CostRow>,
    pub by_agent: Vec<CostRow>,
    pub by_task: Vec<CostRow>,
    /// Since midnight (UTC), as it counts against the day's budget.
    #[serde(default)]
    pub used_today: SpendingAmount,
    #[serde(default)]
    pub budgets: CostBudgets,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CostSum {
    pub attempts: u64,
    pub turns: u64,
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// Millionths of a dollar, as far as the agents report it.
    pub cost_micro_usd: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CostRow {
    /// The id of the project or the task, or the agent's name; none for tasks without a project.
    pub id: Option<String>,
    pub title: Option<String>,
    #[serde(flatten)]
    pub sum: CostSum,
}

/// The budgets of the settings, in millionths of a dollar.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CostBudgets {
    pub day: Option<u64>,
    pub project: Option<u64>,
    pub task: Option<u64>,
}

impl CostSum {
    fn add(&mut self, used: AttemptUse) {
        self.attempts += 1;
        self.turns += u64::from(used.turns);
        self.input_tokens = self.input_tokens.saturating_add(used.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(used.output_tokens);
        self.cost_micro_usd = self.cost_micro_usd.saturating_add(used.cost_micro_usd);
    }
}

/// Midnight of the day, in UTC, as budgets count days.
pub fn start_of_day(now: Timestamp) -> Timestamp {
    Timestamp::from_ms(now.ms() - now.ms().rem_euclid(DAY_MS))
}

/// Sums by key, with a title for each key.
#[derive(Default)]
struct Sums(BTreeMap<Option<String>, (Option<String>, CostSum)>);

impl Sums {
    fn add(&mut self, id: Option<String>, title: Option<&str>, used: AttemptUse) {
        let row = self.0.entry(id).or_insert_with(|| (title.map(str::to_owned), CostSum::default()));
        row.1.add(used);
    }

    /// The most expensive first.
    fn rows(self) -> Vec<CostRow> {
        let rows = self.0.into_iter().map(|(id, (title, sum))| CostRow { id, title, sum });
        let mut rows: Vec<CostRow> = rows.collect();
        rows.sort_by_key(|row| std::cmp::Reverse((row.sum.cost_micro_usd, row.sum.output_tokens)));
        rows
    }
}

/// Everything that ended since then; without a moment, today.
pub async fn load_costs(workspace: &Workspace, since: Option<Timestamp>) -> Result<CostReport, EngineError> {
    let store = &workspace.tasks.store;
    let now = store.now().await?;
    let since = since.unwrap_or_else(|| start_of_day(now));
    let mut total = CostSum::default();
    let (mut by_project, mut by_agent, mut by_task) = (Sums::default(), Sums::default(), Sums::default());
    let mut titles: BTreeMap<ProjectId, Option<String>> = BTreeMap::new();
    // A task changes when an attempt of it ends.
    let filter = TaskFilter { updated_from: Some(since), ..TaskFilter::default() };
    let mut cursor = None;
    loop {
        let page = store.tasks(&filter, cursor, TASKS_PAGE).await?;
        let tasks: BTreeMap<_, Task> =
            page.items.into_iter().map(|stored| (stored.value.id(), stored.value)).collect();
        let ids: Vec<_> = tasks.keys().copied().collect();
        let attempts = if ids.is_empty() { Vec::new() } else { store.attempts_of_many(&ids).await? };
        for record in &attempts {
            let ended = record.ended_with().filter(|(at, _)| *at >= since);
            let (Some((_, used)), Some(task)) = (ended, tasks.get(&record.task_id)) else { continue };
            let spec = task.spec();
            if let Some(id) = spec.project_id
                && !titles.contains_key(&id)
            {
                let project = store.project(id).await?;
                titles.insert(id, project.map(|stored| stored.value.title.to_string()));
            }
            let project = spec.project_id.and_then(|id| titles.get(&id)?.as_deref());
            total.add(used);
            by_project.add(spec.project_id.map(|id| id.to_string()), project, used);
            by_agent.add(Some(record.attempt.agent.to_string()), None, used);
            by_task.add(Some(spec.id.to_string()), Some(spec.title.as_str()), used);
        }
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    Ok(CostReport {
        since,
        until: now,
        total,
        by_project: by_project.rows(),
        by_agent: by_agent.rows(),
        by_task: by_task.rows(),
        used_today: used_today(workspace).await?,
        budgets: budgets(workspace),
    })
}

fn budgets(workspace: &Workspace) -> CostBudgets {
    let cost = |budget: &Budget| budget.cost_micro_usd;
    let budgets = &workspace.settings.budgets;
    CostBudgets { day: cost(&budgets.day), project: cost(&budgets.project), task: cost(&budgets.task) }
}

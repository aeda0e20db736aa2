//! What is left of the budgets for one run of an agent, and whether it is used up while the agent works.

use std::time::Duration;

use baton_core::base::id::AttemptId;
use baton_core::base::text::AgentName;
use baton_core::limits::budget::{Budget, BudgetGrant, BudgetReached, BudgetScope};
use baton_core::limits::spending::{SpendingAccount, SpendingAmount};
use baton_core::task::Task;

use crate::base::error::EngineError;
use crate::limits::Limits;

/// What is left for one run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Room {
    pub turns: Option<u32>,
    pub time: Option<Duration>,
    pub idle_turns: Option<u32>,
    scopes: Vec<ScopeRoom>,
}

/// One budget that the run counts against.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ScopeRoom {
    scope: BudgetScope,
    budget: Budget,
    /// Where its spending is booked; for a task, what its attempts that ended have used.
    booked: Booked,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Booked {
    Amount(SpendingAmount),
    Account(SpendingAccount),
}

impl Room {
    pub fn is_limited(&self) -> bool {
        !self.scopes.is_empty()
    }
}

impl Limits {
    /// What is left of every budget that this attempt counts against. Begins a run of the attempt.
    pub async fn room(
        &self,
        task: &Task,
        attempt: AttemptId,
        agent: &AgentName,
    ) -> Result<Room, EngineError> {
        let project = task.spec().project_id;
        self.live.begin_run(attempt, project);
        let budgets = &self.settings.budgets;
        let mut room = Room { idle_turns: budgets.task.idle_turns.map(short), ..Room::default() };
        let is_set = |budget: Budget| budget != Budget::default();
        if is_set(budgets.task) || is_set(budgets.project) {
            let granted = BudgetGrant::new(&self.tasks.questions_of(task.id()).await?).times;
            if is_set(budgets.task) {
                let booked = Booked::Amount(self.used_by(task).await?);
                let budget = budgets.task.granted(granted);
                room.scopes.push(ScopeRoom { scope: BudgetScope::Task, budget, booked });
            }
            if let Some(project) = project.filter(|_| is_set(budgets.project)) {
                let booked = Booked::Account(SpendingAccount::Project(project));
                let budget = budgets.project.granted(granted);
                room.scopes.push(ScopeRoom { scope: BudgetScope::Project, budget, booked });
            }
        }
        if is_set(budgets.day) {
            let today = SpendingAccount::day_of(self.tasks.store.now().await?);
            if !self.is_day_released(agent, &today).await? {
                let booked = Booked::Account(today);
                room.scopes.push(ScopeRoom { scope: BudgetScope::Day, budget: budgets.day, booked });
            }
        }
        for scope in &room.scopes {
            let (turns, wall_ms) = scope.budget.left(self.used_in(scope, attempt).await?);
            room.turns = fewer(room.turns, turns.map(short));
            room.time = fewer(room.time, wall_ms.map(Duration::from_millis));
        }
        Ok(room)
    }

    /// What is used up, now that the run has used this much. Others that count against the same budget are included.
    pub async fn reached(
        &self,
        room: &Room,
        attempt: AttemptId,
        run: SpendingAmount,
    ) -> Result<Option<BudgetReached>, EngineError> {
        self.live.note(attempt, run);
        for scope in &room.scopes {
            let reached = scope.budget.reached(scope.scope, self.used_in(scope, attempt).await?);
            if reached.is_some() {
                return Ok(reached);
            }
        }
        Ok(None)
    }

    async fn used_in(&self, scope: &ScopeRoom, attempt: AttemptId) -> Result<SpendingAmount, EngineError> {
        let account = match &scope.booked {
            Booked::Amount(used) => return Ok(used.plus(self.live.of_attempt(attempt))),
            Booked::Account(account) => account,
        };
        let booked = self.tasks.store.spending(account.clone()).await?;
        let booked = booked.map(|stored| stored.value.amount).unwrap_or_default();
        Ok(booked.plus(match account {
            SpendingAccount::Project(project) => self.live.of_project(*project),
            SpendingAccount::Day(_) => self.live.in_total(),
            // No budget counts by account.
            SpendingAccount::Account { .. } => SpendingAmount::default(),
        }))
    }
}

fn short(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn fewer<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

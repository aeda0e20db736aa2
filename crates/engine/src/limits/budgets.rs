//! `[budgets]`: how much a task, a project or a day may use, and what happens when it is used up.
//!
//! Core decides what is used up. A task or a project asks the human; a day holds every agent until it is over. What is
//! still left bounds the next shift while it runs, so that it is overdrawn by little.

use std::time::Duration;

use baton_core::base::id::AttemptId;
use baton_core::base::time::Timestamp;
use baton_core::limits::budget::{Budget, BudgetGrant, BudgetReached, BudgetScope};
use baton_core::limits::hold::{Hold, HoldReason};
use baton_core::limits::spending::{Spending, SpendingAccount, SpendingAmount, end_of_day};
use baton_core::people::actor::Actor;
use baton_core::records::change::{Change, Record, WriteGuard};
use baton_core::task::Task;
use baton_core::task::attempt::{AttemptEnd, AttemptReport, AttemptResult, ErrorCause, Evidence};
use baton_core::task::attempt_record::AttemptClosing;
use baton_core::transition::command::Command;

use crate::base::error::EngineError;
use crate::limits::Limits;
use crate::settings::budgets::Budgets;

/// What is left for one shift.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Room {
    pub turns: Option<u32>,
    pub time: Option<Duration>,
    pub idle_turns: Option<u32>,
    /// The whole budget, for the question when it is used up.
    budget: Budget,
    used: SpendingAmount,
}

impl Room {
    /// What is used up when a shift came to its end in this room.
    pub fn reached(&self, turns: u32, elapsed: Duration) -> Option<BudgetReached> {
        let wall_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        let now = SpendingAmount { turns: turns.into(), wall_ms, ..SpendingAmount::default() };
        self.budget.reached(BudgetScope::Task, self.used.plus(now))
    }
}

impl Limits {
    /// How the attempt ends that must not begin: what is used up is asked about, once.
    pub async fn over_budget(&self, task: &Task) -> Result<Option<AttemptEnd>, EngineError> {
        let Some(reached) = self.used_up(task).await? else { return Ok(None) };
        let question = reached.question();
        let questions = self.tasks.questions_of(task.id()).await?;
        let was_asked_last = task.ledger().last_end.as_ref().is_some_and(|end| {
            matches!(&end.reported.result, AttemptResult::Asked { question: asked } if asked.text == question.text)
        });
        let result = if was_asked_last && BudgetGrant::new(&questions).is_refused {
            let message = format!("{reached}: its budget is used up, and you said that it shall not go on");
            AttemptResult::Error { cause: ErrorCause::Own, message }
        } else {
            AttemptResult::Asked { question }
        };
        (self.announce)(&format!("{}: the budget is used up: {reached}", task.id()));
        Ok(Some(AttemptEnd { reported: AttemptReport::new(result, ""), verified: Evidence::default() }))
    }

    async fn used_up(&self, task: &Task) -> Result<Option<BudgetReached>, EngineError> {
        let budgets = &self.settings.budgets;
        if *budgets == Budgets::default() {
            return Ok(None);
        }
        let granted = BudgetGrant::new(&self.tasks.questions_of(task.id()).await?);
        let ends = self.ends_of(task).await?;
        let used = ends.iter().map(SpendingAmount::new).fold(SpendingAmount::default(), SpendingAmount::plus);
        let of_task = budgets.task.granted(granted.times);
        let reached = of_task
            .reached(BudgetScope::Task, used)
            .or_else(|| of_task.is_stuck(&ends.iter().collect::<Vec<_>>()));
        if reached.is_some() {
            return Ok(reached);
        }
        let Some(project) = task.spec().project_id else { return Ok(None) };
        let used = self.tasks.store.spending(SpendingAccount::Project(project)).await?;
        let used = used.map(|stored| stored.value.amount).unwrap_or_default();
        Ok(budgets.project.granted(granted.times).reached(BudgetScope::Project, used))
    }

    /// What is left of the task's own budget.
    pub async fn room(&self, task: &Task) -> Result<Room, EngineError> {
        let budget = self.settings.budgets.task;
        if budget == Budget::default() {
            return Ok(Room::default());
        }
        let granted = BudgetGrant::new(&self.tasks.questions_of(task.id()).await?);
        let budget = budget.granted(granted.times);
        let used = self
            .ends_of(task)
            .await?
            .iter()
            .map(SpendingAmount::new)
            .fold(SpendingAmount::default(), SpendingAmount::plus);
        let (turns, wall_ms) = budget.left(used);
        let short = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        Ok(Room {
            turns: turns.map(short),
            time: wall_ms.map(Duration::from_millis),
            idle_turns: self.settings.budgets.task.idle_turns.map(short),
            budget,
            used,
        })
    }

    /// What Baton measured of the task's attempts, oldest first.
    async fn ends_of(&self, task: &Task) -> Result<Vec<Evidence>, EngineError> {
        let attempts = self.tasks.store.attempts(task.id()).await?;
        let ended = attempts.into_iter().filter_map(|record| match record.closing {
            Some(AttemptClosing::Ended { end, .. }) => Some(end.verified),
            Some(AttemptClosing::Lost { .. } | AttemptClosing::Stopped { .. }) | None => None,
        });
        Ok(ended.collect())
    }

    /// What an attempt used, to be written with its end: on the day's account, and on its project's.
    pub async fn spent(
        &self,
        task: &Task,
        verified: &Evidence,
        now: Timestamp,
    ) -> Result<Change, EngineError> {
        let budgets = &self.settings.budgets;
        let mut accounts = Vec::new();
        if budgets.day != Budget::default() {
            accounts.push(SpendingAccount::day_of(now));
        }
        if let Some(project) = task.spec().project_id.filter(|_| budgets.project != Budget::default()) {
            accounts.push(SpendingAccount::Project(project));
        }
        let mut change = Change::new();
        for account in accounts {
            let known = self.tasks.store.spending(account).await?;
            let guard = known.as_ref().map_or(WriteGuard::New, |stored| WriteGuard::Version(stored.version));
            let before = known.map(|stored| stored.value.amount).unwrap_or_default();
            let amount = before.plus(SpendingAmount::new(verified));
            change = change.put(Record::Spending(Spending { account, amount }), guard);
        }
        Ok(change)
    }

    /// The end of an attempt without a run of its own, such as a breakdown's, and what it used: one transaction.
    pub async fn settle_charged(
        &self,
        task: &Task,
        attempt: AttemptId,
        end: AttemptEnd,
    ) -> Result<(), EngineError> {
        let mut decision = self.tasks.decision(task.id());
        loop {
            let context = self.tasks.context(Actor::Baton).await?;
            let spending = self.spent(task, &end.verified, context.now).await?;
            let stored = self.tasks.task(task.id()).await?;
            let settle = Command::Settle { attempt, end: end.clone() };
            let transition = stored.value.apply(settle, &context)?;
            let change = Change::transition(stored.version, transition).and(spending);
            if decision.commit(change).await? {
                return self.note_day().await;
            }
        }
    }

    /// Holds every agent for the rest of a day whose budget is used up, unless a person has released it that day.
    pub async fn note_day(&self) -> Result<(), EngineError> {
        let budget = self.settings.budgets.day;
        if budget == Budget::default() {
            return Ok(());
        }
        let now = self.tasks.store.now().await?;
        let today = SpendingAccount::day_of(now);
        let used = self.tasks.store.spending(today).await?;
        let used = used.map(|stored| stored.value.amount).unwrap_or_default();
        let Some(reached) = budget.reached(BudgetScope::Day, used) else { return Ok(()) };
        for agent in self.settings.agents.keys() {
            let known = self.holds.find(agent).await?;
            let is_released = known.is_some_and(|stored| {
                let hold = stored.value;
                hold.why == HoldReason::Budget
                    && hold.released.is_some_and(|released| SpendingAccount::day_of(released.at) == today)
            });
            if is_released {
                continue;
            }
            let said = format!("the budget of this day is used up: {reached}; work goes on tomorrow");
            let until = Some(end_of_day(now));
            self.hold(&Hold::new(agent.clone(), HoldReason::Budget, &said, now, until)).await?;
        }
        Ok(())
    }
}

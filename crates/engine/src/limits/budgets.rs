//! `[budgets]`: how much a task, a project or a day may use, and what happens when it is used up.
//!
//! Core decides what is used up. A task or a project asks the human; a day holds every agent until it is over. `room`
//! says what is left for a run, and stops it when that is used up.

use baton_core::base::id::AttemptId;
use baton_core::base::text::AgentName;
use baton_core::base::time::Timestamp;
use baton_core::limits::budget::{Budget, BudgetGrant, BudgetReached, BudgetScope};
use baton_core::limits::hold::{Hold, HoldReason};
use baton_core::limits::spending::{Spending, SpendingAccount, SpendingAmount, end_of_day};
use baton_core::people::actor::Actor;
use baton_core::records::change::{Change, Record, WriteGuard};
use baton_core::task::Task;
use baton_core::task::attempt::{AttemptEnd, AttemptReport, AttemptResult, Evidence};
use baton_core::task::attempt_record::{AttemptClosing, AttemptRecord, AttemptUse};
use baton_core::transition::command::Command;

use crate::base::error::EngineError;
use crate::limits::Limits;
use crate::settings::budgets::Budgets;

impl Limits {
    /// How the attempt ends that must not begin: what is used up is asked about, once.
    pub async fn over_budget(&self, task: &Task) -> Result<Option<AttemptEnd>, EngineError> {
        let Some(reached) = self.used_up(task).await? else { return Ok(None) };
        let result = AttemptResult::Asked { question: reached.question() };
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
        let of_task = budgets.task.granted(granted.times);
        let reached = of_task
            .reached(BudgetScope::Task, self.used_by(task).await?)
            .or_else(|| of_task.is_stuck(&ends.iter().collect::<Vec<_>>()));
        if reached.is_some() {
            return Ok(reached);
        }
        let Some(project) = task.spec().project_id else { return Ok(None) };
        let used = self.tasks.store.spending(SpendingAccount::Project(project)).await?;
        let used = used.map(|stored| stored.value.amount).unwrap_or_default();
        Ok(budgets.project.granted(granted.times).reached(BudgetScope::Project, used))
    }

    /// What the task's attempts that ended have used.
    pub(crate) async fn used_by(&self, task: &Task) -> Result<SpendingAmount, EngineError> {
        let attempts = self.tasks.store.attempts(task.id()).await?;
        let used = attempts.iter().filter_map(AttemptRecord::ended_with).map(|(_, used)| used);
        Ok(SpendingAmount::new(used.fold(AttemptUse::default(), AttemptUse::plus)))
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
        if let Some(live) = task.state().live_attempt() {
            // Counted twice it would stop others too early.
            self.live.begin_writing(live.id);
        }
        self.charge(task, AttemptUse::from(verified), now).await
    }

    /// Books what an attempt used that ended without a report: it was stopped, or its lease was lost. Does nothing for any
    /// other; its evidence says what it used.
    pub(crate) async fn book_without_report(
        &self,
        task: &Task,
        attempt: AttemptId,
        used: AttemptUse,
    ) -> Result<(), EngineError> {
        if used == AttemptUse::default() {
            return Ok(());
        }
        let mut decision = self.tasks.decision(format_args!("the use of {attempt}"));
        loop {
            let now = self.tasks.store.now().await?;
            let Some(record) = self.tasks.store.attempt(attempt).await? else { return Ok(()) };
            let without_report =
                matches!(record.closing, Some(AttemptClosing::Lost { .. } | AttemptClosing::Stopped { .. }));
            if !without_report || record.used.is_some() {
                return Ok(());
            }
            let record = AttemptRecord { used: Some(used), ..record };
            let change = Change::new().put(Record::Attempt(record), WriteGuard::Owned);
            if decision.commit(change.and(self.charge(task, used, now).await?)).await? {
                return self.note_day().await;
            }
        }
    }

    async fn charge(&self, task: &Task, used: AttemptUse, now: Timestamp) -> Result<Change, EngineError> {
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
            let known = self.tasks.store.spending(account.clone()).await?;
            let guard = known.as_ref().map_or(WriteGuard::New, |stored| WriteGuard::Version(stored.version));
            let before = known.map(|stored| stored.value.amount).unwrap_or_default();
            let amount = before.plus(SpendingAmount::new(used));
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
        let today = SpendingAccount::day_of(self.tasks.store.now().await?);
        let used = self.tasks.store.spending(today).await?;
        let used = used.map(|stored| stored.value.amount).unwrap_or_default();
        match budget.reached(BudgetScope::Day, used) {
            Some(reached) => self.hold_day(&reached).await,
            None => Ok(()),
        }
    }

    pub async fn hold_day(&self, reached: &BudgetReached) -> Result<(), EngineError> {
        let now = self.tasks.store.now().await?;
        let today = SpendingAccount::day_of(now);
        for agent in self.settings.agents.keys() {
            if self.is_day_released(agent, &today).await? {
                continue;
            }
            let said = format!("{}; work goes on tomorrow", day_is_over(reached));
            let until = Some(end_of_day(now));
            self.hold(&Hold::new(agent.clone(), HoldReason::Budget, &said, now, until)).await?;
        }
        Ok(())
    }

    /// Whether a person has let the agent work on for the rest of this day.
    pub(crate) async fn is_day_released(
        &self,
        agent: &AgentName,
        today: &SpendingAccount,
    ) -> Result<bool, EngineError> {
        let known = self.holds.find(agent).await?;
        Ok(known.is_some_and(|stored| {
            let hold = stored.value;
            hold.why == HoldReason::Budget
                && hold.released.is_some_and(|released| SpendingAccount::day_of(released.at) == *today)
        }))
    }
}

/// What an attempt ends with, and what its agent is held for.
pub fn day_is_over(reached: &BudgetReached) -> String {
    format!("the budget of this day is used up: {reached}")
}

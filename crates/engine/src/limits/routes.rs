//! Which agents and accounts take work now: the settings, what is on hold, and quiet hours.

use std::collections::BTreeMap;

use baton_core::base::text::AgentName;
use baton_core::base::time::Timestamp;
use baton_core::limits::hold::Hold;
use baton_core::limits::spending::{Spending, SpendingAccount, SpendingAmount};
use baton_core::records::change::{Change, Record, WriteGuard};
use baton_core::schedule::AgentRoutes;

use crate::base::error::EngineError;
use crate::limits::Limits;

impl Limits {
    /// Who could take which work now.
    pub async fn routes(&self) -> Result<AgentRoutes, EngineError> {
        let now = self.tasks.store.now().await?;
        let holds = self.holds.active().await?;
        Ok(AgentRoutes { closed: self.closed(&holds, now), now, ..self.settings.routes() })
    }

    /// What is closed, and until when.
    pub fn closed(&self, holds: &[Hold], now: Timestamp) -> BTreeMap<AgentName, Timestamp> {
        let held = holds.iter().map(|hold| (hold.agent.clone(), hold.until.unwrap_or(FOR_EVER)));
        let mut closed: BTreeMap<AgentName, Timestamp> = held.collect();
        for (name, account) in &self.settings.accounts {
            if let Some(until) = account.quiet_until(now) {
                let known = closed.entry(name.clone()).or_insert(until);
                *known = until.max(*known);
            }
        }
        closed
    }

    /// Whether the agent could start nothing now, whatever the task.
    pub async fn is_closed(&self, agent: &AgentName) -> Result<bool, EngineError> {
        Ok(self.routes().await?.is_closed(agent))
    }

    /// Books what a run used on its account, for the day it ended.
    pub async fn charge_account(&self, account: &AgentName, used: SpendingAmount) -> Result<(), EngineError> {
        if used == SpendingAmount::default() {
            return Ok(());
        }
        let mut decision = self.tasks.decision(format_args!("the use of {account}"));
        loop {
            let now = self.tasks.store.now().await?;
            let of_day = SpendingAccount::of_account(account.clone(), now);
            let known = self.tasks.store.spending(of_day.clone()).await?;
            let guard = known.as_ref().map_or(WriteGuard::New, |stored| WriteGuard::Version(stored.version));
            let amount = known.map(|stored| stored.value.amount).unwrap_or_default().plus(used);
            let change = Change::new().put(Record::Spending(Spending { account: of_day, amount }), guard);
            if decision.commit(change).await? {
                return Ok(());
            }
        }
    }
}

/// Of a hold that lasts until a person releases it.
const FOR_EVER: Timestamp = Timestamp::from_ms(i64::MAX);

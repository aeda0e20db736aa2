//! Accounts as people see them: what works on each, whether it takes work, and what was used today.

use std::collections::{BTreeMap, BTreeSet};

use baton_core::base::text::AgentName;
use baton_core::base::time::Timestamp;
use baton_core::limits::hold::{Hold, HoldReason};
use baton_core::limits::spending::{SpendingAccount, SpendingAmount};
use serde::{Deserialize, Serialize};

use crate::base::error::EngineError;
use crate::limits::holds::Holds;
use crate::services::workspace::Workspace;
use crate::settings::Settings;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccountView {
    pub name: AgentName,
    pub provider: Option<String>,
    /// The agents that work on it.
    pub agents: BTreeSet<AgentName>,
    pub state: AccountState,
    /// When it takes work again by itself.
    pub until: Option<Timestamp>,
    /// Why it is on hold.
    pub why: Option<HoldReason>,
    /// What the agent said when it was put on hold.
    pub reason: Option<String>,
    /// Since midnight (UTC), as far as agents report it.
    pub used_today: SpendingAmount,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AccountState {
    Open,
    /// A limit, a login or a person's budget keeps it from work.
    Held,
    /// In its quiet hours.
    Quiet,
}

impl AccountState {
    pub const ALL: [Self; 3] = [Self::Open, Self::Held, Self::Quiet];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Held => "held",
            Self::Quiet => "quiet",
        }
    }
}

/// What all agents used since midnight (UTC), those included that were stopped.
pub async fn used_today(workspace: &Workspace) -> Result<SpendingAmount, EngineError> {
    let store = &workspace.tasks.store;
    let now = store.now().await?;
    let mut used = SpendingAmount::default();
    for name in agents_by_account(&workspace.settings).into_keys() {
        let booked = store.spending(SpendingAccount::of_account(name, now)).await?;
        used = used.plus(booked.map(|stored| stored.value.amount).unwrap_or_default());
    }
    Ok(used)
}

/// Every account of the settings with the agents that work on it. An agent without one has an account of its own name.
fn agents_by_account(settings: &Settings) -> BTreeMap<AgentName, BTreeSet<AgentName>> {
    let mut agents_of: BTreeMap<AgentName, BTreeSet<AgentName>> =
        settings.accounts.keys().map(|name| (name.clone(), BTreeSet::new())).collect();
    for (name, agent) in &settings.agents {
        let own = std::slice::from_ref(name);
        let accounts = if agent.accounts.is_empty() { own } else { &agent.accounts };
        for account in accounts {
            agents_of.entry(account.clone()).or_default().insert(name.clone());
        }
    }
    agents_of
}

pub async fn accounts(workspace: &Workspace) -> Result<Vec<AccountView>, EngineError> {
    let (settings, store) = (&workspace.settings, &workspace.tasks.store);
    let now = store.now().await?;
    let holds = Holds::new(&workspace.tasks).active().await?;
    let mut views = Vec::new();
    for (name, agents) in agents_by_account(settings) {
        let used = store.spending(SpendingAccount::of_account(name.clone(), now)).await?;
        let used_today = used.map(|stored| stored.value.amount).unwrap_or_default();
        let account = settings.accounts.get(&name);
        let hold = hold_on(&holds, &name, &agents);
        let quiet = account.and_then(|account| account.quiet_until(now));
        let (state, until) = match (hold, quiet) {
            (Some(hold), _) => (AccountState::Held, hold.until),
            (None, Some(until)) => (AccountState::Quiet, Some(until)),
            (None, None) => (AccountState::Open, None),
        };
        views.push(AccountView {
            provider: account.and_then(|account| account.provider.clone()),
            agents,
            state,
            until,
            why: hold.map(|hold| hold.why),
            reason: hold.map(|hold| hold.reason.to_string()),
            used_today,
            name,
        });
    }
    Ok(views)
}

/// Its own hold, or one on everybody who works on it.
fn hold_on<'h>(holds: &'h [Hold], name: &AgentName, agents: &BTreeSet<AgentName>) -> Option<&'h Hold> {
    let of = |wanted: &AgentName| holds.iter().find(|hold| hold.agent == *wanted);
    let all_held = !agents.is_empty() && agents.iter().all(|agent| of(agent).is_some());
    of(name).or_else(|| agents.first().filter(|_| all_held).and_then(of))
}

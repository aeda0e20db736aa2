//! Holds: what keeps an agent from being given work, placed by failures and budgets, lifted by time or by a person.

use crate::base::error::{Entity, NotFound};
use std::collections::BTreeMap;

use baton_agents::failure::{AgentFailure, FailureKind, Remedy};
use baton_core::base::text::AgentName;
use baton_core::base::time::Timestamp;
use baton_core::limits::hold::{Hold, HoldReason};
use baton_core::people::actor::Actor;
use baton_core::records::change::Versioned;
use baton_core::schedule::{AgentIntake, AgentPlace};

use crate::base::error::Result;
use crate::limits::intakes::Intakes;
use crate::tasks::service::TaskService;

/// Places, releases and lists holds.
#[derive(Clone)]
pub struct Holds {
    tasks: TaskService,
}

impl Holds {
    pub fn new(tasks: &TaskService) -> Self {
        Self { tasks: tasks.clone() }
    }

    /// The holds that are active now.
    pub async fn active(&self) -> Result<Vec<Hold>> {
        let now = self.tasks.store.now().await?;
        let all = self.tasks.store.holds().await?.into_iter().map(|stored| stored.value);
        Ok(all.filter(|hold| hold.is_active(now)).collect())
    }

    pub(crate) async fn find(&self, agent: &AgentName) -> Result<Option<Versioned<Hold>>> {
        Ok(self.tasks.store.holds().await?.into_iter().find(|stored| stored.value.agent == *agent))
    }

    /// True when it is news.
    pub(crate) async fn place(&self, hold: &Hold) -> Result<bool> {
        let mut decision = self.tasks.decision(format_args!("the hold on {}", hold.agent));
        loop {
            let known = self.find(&hold.agent).await?;
            let Some(change) = hold.place(known.as_ref()) else { return Ok(false) };
            if decision.commit(change).await? {
                return Ok(true);
            }
        }
    }

    /// A person says that the agent may go on.
    pub async fn release(&self, agent: &AgentName, actor: Actor) -> Result<Hold> {
        let mut decision = self.tasks.decision(format_args!("the hold on {agent}"));
        loop {
            let now = self.tasks.store.now().await?;
            let not_held = || NotFound::new(Entity::Hold, format!("on {agent}"));
            let stored = self.find(agent).await?.filter(|stored| stored.value.is_active(now));
            let stored = stored.ok_or_else(not_held)?;
            if decision.commit(Hold::release(&stored, now, actor.clone())).await? {
                return Ok(stored.value);
            }
        }
    }

    /// The time of a hold has come. One that was made longer meanwhile has a timer of its own.
    pub(crate) async fn expire(&self, agent: &AgentName) -> Result<()> {
        let now = self.tasks.store.now().await?;
        let Some(stored) = self.find(agent).await? else { return Ok(()) };
        if stored.value.released.is_some() || stored.value.is_active(now) {
            return Ok(());
        }
        // A hold that changed meanwhile has a timer of its own.
        self.tasks.decision(agent).try_commit(Hold::release(&stored, now, Actor::Baton)).await?;
        Ok(())
    }

    /// What the claim has to know of them. A person who released one wants the next failure to count as the first.
    pub(crate) async fn intakes(&self, intakes: &Intakes) -> Result<BTreeMap<AgentName, AgentIntake>> {
        let mut held = BTreeMap::new();
        for Hold { agent, until, released, .. } in
            self.tasks.store.holds().await?.into_iter().map(|one| one.value)
        {
            match released {
                None => {
                    let until = until.unwrap_or(Timestamp::from_ms(i64::MAX));
                    held.insert(agent, AgentIntake::held_until(until));
                }
                Some(released) if matches!(released.by, Actor::Human { .. }) => {
                    intakes.forgive(&agent, released.at);
                }
                Some(_) => {}
            }
        }
        Ok(held)
    }
}

/// The hold that a failure calls for; none where it is about one conversation, or where one failure says nothing yet.
///
/// A limit or a login is the account's; what keeps the provider from answering is the same on every account of the agent.
pub fn hold_for(
    agent: &AgentName,
    account: Option<&AgentName>,
    failure: &AgentFailure,
    now: Timestamp,
) -> Option<Hold> {
    // One model's limit leaves the account to other agents, and the agent to other accounts.
    let on_account = account.and_then(|account| AgentPlace::hold_name(agent, account));
    let account = account.unwrap_or(agent);
    let place = on_account.as_ref().unwrap_or(account);
    let (held, why) = match failure.kind {
        FailureKind::RateLimit if failure.is_of_model => (place, HoldReason::RateLimit),
        FailureKind::RateLimit => (account, HoldReason::RateLimit),
        FailureKind::Quota => (account, HoldReason::Quota),
        FailureKind::Authentication => (account, HoldReason::Authentication),
        FailureKind::Overload => (agent, HoldReason::Overload),
        FailureKind::Network => (agent, HoldReason::Network),
        // A program may fail to start by chance; it is held when that happens twice in a row.
        FailureKind::CrashAtStart | FailureKind::ContextOverflow | FailureKind::BrokenSession => return None,
    };
    let until = match failure.remedy(now) {
        Remedy::HoldUntil(until) => Some(until),
        Remedy::HoldForHuman => None,
        Remedy::NewSession => return None,
    };
    let said = format!("{failure}\n{}", baton_core::base::redact::redact(&failure.message));
    Some(Hold::new(held.clone(), why, &said, now, until))
}

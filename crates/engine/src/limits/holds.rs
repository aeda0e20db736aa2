//! Holds: what keeps an agent from being given work, placed by failures and budgets, lifted by time or by a person.

use crate::base::error::{Entity, NotFound};
use std::collections::BTreeMap;

use baton_agents::failure::{AgentFailure, FailureKind, Remedy};
use baton_core::base::text::AgentName;
use baton_core::base::time::Timestamp;
use baton_core::limits::hold::{Hold, HoldReason};
use baton_core::people::actor::Actor;
use baton_core::records::change::Versioned;
use baton_core::schedule::AgentIntake;

use crate::limits::intakes::Intakes;
use crate::tasks::service::{Answer, TaskService};

impl TaskService {
    /// Those that are on now.
    pub async fn holds(&self) -> Answer<Vec<Hold>> {
        let now = self.store.now().await?;
        let all = self.store.holds().await?.into_iter().map(|stored| stored.value);
        Ok(all.filter(|hold| hold.is_active(now)).collect())
    }

    pub(crate) async fn hold_of(&self, agent: &AgentName) -> Answer<Option<Versioned<Hold>>> {
        Ok(self.store.holds().await?.into_iter().find(|stored| stored.value.agent == *agent))
    }

    /// True when it is news.
    pub(crate) async fn place_hold(&self, hold: &Hold) -> Answer<bool> {
        let mut decision = self.decision(format_args!("the hold on {}", hold.agent));
        loop {
            let known = self.hold_of(&hold.agent).await?;
            let Some(change) = hold.place(known.as_ref()) else { return Ok(false) };
            if decision.commit(change).await? {
                return Ok(true);
            }
        }
    }

    /// A person says that the agent may go on.
    pub async fn release_hold(&self, agent: &AgentName, actor: Actor) -> Answer<Hold> {
        let mut decision = self.decision(format_args!("the hold on {agent}"));
        loop {
            let now = self.store.now().await?;
            let not_held = || NotFound::new(Entity::Hold, format!("on {agent}"));
            let stored = self.hold_of(agent).await?.filter(|stored| stored.value.is_active(now));
            let stored = stored.ok_or_else(not_held)?;
            if decision.commit(Hold::release(&stored, now, actor.clone())).await? {
                return Ok(stored.value);
            }
        }
    }

    /// The time of a hold has come. One that was made longer meanwhile has a timer of its own.
    pub(crate) async fn end_hold(&self, agent: &AgentName) -> Answer<()> {
        let now = self.store.now().await?;
        let Some(stored) = self.hold_of(agent).await? else { return Ok(()) };
        if stored.value.released.is_some() || stored.value.is_active(now) {
            return Ok(());
        }
        // A hold that changed meanwhile has a timer of its own.
        self.decision(agent).try_commit(Hold::release(&stored, now, Actor::Baton)).await?;
        Ok(())
    }

    /// What the claim has to know of them. A person who released one wants the next failure to count as the first.
    pub(crate) async fn held_intakes(&self, intakes: &Intakes) -> Answer<BTreeMap<AgentName, AgentIntake>> {
        let mut held = BTreeMap::new();
        for Hold { agent, until, released, .. } in self.store.holds().await?.into_iter().map(|one| one.value)
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
pub fn hold_for(agent: &AgentName, failure: &AgentFailure, now: Timestamp) -> Option<Hold> {
    let why = match failure.kind {
        FailureKind::RateLimit => HoldReason::RateLimit,
        FailureKind::Quota => HoldReason::Quota,
        FailureKind::Authentication => HoldReason::Authentication,
        FailureKind::Overload => HoldReason::Overload,
        FailureKind::Network => HoldReason::Network,
        // A program may fail to start by chance. The second time in a row it rests, like after any other failure.
        FailureKind::CrashAtStart | FailureKind::ContextOverflow => return None,
    };
    let until = match failure.remedy(now) {
        Remedy::HoldUntil(until) => Some(until),
        Remedy::HoldForHuman => None,
        Remedy::NewSession => return None,
    };
    let said = format!("{failure}\n{}", baton_core::base::redact::redact(&failure.message));
    Some(Hold::new(agent.clone(), why, &said, now, until))
}

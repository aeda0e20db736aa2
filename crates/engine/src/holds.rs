//! Holds: what keeps an agent from being given work, placed by failures and budgets, lifted by time or by a person.

use std::collections::BTreeMap;

use baton_agents::failure::{Failure, FailureKind, Remedy};
use baton_core::actor::Actor;
use baton_core::change::Stored;
use baton_core::hold::{Hold, HoldReason};
use baton_core::schedule::Intake;
use baton_core::text::AgentName;
use baton_core::time::Timestamp;
use baton_store::model::commit::{Commit, Conflict};

use crate::desk::{Answer, DECISIONS_MAX, Desk};
use crate::error::EngineError;
use crate::intakes::Intakes;

impl Desk {
    /// Those that are on now.
    pub async fn holds(&self) -> Answer<Vec<Hold>> {
        let now = self.store.now().await?;
        let all = self.store.holds().await?.into_iter().map(|stored| stored.value);
        Ok(all.filter(|hold| hold.is_on(now)).collect())
    }

    pub(crate) async fn hold_of(&self, agent: &AgentName) -> Answer<Option<Stored<Hold>>> {
        Ok(self.store.holds().await?.into_iter().find(|stored| stored.value.agent == *agent))
    }

    /// True when it is news.
    pub(crate) async fn place_hold(&self, hold: &Hold) -> Answer<bool> {
        for _ in 0..DECISIONS_MAX {
            let known = self.hold_of(&hold.agent).await?;
            let Some(change) = hold.placed(known.as_ref()) else { return Ok(false) };
            match self.store.commit(change).await? {
                Commit::Written { .. } => return Ok(true),
                Commit::Conflict(Conflict::Moved { .. }) => {}
                Commit::Conflict(conflict) => return Err(EngineError::Dependency(conflict)),
            }
        }
        Ok(false)
    }

    /// A person says that the agent may go on.
    pub async fn release_hold(&self, agent: &AgentName, actor: Actor) -> Answer<Hold> {
        for _ in 0..DECISIONS_MAX {
            let now = self.store.now().await?;
            let not_held = || EngineError::NotFound { kind: "hold", key: format!("on {agent}") };
            let stored = self.hold_of(agent).await?.filter(|stored| stored.value.is_on(now));
            let stored = stored.ok_or_else(not_held)?;
            match self.store.commit(Hold::lifted(&stored, now, actor.clone())).await? {
                Commit::Written { .. } => return Ok(stored.value),
                Commit::Conflict(Conflict::Moved { .. }) => {}
                Commit::Conflict(conflict) => return Err(EngineError::Dependency(conflict)),
            }
        }
        Err(EngineError::NotFound { kind: "hold", key: format!("on {agent}") })
    }

    /// The time of a hold has come. One that was made longer meanwhile has a timer of its own.
    pub(crate) async fn end_hold(&self, agent: &AgentName) -> Answer<()> {
        let now = self.store.now().await?;
        let Some(stored) = self.hold_of(agent).await? else { return Ok(()) };
        if stored.value.released.is_some() || stored.value.is_on(now) {
            return Ok(());
        }
        match self.store.commit(Hold::lifted(&stored, now, Actor::Baton)).await? {
            // Whoever moved it has said all there is to say.
            Commit::Written { .. } | Commit::Conflict(Conflict::Moved { .. }) => Ok(()),
            Commit::Conflict(conflict) => Err(EngineError::Dependency(conflict)),
        }
    }

    /// What the claim has to know of them. A person who released one wants the next failure to count as the first.
    pub(crate) async fn held_intakes(&self, intakes: &Intakes) -> Answer<BTreeMap<AgentName, Intake>> {
        let mut held = BTreeMap::new();
        for Hold { agent, until, released, .. } in self.store.holds().await?.into_iter().map(|one| one.value)
        {
            match released {
                None => {
                    let until = until.unwrap_or(Timestamp::from_ms(i64::MAX));
                    held.insert(agent, Intake::held_until(until));
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
pub fn hold_for(agent: &AgentName, failure: &Failure, now: Timestamp) -> Option<Hold> {
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
    let said = format!("{failure}\n{}", baton_core::redact::redact(&failure.said));
    Some(Hold::new(agent.clone(), why, &said, now, until))
}

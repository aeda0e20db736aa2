//! Who calls a tool. An attempt is identified by its secret, never by anything a model could make up.

use baton_core::base::id::{AttemptId, TaskId};
use baton_core::people::actor::Actor;
use baton_core::people::role::PersonRole;
use baton_core::people::toolset::{ClientPowers, ToolClient};
use baton_engine::base::attempt_secret::AttemptSecret;

#[derive(Debug, Clone)]
pub enum Caller {
    /// A person's own client, with what they let it decide.
    Person { name: String, role: PersonRole, powers: ClientPowers },
    /// The agent of a live attempt.
    Attempt { secret: AttemptSecret, task: TaskId, is_breakdown: bool },
}

impl Caller {
    pub fn client(&self) -> ToolClient {
        match self {
            Self::Person { powers, .. } => ToolClient::Person { powers: *powers },
            Self::Attempt { is_breakdown, .. } => ToolClient::Attempt { is_breakdown: *is_breakdown },
        }
    }

    pub fn actor(&self) -> Actor {
        match self {
            Self::Person { name, .. } => Actor::human(name.clone()),
            Self::Attempt { secret, .. } => Actor::Agent { attempt: secret.attempt() },
        }
    }

    /// Whether the role suffices. Agents may use whatever they are offered.
    pub fn may(&self, needed: PersonRole) -> bool {
        match self {
            Self::Person { role, .. } => role.may(needed),
            Self::Attempt { .. } => true,
        }
    }

    pub fn attempt(&self) -> Option<AttemptId> {
        match self {
            Self::Person { .. } => None,
            Self::Attempt { secret, .. } => Some(secret.attempt()),
        }
    }
}

//! A person's token: who they are, what they may do, and until when. The secret itself is shown once and never comes
//! here; what is kept are digests of it.

pub mod explained;
use serde::{Deserialize, Serialize};

use crate::base::text::PersonName;
use crate::base::time::Timestamp;
use crate::people::actor::Actor;
use crate::people::owner_token::OwnerToken;
use crate::people::role::PersonRole;

/// One for each name at most; a new one takes the place of one that is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccessToken {
    pub name: PersonName,
    pub role: PersonRole,
    /// Of the secret.
    pub digest: OwnerToken,
    /// Of what a browser keeps in its place. It is another one, so that who reads the store can show neither.
    pub browser_digest: OwnerToken,
    pub created_at: Timestamp,
    pub created_by: Actor,
    /// None for one that lasts until it is revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked: Option<Revoked>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revoked {
    pub at: Timestamp,
    pub by: Actor,
}

/// Why a token cannot be made or taken back.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TokenRefusal {
    #[error("{0} has a token already")]
    Taken(PersonName),
    #[error("a token that ends at {0} would be over before it is shown")]
    Over(Timestamp),
    #[error("there are {0} tokens, which is as many as there may be")]
    TooMany(usize),
}

impl AccessToken {
    /// Names that ever had a token; each is a row that a list shows.
    pub const COUNT_MAX: usize = 1_000;

    /// Whether its holder is let in now.
    pub fn is_good(&self, now: Timestamp) -> bool {
        self.revoked.is_none() && self.expires_at.is_none_or(|end| now < end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stored_form_is_stable() {
        let token = AccessToken {
            name: "ada".parse().unwrap(),
            role: PersonRole::Responder,
            digest: OwnerToken::from_digest([1; 32]),
            browser_digest: OwnerToken::from_digest([2; 32]),
            created_at: Timestamp::from_ms(0),
            created_by: Actor::human("mia"),
            expires_at: None,
            revoked: None,
        };
        let stored = serde_json::to_value(&token).unwrap();
        assert_eq!(stored["role"], "responder");
        assert_eq!(serde_json::from_value::<AccessToken>(stored).unwrap(), token);
    }
}

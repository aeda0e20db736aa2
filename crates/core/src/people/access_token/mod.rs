//! A person's access token: who they are, what they may do, and until when. The secret is shown once and never enters
//! core; only digests are stored.

pub mod explained;
use serde::{Deserialize, Serialize};

use crate::base::text::PersonName;
use crate::base::time::Timestamp;
use crate::people::actor::Actor;
use crate::people::owner_token::OwnerToken;
use crate::people::role::PersonRole;

/// At most one valid token per name; a new one replaces an expired or revoked one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccessToken {
    pub name: PersonName,
    pub role: PersonRole,
    /// Digest of the secret.
    pub digest: OwnerToken,
    /// Digest of the browser's session secret. It differs from `digest`, so that a reader of the store can present
    /// neither.
    pub browser_digest: OwnerToken,
    pub created_at: Timestamp,
    pub created_by: Actor,
    /// `None` for a token that does not expire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked: Option<Revocation>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revocation {
    pub at: Timestamp,
    pub by: Actor,
}

/// Why a token cannot be issued.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TokenRefusal {
    #[error("{0} already has a token")]
    Taken(PersonName),
    #[error("the token would already have expired at {0}")]
    Over(Timestamp),
    #[error("there are already {0} tokens, which is the limit")]
    TooMany(usize),
}

impl AccessToken {
    /// Names that ever had a token; each is a row in the list.
    pub const COUNT_MAX: usize = 1_000;

    /// Whether the token grants access now.
    pub fn is_valid(&self, now: Timestamp) -> bool {
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

//! Issuing and revoking a person's token.

use crate::base::time::Timestamp;
use crate::people::access_token::{AccessToken, Revocation, TokenRefusal};
use crate::people::actor::Actor;
use crate::records::change::{Change, Record, Versioned, WriteGuard};
use crate::records::event::{Event, EventBody};

impl AccessToken {
    /// The change that issues the token; `known` is the last token of that name.
    pub fn issue(&self, known: Option<&Versioned<Self>>, count: usize) -> Result<Change, TokenRefusal> {
        let now = self.created_at;
        if known.is_some_and(|stored| stored.value.is_valid(now)) {
            return Err(TokenRefusal::Taken(self.name.clone()));
        }
        if let Some(end) = self.expires_at.filter(|end| *end <= now) {
            return Err(TokenRefusal::Over(end));
        }
        if known.is_none() && count >= Self::COUNT_MAX {
            return Err(TokenRefusal::TooMany(count));
        }
        let guard = known.map_or(WriteGuard::New, |stored| WriteGuard::Version(stored.version));
        let mut change = Change::new().put(Record::AccessToken(Box::new(self.clone())), guard);
        let body =
            EventBody::TokenCreated { name: self.name.clone(), role: self.role, expires_at: self.expires_at };
        change.events.push(Event { at: now, by: self.created_by.clone(), body });
        Ok(change)
    }

    /// The change that revokes the token.
    pub fn revoke(stored: &Versioned<Self>, now: Timestamp, by: Actor) -> Change {
        let mut token = stored.value.clone();
        let name = token.name.clone();
        token.revoked = Some(Revocation { at: now, by: by.clone() });
        let mut change =
            Change::new().put(Record::AccessToken(Box::new(token)), WriteGuard::Version(stored.version));
        change.events.push(Event { at: now, by, body: EventBody::TokenRevoked { name } });
        change
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::people::owner_token::OwnerToken;
    use crate::people::role::PersonRole;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_ms(ms)
    }

    fn token(created: i64, expires: Option<i64>) -> AccessToken {
        AccessToken {
            name: "ada".parse().unwrap(),
            role: PersonRole::Responder,
            digest: OwnerToken::from_digest([1; 32]),
            browser_digest: OwnerToken::from_digest([2; 32]),
            created_at: at(created),
            created_by: Actor::human("mia"),
            expires_at: expires.map(at),
            revoked: None,
        }
    }

    #[test]
    fn a_token_is_valid_until_it_expires_or_is_revoked() {
        assert!(token(0, Some(10)).is_valid(at(9)) && !token(0, Some(10)).is_valid(at(10)));
        let stored = Versioned { version: 3, value: token(0, None) };
        let change = AccessToken::revoke(&stored, at(5), Actor::human("mia"));
        let Record::AccessToken(revoked) = &change.puts[0].record else { panic!("{change:?}") };
        assert!(!revoked.is_valid(at(5)));
        assert_eq!(change.puts[0].guard, WriteGuard::Version(3));
    }

    #[test]
    fn a_name_has_one_valid_token_at_a_time() {
        let known = Versioned { version: 1, value: token(0, Some(10)) };
        assert_eq!(token(5, None).issue(Some(&known), 1), Err(TokenRefusal::Taken("ada".parse().unwrap())));
        assert!(token(10, None).issue(Some(&known), 1).is_ok(), "the old one is over");
        assert_eq!(token(5, Some(5)).issue(None, 0), Err(TokenRefusal::Over(at(5))));
        let full = AccessToken::COUNT_MAX;
        assert_eq!(token(5, None).issue(None, full), Err(TokenRefusal::TooMany(full)));
    }
}

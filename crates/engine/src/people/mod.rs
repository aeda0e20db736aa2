//! People and their tokens: handed out once, kept as digests, looked up at every visit.

mod secret;

use baton_core::access_token::AccessToken;
use baton_core::actor::Actor;
use baton_core::change::Stored;
use baton_core::person_role::PersonRole;
use baton_core::text::PersonName;
use baton_core::time::Timestamp;
use baton_store::model::commit::{Commit, Conflict};

pub use self::secret::{BadPersonSecret, BrowserSecret, PersonSecret};
use crate::desk::{Answer, DECISIONS_MAX, Desk};
use crate::error::EngineError;

impl Desk {
    /// All that were ever handed out, by name.
    pub async fn access_tokens(&self) -> Answer<Vec<AccessToken>> {
        Ok(self.store.access_tokens().await?.into_iter().map(|stored| stored.value).collect())
    }

    /// A token for a person, and its secret, which is nowhere else.
    pub async fn create_access_token(
        &self,
        name: &PersonName,
        role: PersonRole,
        expires_at: Option<Timestamp>,
        actor: Actor,
    ) -> Answer<(AccessToken, PersonSecret)> {
        let secret = PersonSecret::draw(name.clone());
        for _ in 0..DECISIONS_MAX {
            let known = self.store.access_tokens().await?;
            let token = AccessToken {
                name: name.clone(),
                role,
                digest: secret.digest(),
                browser_digest: secret.for_browser().digest(),
                created_at: self.store.now().await?,
                created_by: actor.clone(),
                expires_at,
                revoked: None,
            };
            let last = known.iter().find(|stored| stored.value.name == *name);
            let change = token.handed_out(last, known.len())?;
            match self.store.commit(change).await? {
                Commit::Written { .. } => return Ok((token, secret)),
                Commit::Conflict(Conflict::Moved { .. }) => {}
                Commit::Conflict(conflict) => return Err(EngineError::Dependency(conflict)),
            }
        }
        Err(EngineError::TokenRestless { name: name.clone() })
    }

    /// Takes it back, at once and for good.
    pub async fn revoke_access_token(&self, name: &PersonName, actor: Actor) -> Answer<AccessToken> {
        for _ in 0..DECISIONS_MAX {
            let now = self.store.now().await?;
            let stored = self.good(name, now).await?;
            let stored =
                stored.ok_or_else(|| EngineError::NotFound { kind: "token", key: format!("of {name}") })?;
            match self.store.commit(AccessToken::taken_back(&stored, now, actor.clone())).await? {
                Commit::Written { .. } => return Ok(stored.value),
                Commit::Conflict(Conflict::Moved { .. }) => {}
                Commit::Conflict(conflict) => return Err(EngineError::Dependency(conflict)),
            }
        }
        Err(EngineError::TokenRestless { name: name.clone() })
    }

    /// Whose secret this is, while their token is good.
    pub async fn person_with(&self, secret: &PersonSecret) -> Answer<Option<AccessToken>> {
        let found = self.good(secret.name(), self.store.now().await?).await?;
        Ok(found.map(|stored| stored.value).filter(|token| token.digest == secret.digest()))
    }

    /// The same for what a browser keeps.
    pub async fn person_at_browser(&self, secret: &BrowserSecret) -> Answer<Option<AccessToken>> {
        let found = self.good(secret.name(), self.store.now().await?).await?;
        Ok(found.map(|stored| stored.value).filter(|token| token.browser_digest == secret.digest()))
    }

    /// Whether the very token somebody came in with is still good.
    pub async fn is_still_good(&self, token: &AccessToken) -> Answer<bool> {
        let found = self.good(&token.name, self.store.now().await?).await?;
        Ok(found.is_some_and(|stored| stored.value.digest == token.digest))
    }

    async fn good(&self, name: &PersonName, now: Timestamp) -> Answer<Option<Stored<AccessToken>>> {
        Ok(self.store.access_token(name).await?.filter(|stored| stored.value.is_good(now)))
    }
}

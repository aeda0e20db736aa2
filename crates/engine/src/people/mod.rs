//! What belongs to one person: their access tokens, of which the secret is shown once and only digests are stored, and which
//! folders they trust to start programs and to open the fence.

pub mod folder_trust;
mod secret;
mod settings_grants;

use baton_core::base::text::PersonName;
use baton_core::base::time::Timestamp;
use baton_core::people::access_token::AccessToken;
use baton_core::people::actor::Actor;
use baton_core::people::role::PersonRole;
use baton_core::records::change::Versioned;

use crate::base::error::{Entity, NotFound, Result};
pub use crate::people::secret::{BrowserSecret, InvalidPersonSecret, PersonSecret};
use crate::tasks::service::TaskService;

/// Creates, revokes and checks the access tokens of people.
#[derive(Clone)]
pub struct AccessTokens {
    tasks: TaskService,
}

impl AccessTokens {
    pub fn new(tasks: &TaskService) -> Self {
        Self { tasks: tasks.clone() }
    }

    /// All tokens ever created, sorted by name.
    pub async fn list(&self) -> Result<Vec<AccessToken>> {
        Ok(self.tasks.store.access_tokens().await?.into_iter().map(|stored| stored.value).collect())
    }

    /// Creates a token. Its secret is not stored.
    pub async fn create(
        &self,
        name: &PersonName,
        role: PersonRole,
        expires_at: Option<Timestamp>,
        actor: Actor,
    ) -> Result<(AccessToken, PersonSecret)> {
        let secret = PersonSecret::generate(name.clone());
        let mut decision = self.tasks.decision(format_args!("the token of {name}"));
        loop {
            let known = self.tasks.store.access_tokens().await?;
            let token = AccessToken {
                name: name.clone(),
                role,
                digest: secret.digest(),
                browser_digest: secret.for_browser().digest(),
                created_at: self.tasks.store.now().await?,
                created_by: actor.clone(),
                expires_at,
                revoked: None,
            };
            let last = known.iter().find(|stored| stored.value.name == *name);
            let change = token.issue(last, known.len())?;
            if decision.commit(change).await? {
                return Ok((token, secret));
            }
        }
    }

    pub async fn revoke(&self, name: &PersonName, actor: Actor) -> Result<AccessToken> {
        let mut decision = self.tasks.decision(format_args!("the token of {name}"));
        loop {
            let now = self.tasks.store.now().await?;
            let stored = self.find_valid(name, now).await?;
            let stored = stored.ok_or_else(|| NotFound::new(Entity::Token, format!("of {name}")))?;
            if decision.commit(AccessToken::revoke(&stored, now, actor.clone())).await? {
                return Ok(stored.value);
            }
        }
    }

    /// The valid token with this secret.
    pub async fn find(&self, secret: &PersonSecret) -> Result<Option<AccessToken>> {
        let found = self.find_valid(secret.name(), self.tasks.store.now().await?).await?;
        Ok(found.map(|stored| stored.value).filter(|token| token.digest == secret.digest()))
    }

    /// The valid token with this browser cookie.
    pub async fn find_by_cookie(&self, secret: &BrowserSecret) -> Result<Option<AccessToken>> {
        let found = self.find_valid(secret.name(), self.tasks.store.now().await?).await?;
        Ok(found.map(|stored| stored.value).filter(|token| token.browser_digest == secret.digest()))
    }

    /// Whether a token that was valid before still is.
    pub async fn is_valid(&self, token: &AccessToken) -> Result<bool> {
        let found = self.find_valid(&token.name, self.tasks.store.now().await?).await?;
        Ok(found.is_some_and(|stored| stored.value.digest == token.digest))
    }

    async fn find_valid(&self, name: &PersonName, now: Timestamp) -> Result<Option<Versioned<AccessToken>>> {
        Ok(self.tasks.store.access_token(name).await?.filter(|stored| stored.value.is_valid(now)))
    }
}

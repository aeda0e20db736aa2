//! Who makes a request: the owner of the server, or a person with a token of their own. The door finds out once; what
//! is done is done in that name.

use std::future::pending;
use std::ops::Deref;
use std::time::Duration;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName};
use baton_core::access_token::AccessToken;
use baton_core::actor::Actor;
use baton_core::answer_source::AnsweredBy;
use baton_core::event::EventBody;
use baton_core::person_role::PersonRole;
use baton_engine::Recorded;
use baton_engine::people::PersonSecret;
use tokio::time::sleep;

use crate::http::error::{ApiError, Code, Result};
use crate::http::guard::bearer;
use crate::http::roles;
use crate::state::App;

/// Under which name the owner acts. Whoever holds the server's own token is known by no other name than they give.
pub static PERSON: HeaderName = HeaderName::from_static("x-baton-person");
/// Longest name that is taken over.
const NAME_CHARS_MAX: usize = 64;

/// Somebody who was let in.
#[derive(Debug, Clone)]
pub struct Principal {
    pub name: String,
    pub role: PersonRole,
    /// What they came in with; none for the owner of the server.
    token: Option<Box<AccessToken>>,
}

impl Principal {
    /// Whoever started the server, or holds its own token.
    pub fn owner(name: impl Into<String>) -> Self {
        Self { name: name.into(), role: PersonRole::Operator, token: None }
    }

    fn from_token(token: AccessToken) -> Self {
        Self { name: token.name.to_string(), role: token.role, token: Some(Box::new(token)) }
    }

    pub fn check(&self, needed: PersonRole, what: &str) -> Result<()> {
        roles::check(self.role, needed, what)
    }

    /// Whether what happened ends this visit: their token was taken back.
    pub fn is_revoked_by(&self, recorded: &Recorded) -> bool {
        let (Some(token), EventBody::TokenRevoked { name }) = (&self.token, &recorded.event.body) else {
            return false;
        };
        // An earlier token of the same name may have been taken back before.
        *name == token.name && recorded.event.at >= token.created_at
    }

    /// Comes when their time is over; never for those who have no end.
    pub async fn expired(&self, app: &App) {
        let Some(end) = self.token.as_ref().and_then(|token| token.expires_at) else {
            return pending().await;
        };
        // A store that does not answer tells the stream itself soon enough.
        let now = app.desk().store.now().await.unwrap_or(end);
        sleep(Duration::from_millis(end.ms_since(now).unsigned_abs())).await;
    }

    /// For those who stay: whether they would be let in again.
    pub async fn is_still_valid(&self, app: &App) -> Result<bool> {
        match &self.token {
            Some(token) => Ok(app.desk().is_still_good(token).await?),
            None => Ok(true),
        }
    }
}

/// Finds out who it is. A person's token counts wherever it is shown; the server's own where one is needed.
pub async fn identify(app: &App, headers: &HeaderMap) -> Result<Principal> {
    if let Some(given) = bearer(headers)
        && PersonSecret::is_meant(given)
    {
        return find_holder(app, given).await;
    }
    if let Some(secret) = app.guard.browser_secret(headers)
        && let Some(token) = app.desk().person_at_browser(&secret).await?
    {
        return Ok(Principal::from_token(token));
    }
    app.guard.check_token(headers)?;
    Ok(owner_named(app, headers))
}

/// The same for a token that came another way.
pub async fn identify_token(app: &App, given: Option<&str>) -> Result<Principal> {
    match given.filter(|given| PersonSecret::is_meant(given)) {
        Some(given) => find_holder(app, given).await,
        None => app.guard.check_token_text(given).map(|()| Principal::owner(app.person.clone())),
    }
}

async fn find_holder(app: &App, given: &str) -> Result<Principal> {
    let found = match given.parse::<PersonSecret>() {
        Ok(secret) => app.desk().person_with(&secret).await?,
        Err(_) => None,
    };
    found.map(Principal::from_token).ok_or_else(|| {
        ApiError::new(
            Code::Unauthorized,
            "this token is not good, or not any more",
            "ask an operator for another one: baton token create NAME --role viewer",
        )
    })
}

fn owner_named(app: &App, headers: &HeaderMap) -> Principal {
    let given = headers.get(&PERSON).and_then(|value| std::str::from_utf8(value.as_bytes()).ok());
    let is_name = |name: &&str| {
        !name.trim().is_empty()
            && name.chars().count() <= NAME_CHARS_MAX
            && !name.chars().any(char::is_control)
    };
    Principal::owner(given.filter(is_name).unwrap_or(&app.person))
}

/// The server as one visitor sees it: what is done through it is done in their name.
pub struct AuthedApp {
    app: App,
    pub principal: Principal,
}

impl AuthedApp {
    pub fn new(app: App, principal: Principal) -> Self {
        Self { app, principal }
    }

    pub fn actor(&self) -> Actor {
        Actor::human(self.principal.name.clone())
    }

    pub fn answered_by(&self) -> AnsweredBy {
        AnsweredBy::human(self.principal.name.clone())
    }
}

impl Deref for AuthedApp {
    type Target = App;

    fn deref(&self) -> &App {
        &self.app
    }
}

impl FromRequestParts<App> for AuthedApp {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let principal = parts.extensions.get::<Principal>().cloned();
        // The door puts it there. A way around the door must not lead in.
        let principal = principal.ok_or_else(|| {
            ApiError::new(
                Code::Internal,
                "nobody knows who asks",
                "this is a mistake in Baton; please report it",
            )
        })?;
        Ok(Self::new(app.clone(), principal))
    }
}

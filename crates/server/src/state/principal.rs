//! Who makes a request: the server's owner, or a person with an access token. Determined once per request; actions are
//! recorded under that name.

use std::future::pending;
use std::ops::Deref;
use std::time::Duration;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName};
use baton_core::ask::answer_source::AnsweredBy;
use baton_core::base::id::AttemptId;
use baton_core::people::access_token::AccessToken;
use baton_core::people::actor::Actor;
use baton_core::people::role::PersonRole;
use baton_core::records::event::EventBody;
use baton_engine::StoredEvent;
use baton_engine::asking::MessageSender;
use baton_engine::people::AccessTokens;
use baton_engine::people::PersonSecret;
use tokio::time::sleep;

use crate::http::error::{ApiError, Code, Result};
use crate::http::guard::bearer;
use crate::http::roles;
use crate::state::App;

/// The name the owner acts under. Holders of the server's token may choose one.
pub(crate) static PERSON: HeaderName = HeaderName::from_static("x-baton-person");
/// Longest name accepted from the header.
const NAME_CHARS_MAX: usize = 64;

/// An authenticated person.
#[derive(Debug, Clone)]
pub struct Principal {
    pub name: String,
    pub role: PersonRole,
    /// None for the server's owner.
    token: Option<Box<AccessToken>>,
    /// Set for a process of an attempt: what it does is not a person's doing.
    attempt: Option<AttemptId>,
}

impl Principal {
    /// The person who started the server, or who holds its token.
    pub fn owner(name: impl Into<String>) -> Self {
        Self { name: name.into(), role: PersonRole::Operator, token: None, attempt: None }
    }

    /// A process of an attempt, for the few calls that agents may make.
    pub(crate) fn agent(attempt: AttemptId) -> Self {
        Self { name: attempt.to_string(), role: PersonRole::Operator, token: None, attempt: Some(attempt) }
    }

    fn from_token(token: AccessToken) -> Self {
        Self { name: token.name.to_string(), role: token.role, token: Some(Box::new(token)), attempt: None }
    }

    pub fn check(&self, needed: PersonRole, what: &str) -> Result<()> {
        roles::check(self.role, needed, what)
    }

    /// Whether the event revokes this person's token.
    pub fn is_revoked_by(&self, recorded: &StoredEvent) -> bool {
        let (Some(token), EventBody::TokenRevoked { name }) = (&self.token, &recorded.event.body) else {
            return false;
        };
        // An older token of the same name may have been revoked earlier.
        *name == token.name && recorded.event.at >= token.created_at
    }

    /// Resolves when the token expires; never for tokens that do not.
    pub async fn expired(&self, app: &App) {
        let Some(end) = self.token.as_ref().and_then(|token| token.expires_at) else {
            return pending().await;
        };
        // If the store is unreachable, the stream itself will fail soon.
        let now = app.tasks().store.now().await.unwrap_or(end);
        sleep(Duration::from_millis(end.ms_since(now).unsigned_abs())).await;
    }

    /// For long-lived connections: whether the token is still valid.
    pub async fn is_still_valid(&self, app: &App) -> Result<bool> {
        match &self.token {
            Some(token) => Ok(AccessTokens::new(app.tasks()).is_valid(token).await?),
            None => Ok(true),
        }
    }
}

/// Authenticates a request by bearer token or cookie; without either the server must need no token.
pub(crate) async fn identify(app: &App, headers: &HeaderMap) -> Result<Principal> {
    if let Some(given) = bearer(headers)
        && PersonSecret::has_prefix(given)
    {
        return find_holder(app, given).await;
    }
    if let Some(secret) = app.guard.browser_secret(headers)
        && let Some(token) = AccessTokens::new(app.tasks()).find_by_cookie(&secret).await?
    {
        return Ok(Principal::from_token(token));
    }
    app.guard.check_token(headers)?;
    owner_named(app, headers)
}

/// The same for senders who are not known as the server's user: only a valid token or cookie counts, none by default.
pub(crate) async fn identify_by_token(app: &App, headers: &HeaderMap) -> Result<Option<Principal>> {
    if !app.guard.has_credentials(headers) {
        return Ok(None);
    }
    let principal = identify(app, headers).await?;
    Ok((principal.token.is_some() || app.guard.needs_token()).then_some(principal))
}

/// The same for a token sent otherwise.
pub(crate) async fn identify_token(app: &App, given: Option<&str>) -> Result<Principal> {
    match given.filter(|given| PersonSecret::has_prefix(given)) {
        Some(given) => find_holder(app, given).await,
        None => app.guard.check_token_text(given).map(|()| Principal::owner(app.person.clone())),
    }
}

async fn find_holder(app: &App, given: &str) -> Result<Principal> {
    let found = match given.parse::<PersonSecret>() {
        Ok(secret) => AccessTokens::new(app.tasks()).find(&secret).await?,
        Err(_) => None,
    };
    found.map(Principal::from_token).ok_or_else(|| {
        ApiError::new(
            Code::Unauthorized,
            "invalid, expired or revoked token",
            "ask an operator for a new one: baton token create NAME --role viewer",
        )
    })
}

/// A name that cannot be recorded is refused: what is done must not be recorded under the owner's instead.
fn owner_named(app: &App, headers: &HeaderMap) -> Result<Principal> {
    let Some(given) = headers.get(&PERSON) else { return Ok(Principal::owner(app.person.as_str())) };
    let is_name = |name: &&str| name.chars().count() <= NAME_CHARS_MAX && !name.chars().any(char::is_control);
    match std::str::from_utf8(given.as_bytes()).ok().filter(is_name) {
        Some(name) if name.trim().is_empty() => Ok(Principal::owner(app.person.as_str())),
        Some(name) => Ok(Principal::owner(name)),
        None => Err(ApiError::new(
            Code::InvalidInput,
            "the name in X-Baton-Person cannot be recorded",
            format!("send one line of UTF-8 with at most {NAME_CHARS_MAX} characters"),
        )),
    }
}

/// The server as one visitor sees it: what is done through it is done in their name.
pub(crate) struct AuthedApp {
    app: App,
    pub principal: Principal,
}

impl AuthedApp {
    pub(crate) fn new(app: App, principal: Principal) -> Self {
        Self { app, principal }
    }

    pub(crate) fn actor(&self) -> Actor {
        match self.principal.attempt {
            Some(attempt) => Actor::Agent { attempt },
            None => Actor::human(self.principal.name.clone()),
        }
    }

    /// Who sends a message with this request.
    pub(crate) fn sender(&self) -> MessageSender {
        MessageSender { actor: self.actor(), answers_as: self.answered_by() }
    }

    pub(crate) fn answered_by(&self) -> AnsweredBy {
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
                "the request was not authenticated",
                "this is a bug in Baton; please report it",
            )
        })?;
        Ok(Self::new(app.clone(), principal))
    }
}

//! Who makes a request: the owner of the server, or a person with a token of their own. The door finds out once; what
//! is done is done in that name.

use std::future::pending;
use std::ops::Deref;
use std::time::Duration;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName};
use baton_core::ask::answer_source::AnsweredBy;
use baton_core::people::access_token::AccessToken;
use baton_core::people::actor::Actor;
use baton_core::people::role::PersonRole;
use baton_core::records::event::EventBody;
use baton_engine::StoredEvent;
use baton_engine::people::PersonSecret;
use tokio::time::sleep;

use crate::error::{Answer, ApiError, Code};
use crate::guard::bearer;
use crate::roles;
use crate::state::App;

/// Under which name the owner acts. Whoever holds the server's own token is known by no other name than they give.
pub static PERSON: HeaderName = HeaderName::from_static("x-baton-person");
/// Longest name that is taken over.
const NAME_CHARS_MAX: usize = 64;

/// Somebody who was let in.
#[derive(Debug, Clone)]
pub struct Visitor {
    pub name: String,
    pub role: PersonRole,
    /// What they came in with; none for the owner of the server.
    token: Option<Box<AccessToken>>,
}

impl Visitor {
    /// Whoever started the server, or holds its own token.
    pub fn owner(name: impl Into<String>) -> Self {
        Self { name: name.into(), role: PersonRole::Operator, token: None }
    }

    fn with(token: AccessToken) -> Self {
        Self { name: token.name.to_string(), role: token.role, token: Some(Box::new(token)) }
    }

    pub fn check(&self, needed: PersonRole, what: &str) -> Answer<()> {
        roles::check(self.role, needed, what)
    }

    /// Whether what happened ends this visit: their token was taken back.
    pub fn is_ended_by(&self, recorded: &StoredEvent) -> bool {
        let (Some(token), EventBody::TokenRevoked { name }) = (&self.token, &recorded.event.body) else {
            return false;
        };
        // An earlier token of the same name may have been taken back before.
        *name == token.name && recorded.event.at >= token.created_at
    }

    /// Comes when their time is over; never for those who have no end.
    pub async fn time_is_over(&self, app: &App) {
        let Some(end) = self.token.as_ref().and_then(|token| token.expires_at) else {
            return pending().await;
        };
        // A store that does not answer tells the stream itself soon enough.
        let now = app.tasks().store.now().await.unwrap_or(end);
        sleep(Duration::from_millis(end.ms_since(now).unsigned_abs())).await;
    }

    /// For those who stay: whether they would be let in again.
    pub async fn is_still_welcome(&self, app: &App) -> Answer<bool> {
        match &self.token {
            Some(token) => Ok(app.tasks().is_still_good(token).await?),
            None => Ok(true),
        }
    }
}

/// Finds out who it is. A person's token counts wherever it is shown; the server's own where one is needed.
pub async fn identify(app: &App, headers: &HeaderMap) -> Answer<Visitor> {
    if let Some(given) = bearer(headers)
        && PersonSecret::is_meant(given)
    {
        return holder(app, given).await;
    }
    if let Some(secret) = app.guard.persons_cookie(headers)
        && let Some(token) = app.tasks().person_at_browser(&secret).await?
    {
        return Ok(Visitor::with(token));
    }
    app.guard.check_token(headers)?;
    Ok(owner(app, headers))
}

/// The same for a token that came another way.
pub async fn identify_given(app: &App, given: Option<&str>) -> Answer<Visitor> {
    match given.filter(|given| PersonSecret::is_meant(given)) {
        Some(given) => holder(app, given).await,
        None => app.guard.check_given(given).map(|()| Visitor::owner(app.person.clone())),
    }
}

async fn holder(app: &App, given: &str) -> Answer<Visitor> {
    let found = match given.parse::<PersonSecret>() {
        Ok(secret) => app.tasks().person_with(&secret).await?,
        Err(_) => None,
    };
    found.map(Visitor::with).ok_or_else(|| {
        ApiError::new(
            Code::Unauthorized,
            "this token is not good, or not any more",
            "ask an operator for another one: baton token create NAME --role viewer",
        )
    })
}

fn owner(app: &App, headers: &HeaderMap) -> Visitor {
    let given = headers.get(&PERSON).and_then(|value| std::str::from_utf8(value.as_bytes()).ok());
    let is_name = |name: &&str| {
        !name.trim().is_empty()
            && name.chars().count() <= NAME_CHARS_MAX
            && !name.chars().any(char::is_control)
    };
    Visitor::owner(given.filter(is_name).unwrap_or(&app.person))
}

/// The server as one visitor sees it: what is done through it is done in their name.
pub struct Visited {
    app: App,
    pub visitor: Visitor,
}

impl Visited {
    pub fn new(app: App, visitor: Visitor) -> Self {
        Self { app, visitor }
    }

    pub fn actor(&self) -> Actor {
        Actor::human(self.visitor.name.clone())
    }

    pub fn answered_by(&self) -> AnsweredBy {
        AnsweredBy::human(self.visitor.name.clone())
    }
}

impl Deref for Visited {
    type Target = App;

    fn deref(&self) -> &App {
        &self.app
    }
}

impl FromRequestParts<App> for Visited {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Answer<Self> {
        let visitor = parts.extensions.get::<Visitor>().cloned();
        // The door puts it there. A way around the door must not lead in.
        let visitor = visitor.ok_or_else(|| {
            ApiError::new(
                Code::Internal,
                "nobody knows who asks",
                "this is a mistake in Baton; please report it",
            )
        })?;
        Ok(Self::new(app.clone(), visitor))
    }
}

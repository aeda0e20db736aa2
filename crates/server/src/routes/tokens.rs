//! `/api/tokens`: who may come in, and as what.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use baton_core::base::text::PersonName;
use baton_core::base::time::Timestamp;
use baton_core::people::access_token::{AccessToken, Revocation};
use baton_core::people::actor::Actor;
use baton_core::people::role::PersonRole;
use baton_engine::base::error::{Entity, NotFound};
use serde::{Deserialize, Serialize};

use crate::error::Answer;
use crate::input::{Body, Key, Query};
use crate::route::Route;
use crate::state::App;
use crate::visitor::Visited;

pub fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/tokens", "list_tokens", list)
            .gives("Every token that was handed out, without its secret", "TokenList"),
        Route::post("/api/tokens", "create_token", create)
            .takes("NewToken")
            .created()
            .gives(
                "Makes a token for a person; its secret is in this answer and nowhere else",
                "CreatedToken",
            )
            .may_conflict(),
        Route::delete("/api/tokens/{name}", "revoke_token", revoke)
            .gives("Takes a person's token back, at once and for good", "Token"),
    ]
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewToken {
    name: PersonName,
    role: PersonRole,
    expires_at: Option<Timestamp>,
}

/// A token as everybody may see it: no digest is in it.
#[derive(Serialize)]
struct TokenView {
    name: PersonName,
    role: PersonRole,
    is_good: bool,
    created_at: Timestamp,
    created_by: Actor,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    revoked: Option<Revocation>,
}

impl TokenView {
    fn of(token: AccessToken, now: Timestamp) -> Self {
        let is_good = token.is_valid(now);
        let AccessToken { name, role, created_at, created_by, expires_at, revoked, .. } = token;
        Self { name, role, is_good, created_at, created_by, expires_at, revoked }
    }
}

#[derive(Serialize)]
struct TokenList {
    tokens: Vec<TokenView>,
}

#[derive(Serialize)]
struct CreatedToken {
    /// The secret. It cannot be had again.
    token: String,
    #[serde(flatten)]
    about: TokenView,
}

async fn list(State(app): State<App>, query: Query) -> Answer<Json<TokenList>> {
    query.done()?;
    let now = app.tasks().store.now().await?;
    let tokens = app.tasks().access_tokens().await?;
    Ok(Json(TokenList { tokens: tokens.into_iter().map(|token| TokenView::of(token, now)).collect() }))
}

async fn create(
    app: Visited,
    query: Query,
    Body(new): Body<NewToken>,
) -> Answer<(StatusCode, Json<CreatedToken>)> {
    query.done()?;
    let NewToken { name, role, expires_at } = new;
    let (token, secret) = app.tasks().create_access_token(&name, role, expires_at, app.actor()).await?;
    let now = token.created_at;
    let created = CreatedToken { token: secret.reveal().to_owned(), about: TokenView::of(token, now) };
    Ok((StatusCode::CREATED, Json(created)))
}

async fn revoke(app: Visited, Key(name): Key<PersonName>, query: Query) -> Answer<Json<TokenView>> {
    query.done()?;
    app.tasks().revoke_access_token(&name, app.actor()).await?;
    let now = app.tasks().store.now().await?;
    let token = app.tasks().store.access_token(&name).await?;
    let gone = || NotFound::new(Entity::Token, format!("of {name}"));
    Ok(Json(TokenView::of(token.ok_or_else(gone)?.value, now)))
}

//! `/api/tokens`: access tokens of people.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use baton_core::base::text::PersonName;
use baton_core::base::time::Timestamp;
use baton_core::people::access_token::{AccessToken, Revocation};
use baton_core::people::actor::Actor;
use baton_core::people::role::PersonRole;
use baton_engine::base::error::{Entity, NotFound};
use baton_engine::people::AccessTokens;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api::route::Route;
use crate::http::error::Result;
use crate::http::input::{JsonBody, NoQuery, PathParam};
use crate::schema::words;
use crate::state::App;
use crate::state::principal::AuthedApp;

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/tokens", "list_tokens", list)
            .returns::<TokenList>("All access tokens, without their secrets"),
        Route::post("/api/tokens", "create_token", create)
            .takes::<NewToken>()
            .created()
            .returns::<CreatedToken>(
                "Creates an access token for a person; only this response contains the secret",
            )
            .may_conflict(),
        Route::delete("/api/tokens/{name}", "revoke_token", revoke)
            .returns::<TokenView>("Revokes a person's token immediately"),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewToken {
    #[schemars(with = "words::PersonName")]
    name: PersonName,
    #[schemars(with = "words::PersonRole")]
    role: PersonRole,
    #[schemars(with = "Option<words::Timestamp>")]
    expires_at: Option<Timestamp>,
}

/// A token without its digest.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Token")]
struct TokenView {
    #[schemars(with = "words::PersonName")]
    name: PersonName,
    #[schemars(with = "words::PersonRole")]
    role: PersonRole,
    is_good: bool,
    #[schemars(with = "words::Timestamp")]
    created_at: Timestamp,
    #[schemars(with = "words::Actor")]
    created_by: Actor,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<words::Timestamp>")]
    expires_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<words::Revoked>")]
    revoked: Option<Revocation>,
}

impl TokenView {
    fn new(token: AccessToken, now: Timestamp) -> Self {
        let is_good = token.is_valid(now);
        let AccessToken { name, role, created_at, created_by, expires_at, revoked, .. } = token;
        Self { name, role, is_good, created_at, created_by, expires_at, revoked }
    }
}

#[derive(Serialize, JsonSchema)]
struct TokenList {
    tokens: Vec<TokenView>,
}

#[derive(Serialize, JsonSchema)]
struct CreatedToken {
    /// The secret; returned only once.
    token: String,
    #[serde(flatten)]
    about: TokenView,
}

async fn list(State(app): State<App>, _: NoQuery) -> Result<Json<TokenList>> {
    let now = app.tasks().store.now().await?;
    let tokens = AccessTokens::new(app.tasks()).list().await?;
    Ok(Json(TokenList { tokens: tokens.into_iter().map(|token| TokenView::new(token, now)).collect() }))
}

async fn create(
    app: AuthedApp,
    _: NoQuery,
    JsonBody(new): JsonBody<NewToken>,
) -> Result<(StatusCode, Json<CreatedToken>)> {
    let NewToken { name, role, expires_at } = new;
    let (token, secret) = AccessTokens::new(app.tasks()).create(&name, role, expires_at, app.actor()).await?;
    let now = token.created_at;
    let created = CreatedToken { token: secret.reveal().to_owned(), about: TokenView::new(token, now) };
    Ok((StatusCode::CREATED, Json(created)))
}

async fn revoke(
    app: AuthedApp,
    PathParam(name): PathParam<PersonName>,
    _: NoQuery,
) -> Result<Json<TokenView>> {
    AccessTokens::new(app.tasks()).revoke(&name, app.actor()).await?;
    let now = app.tasks().store.now().await?;
    let token = app.tasks().store.access_token(&name).await?;
    let gone = || NotFound::new(Entity::Token, format!("of {name}"));
    Ok(Json(TokenView::new(token.ok_or_else(gone)?.value, now)))
}

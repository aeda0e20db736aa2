//! `/api/login`: exchanges a token for a cookie.

use std::net::Ipv4Addr;
use std::time::Instant;

use axum::Extension;
use axum::Json;
use axum::extract::State;
use axum::http::header::SET_COOKIE;
use axum::response::{AppendHeaders, IntoResponse};
use baton_engine::people::PersonSecret;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api::route::Route;
use crate::http::error::{ApiError, Code, Result};
use crate::http::input::{JsonBody, NoQuery};
use crate::http::paths;
use crate::http::peer::{Peer, Sender};
use crate::state::App;
use crate::state::principal::identify_token;

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::post(paths::LOGIN, "log_in", log_in)
            .takes::<Login>()
            .returns::<LoggedIn>("Exchanges a token for a login cookie"),
        Route::delete(paths::LOGIN, "log_out", log_out).returns::<LoggedIn>("Deletes the login cookie"),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Login {
    token: String,
}

#[derive(Serialize, JsonSchema)]
struct LoggedIn {
    is_logged_in: bool,
}

async fn log_in(
    State(app): State<App>,
    peer: Option<Extension<Peer>>,
    _: NoQuery,
    JsonBody(login): JsonBody<Login>,
) -> Result<impl IntoResponse> {
    Ok(answer(true, login_cookie(&app, peer.as_deref(), login.token.trim()).await?))
}

/// The cookie for a valid token; none if the server needs no token. After too many wrong ones an address has to wait.
pub(crate) async fn login_cookie(app: &App, peer: Option<&Peer>, token: &str) -> Result<Option<String>> {
    let sender = match peer {
        Some(peer) => peer.sender().await,
        None => Sender::Address(Ipv4Addr::LOCALHOST.into()),
    };
    if app.guess_limit.is_used_up(sender, Instant::now()) {
        return Err(ApiError::new(
            Code::TooManyRequests,
            "too many wrong tokens from this address",
            "wait a minute, then try again",
        ));
    }
    if let Err(refusal) = identify_token(app, Some(token)).await {
        app.guess_limit.try_take(sender, Instant::now());
        return Err(refusal);
    }
    let persons = token.parse::<PersonSecret>().ok();
    Ok(persons
        .map_or_else(|| app.guard.cookie(), |secret| Some(app.guard.person_cookie(&secret.for_browser()))))
}

async fn log_out(State(app): State<App>, _: NoQuery) -> Result<impl IntoResponse> {
    Ok(answer(false, Some(app.guard.clear_cookie())))
}

fn answer(is_logged_in: bool, cookie: Option<String>) -> impl IntoResponse {
    (AppendHeaders(cookie.map(|cookie| (SET_COOKIE, cookie))), Json(LoggedIn { is_logged_in }))
}

//! `/login`: exchanges a token for a cookie, if the server needs one.

use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::{HeaderValue, SET_COOKIE};
use axum::response::Response;
use maud::html;

use crate::api::routes::login::login_cookie;
use crate::http::error::Code;
use crate::http::peer::Peer;
use crate::pages::frame::form::PageForm;
use crate::pages::frame::response::{PageResult, bare, redirect};
use crate::state::App;

pub(super) async fn ask(State(app): State<App>) -> Response {
    if app.guard.needs_token() { sheet(StatusCode::OK, false) } else { redirect("/") }
}

/// Sets a cookie that scripts cannot read and other sites cannot send.
pub(super) async fn enter(
    State(app): State<App>,
    peer: Option<Extension<Peer>>,
    form: PageForm,
) -> PageResult {
    let token = form.text("token").trim();
    let cookie = match login_cookie(&app, peer.as_deref(), token).await {
        Ok(cookie) => cookie,
        Err(error) if error.error == Code::Unauthorized => {
            return Ok(sheet(StatusCode::UNAUTHORIZED, true));
        }
        Err(error) => return Err(error.into()),
    };
    let mut response = redirect(&form.next("/"));
    if let Some(Ok(value)) = cookie.as_deref().map(HeaderValue::from_str) {
        response.headers_mut().insert(SET_COOKIE, value);
    }
    Ok(response)
}

fn sheet(status: StatusCode, is_wrong: bool) -> Response {
    let body = html! {
        h1 { "Baton" }
        p { "Enter your access token. An operator creates one with " code { "baton token create NAME" } "; the server's own is in the file " code { "*.server.json" } " of its state folder (" code { "baton doctor" } " shows where that is)." }
        @if is_wrong { div.alert role="alert" { p { "Invalid token." } } }
        form.sheet method="post" action="/login" {
            label for="token" { "Token" }
            input #token type="password" name="token" required autofocus autocomplete="current-password";
            div.actions { button.primary type="submit" { "Log in" } }
        }
    };
    bare(status, "Log in", &body)
}

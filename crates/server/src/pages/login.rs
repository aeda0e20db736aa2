//! `/login`: where the server listens for others too, a browser shows its token once and is known from then on.

use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::{HeaderValue, SET_COOKIE};
use axum::response::Response;
use maud::html;

use crate::api::routes::login::login_cookie;
use crate::http::error::Code;
use crate::pages::frame::form::PageForm;
use crate::pages::frame::response::{PageResult, bare, redirect};
use crate::state::App;

pub async fn ask(State(app): State<App>) -> Response {
    if app.guard.needs_token() { sheet(StatusCode::OK, false) } else { redirect("/") }
}

/// The right token becomes a cookie that no script can read and no other site can use.
pub async fn enter(State(app): State<App>, form: PageForm) -> PageResult {
    let token = form.text("token").trim();
    let cookie = match login_cookie(&app, token).await {
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
        p { "This server listens for others too. Show the token an operator made for you, or its own: the one it was started with, or " code { "baton config" } " on its machine says where it is." }
        @if is_wrong { div.alert role="alert" { p { "That token is not good here." } } }
        form.sheet method="post" action="/login" {
            label for="token" { "Token" }
            input #token type="password" name="token" required autofocus autocomplete="current-password";
            div.actions { button.primary type="submit" { "Log in" } }
        }
    };
    bare(status, "Log in", &body)
}

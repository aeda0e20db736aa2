//! `/login`: where the server listens for others too, a browser shows its token once and is known from then on.

use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::{HeaderValue, SET_COOKIE};
use axum::response::Response;
use baton_engine::Store;
use maud::{DOCTYPE, Markup, html};

use super::answer::{PageAnswer, go, page};
use super::assets::address;
use super::form::Form;
use crate::error::Code;
use crate::routes::login::shown;
use crate::state::App;

pub async fn ask<S: Store>(State(app): State<App<S>>) -> Response {
    if app.guard.needs_token() { page(StatusCode::OK, sheet(false)) } else { go("/") }
}

/// The right token becomes a cookie that no script can read and no other site can use.
pub async fn enter<S: Store>(State(app): State<App<S>>, form: Form) -> PageAnswer {
    let token = form.text("token").trim();
    let cookie = match shown(&app, token).await {
        Ok(cookie) => cookie,
        Err(error) if error.error == Code::Unauthorized => {
            return Ok(page(StatusCode::UNAUTHORIZED, sheet(true)));
        }
        Err(error) => return Err(error.into()),
    };
    let mut response = go(&form.next("/"));
    if let Some(Ok(value)) = cookie.as_deref().map(HeaderValue::from_str) {
        response.headers_mut().insert(SET_COOKIE, value);
    }
    Ok(response)
}

fn sheet(is_wrong: bool) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { "Log in · Baton" }
                link rel="stylesheet" href=(address("baton.css"));
                link rel="icon" href="/badge/0.svg" type="image/svg+xml";
            }
            body.plain {
                main #main .narrow {
                    h1 { "Baton" }
                    p { "This server listens for others too. Show the token an operator made for you, or its own: the one it was started with, or " code { "baton config" } " on its machine says where it is." }
                    @if is_wrong { div.alert role="alert" { p { "That token is not good here." } } }
                    form.sheet method="post" action="/login" {
                        label for="token" { "Token" }
                        input #token type="password" name="token" required autofocus autocomplete="current-password";
                        div.actions { button.primary type="submit" { "Log in" } }
                    }
                }
            }
        }
    }
}

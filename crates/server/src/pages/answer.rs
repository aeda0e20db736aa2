//! What a page answers: HTML with the headers that keep it harmless, an error a person can read, or "go there".

use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use baton_core::transition::refusal::CommandRefusal;
use baton_engine::base::error::EngineError;
use baton_engine::base::error::NotFound;
use baton_engine::store_error::StoreError;
use baton_engine::tasks::error::TaskError;
use maud::{DOCTYPE, Markup, html};

use super::assets::address;
use crate::error::ApiError;

/// Everything a page uses is ours and comes from here; nothing is written into it that could run.
const POLICY: &str =
    "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

pub type PageAnswer = Result<Response, PageError>;

/// HTML that is never kept by anybody between.
pub fn page(status: StatusCode, markup: Markup) -> Response {
    let mut response = (status, markup.into_string()).into_response();
    let headers = response.headers_mut();
    let fixed: [(HeaderName, &'static str); 5] = [
        (CONTENT_TYPE, "text/html; charset=utf-8"),
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        // With less, a browser would not say either where our own forms come from.
        (REFERRER_POLICY, "same-origin"),
        (CACHE_CONTROL, "no-store"),
    ];
    headers.extend(fixed.map(|(name, value)| (name, HeaderValue::from_static(value))));
    response
}

/// A page with nothing around it, for who is not in yet and for when something is wrong. It needs nothing from the store.
pub fn bare(status: StatusCode, title: &str, body: &Markup) -> Response {
    let whole = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) " · Baton" }
                link rel="stylesheet" href=(address("baton.css"));
                link rel="icon" href="/badge/0.svg" type="image/svg+xml";
            }
            body.plain { main #main .narrow { (body) } }
        }
    };
    page(status, whole)
}

/// After a form: the browser asks for this page next.
pub fn go(to: &str) -> Response {
    let location = HeaderValue::from_str(to).unwrap_or(HeaderValue::from_static("/"));
    (StatusCode::SEE_OTHER, [(header::LOCATION, location)]).into_response()
}

/// An error as a page.
#[derive(Debug)]
pub struct PageError(pub ApiError);

impl From<ApiError> for PageError {
    fn from(error: ApiError) -> Self {
        Self(error)
    }
}

impl From<EngineError> for PageError {
    fn from(error: EngineError) -> Self {
        Self(error.into())
    }
}

/// What handlers raise by themselves.
macro_rules! from_failure {
    ($($type:ty),*) => {
        $(impl From<$type> for PageError {
            fn from(error: $type) -> Self {
                Self(EngineError::from(error).into())
            }
        })*
    };
}
from_failure!(StoreError, NotFound, CommandRefusal, TaskError);

impl IntoResponse for PageError {
    /// It needs nothing from the store, which may be what is broken. The body is a `main` like every page's, so the
    /// script finds the words in it.
    fn into_response(self) -> Response {
        let error = self.0;
        let status = error.error.status();
        if status.is_server_error() {
            tracing::error!(code = ?error.error, message = %error.message, "page failed");
        }
        let title = status.canonical_reason().unwrap_or("Error");
        let words = html! {
            h1 { (title) }
            div.alert role="alert" {
                p { (error.message) }
                p.muted { (error.hint) }
            }
            p { a href="/" { "Inbox" } " · " a href="/board" { "Board" } }
        };
        bare(status, title, &words)
    }
}

//! Responses of pages: HTML with security headers, an error page, or a redirect.

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

use crate::http::error::ApiError;
use crate::pages::frame::assets::address;
use crate::pages::frame::navigation::PLACES;

/// Pages load only what this server serves, and contain no inline script.
const POLICY: &str =
    "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

pub(crate) type PageResult = Result<Response, PageError>;

/// HTML with security headers, never cached.
pub(crate) fn page(status: StatusCode, markup: Markup) -> Response {
    let mut response = (status, markup.into_string()).into_response();
    let headers = response.headers_mut();
    let fixed: [(HeaderName, &'static str); 5] = [
        (CONTENT_TYPE, "text/html; charset=utf-8"),
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        // A stricter policy would hide the origin of our own forms, too.
        (REFERRER_POLICY, "same-origin"),
        (CACHE_CONTROL, "no-store"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// A page without navigation, for login and errors. Reads nothing from the store.
pub(crate) fn bare(status: StatusCode, title: &str, body: &Markup) -> Response {
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

/// A redirect after a form was posted.
pub(crate) fn redirect(to: &str) -> Response {
    let location = HeaderValue::from_str(to).unwrap_or(HeaderValue::from_static("/"));
    (StatusCode::SEE_OTHER, [(header::LOCATION, location)]).into_response()
}

/// An error rendered as a page.
#[derive(Debug)]
pub(crate) struct PageError(pub ApiError);

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
    /// Reads nothing from the store, which may be what failed. The body is a `main` element like every page's, so that scripts
    /// can show the text.
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
            p { @for (index, (_, word, _, address, _)) in PLACES.iter().enumerate() { @if index > 0 { " · " } a href=(address) { (word) } } }
        };
        bare(status, title, &words)
    }
}

//! Whether the browser wants the whole page or only its live part.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use baton_core::base::id::QuestionId;

/// Set by our script to get only the live part.
const FRAGMENT: &str = "x-baton-fragment";
/// The questions the page shows, so that one answered elsewhere is shown as closed instead of vanishing.
const SHOWN: &str = "x-baton-shown";
/// Questions looked up again per page.
const SHOWN_MAX: usize = 200;

pub(crate) struct PageRequest {
    pub is_fragment: bool,
    pub shown: Vec<QuestionId>,
}

impl<S: Send + Sync> FromRequestParts<S> for PageRequest {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let shown = parts.headers.get(SHOWN).and_then(|value| value.to_str().ok()).unwrap_or_default();
        Ok(Self {
            is_fragment: parts.headers.contains_key(FRAGMENT),
            shown: shown.split(',').filter_map(|id| id.trim().parse().ok()).take(SHOWN_MAX).collect(),
        })
    }
}

//! What a browser asks a page for: the whole of it, or only what may have changed.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use baton_core::id::QuestionId;

/// Set by the page's own script when it wants the changing parts alone.
const FRAGMENT: &str = "x-baton-fragment";
/// The questions the page shows, so that one answered elsewhere is closed there instead of gone.
const SHOWN: &str = "x-baton-shown";
/// Questions that are looked up again for one page.
const SHOWN_MAX: usize = 200;

pub struct PageRequest {
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

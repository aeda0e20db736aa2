//! Like [`crate::http::input::PathParam`], but errors are HTML pages.

use std::fmt::Display;
use std::str::FromStr;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use crate::http::input;
use crate::pages::frame::response::PageError;

pub(crate) struct PageParam<T>(pub T);

impl<S: Send + Sync, T: FromStr<Err: Display> + Send> FromRequestParts<S> for PageParam<T> {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, PageError> {
        let input::PathParam(key) = input::PathParam::from_request_parts(parts, state).await?;
        Ok(Self(key))
    }
}

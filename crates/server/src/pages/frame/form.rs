//! A posted form. Only our own pages may post: another site could make the browser send one (CSRF).

use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, HeaderValue};
use baton_core::base::text::NonBlank;

use crate::http::error::{ApiError, Code};
use crate::http::input::non_blank;
use crate::pages::frame::response::PageError;

/// Which site made the browser send the request.
const FETCH_SITE: &str = "sec-fetch-site";

/// The fields in order. A name may repeat.
pub(crate) struct PageForm(Vec<(String, String)>);

impl<S: Send + Sync> FromRequest<S> for PageForm {
    type Rejection = PageError;

    async fn from_request(request: Request, state: &S) -> Result<Self, PageError> {
        check_same_origin(request.headers())?;
        axum::Form::from_request(request, state).await.map(|axum::Form(fields)| Self(fields)).map_err(
            |error| ApiError::invalid(format!("invalid form: {error}"), "go back and send it again").into(),
        )
    }
}

/// `RunOrigin` was checked before; browsers that omit it still send this header.
fn check_same_origin(headers: &HeaderMap) -> Result<(), PageError> {
    match headers.get(FETCH_SITE).map(HeaderValue::as_bytes) {
        None | Some(b"same-origin" | b"none") => Ok(()),
        Some(_) => Err(ApiError::new(
            Code::Forbidden,
            "the form was sent by a page of another origin",
            "use the form on Baton's own page",
        )
        .into()),
    }
}

impl PageForm {
    /// The text of a field; empty if it was not sent.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.0.iter().find(|(field, _)| field == name).map_or("", |(_, value)| value)
    }

    /// Every value of a field that may repeat.
    pub(crate) fn all<'f>(&'f self, name: &'f str) -> impl Iterator<Item = &'f str> {
        self.0.iter().filter(move |(field, _)| field == name).map(|(_, value)| value.as_str())
    }

    /// The choice of a list, if there is one.
    pub(crate) fn choice(&self, name: &str) -> Option<&str> {
        Some(self.text(name).trim()).filter(|value| !value.is_empty())
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(field, _)| field == name)
    }

    /// A text that must not be blank, with `\n` line ends.
    pub(crate) fn non_blank(&self, name: &'static str) -> Result<NonBlank, ApiError> {
        non_blank(&self.text(name).replace("\r\n", "\n"), name)
    }

    /// A field parsed by its type.
    pub(crate) fn parse<T: std::str::FromStr<Err: std::fmt::Display>>(
        &self,
        name: &str,
    ) -> Result<Option<T>, ApiError> {
        let read = |text: &str| {
            text.parse().map_err(|error: T::Err| {
                ApiError::invalid(format!("{name}: {error}"), "go back and choose another")
            })
        };
        self.choice(name).map(read).transpose()
    }

    /// Where to redirect: a path of this server, or `otherwise`.
    pub(crate) fn next(&self, otherwise: &str) -> String {
        let wanted = self.text("next");
        let is_ours =
            wanted.starts_with('/') && !wanted.starts_with("//") && !wanted.contains(['\\', '\r', '\n']);
        if is_ours { wanted.to_owned() } else { otherwise.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirects_stay_on_this_server() {
        let next = |value: &str| PageForm(vec![("next".to_owned(), value.to_owned())]).next("/");
        assert_eq!(next("/board?q=1"), "/board?q=1");
        for foreign in
            ["https://evil.example", "//evil.example", "/\\evil.example", "", "javascript:alert(1)"]
        {
            assert_eq!(next(foreign), "/", "{foreign}");
        }
    }

    #[test]
    fn cross_site_posts_are_refused() {
        let from = |site: &'static str| {
            check_same_origin(&HeaderMap::from_iter([(FETCH_SITE.parse().unwrap(), site.parse().unwrap())]))
        };
        assert!(from("same-origin").is_ok());
        assert!(from("cross-site").is_err());
        assert!(from("same-site").is_err());
        assert!(check_same_origin(&HeaderMap::new()).is_ok());
    }
}

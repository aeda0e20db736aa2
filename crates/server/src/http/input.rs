//! What comes in with a request, taken apart with care: every mistake becomes an error that names it.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::str::FromStr;

use axum::body::Body as Incoming;
use axum::extract::{FromRequest, FromRequestParts, Query as Pairs, RawPathParams, Request};
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use baton_core::text::{NonBlank, nearest};
use baton_engine::query::Cursor;
use futures_util::StreamExt;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::http::error::{ApiError, Code};
use crate::http::limits::{BODY_BYTES_MAX, BODY_DRAINED_MAX, PAGE_DEFAULT, PAGE_MAX};

/// The one variable in a path: an id or a name. What cannot be one is simply not there.
pub struct PathParam<T>(pub T);

impl<S: Send + Sync, T: FromStr<Err: Display> + Send> FromRequestParts<S> for PathParam<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let hint = "check the address; GET /api/openapi.json lists what there is";
        let params = RawPathParams::from_request_parts(parts, state)
            .await
            .map_err(|_| ApiError::invalid("the address is not valid UTF-8", hint))?;
        let (_, text) = params.iter().next().unwrap_or_default();
        text.parse().map(Self).map_err(|error: T::Err| ApiError::not_found(error.to_string(), hint))
    }
}

/// A body that must be empty or `{}`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmptyBody {}

/// A JSON body. An empty one reads as `{}`, which is right where every field may be left out.
pub struct JsonBody<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for JsonBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        let content_type = request.headers().get(CONTENT_TYPE).cloned();
        let bytes = read_body(request.into_body()).await?;
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return parse_json(b"{}");
        }
        // A page elsewhere can send a form or plain text without asking first, but not JSON.
        let is_json = content_type
            .as_ref()
            .and_then(|value| value.to_str().ok())
            .and_then(|value| value.split(';').next())
            .is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"));
        if !is_json {
            return Err(ApiError::invalid(
                "the body is not JSON",
                "send it with content-type: application/json",
            ));
        }
        parse_json(&bytes)
    }
}

/// The whole body. One that is too large is heard out for a while all the same: a client that is still sending
/// when the connection closes would never read why.
async fn read_body(body: Incoming) -> Result<Vec<u8>, ApiError> {
    let mut chunks = body.into_data_stream();
    let (mut bytes, mut seen) = (Vec::new(), 0);
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk
            .map_err(|_| ApiError::invalid("the body broke off before its end", "send it again, whole"))?;
        seen += chunk.len();
        if seen <= BODY_BYTES_MAX {
            bytes.extend_from_slice(&chunk);
        } else if seen > BODY_DRAINED_MAX {
            break;
        }
    }
    if seen > BODY_BYTES_MAX { Err(too_large()) } else { Ok(bytes) }
}

fn too_large() -> ApiError {
    ApiError::new(
        Code::TooLarge,
        format!("the body is larger than {} KiB", BODY_BYTES_MAX / 1024),
        "send less; long material belongs into the repository",
    )
}

fn parse_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<JsonBody<T>, ApiError> {
    let hint = "GET /api/openapi.json says what this call takes";
    serde_json::from_slice(bytes)
        .map(JsonBody)
        .map_err(|error| ApiError::invalid(format!("the body does not fit: {error}"), hint))
}

/// The query string. Whoever reads it takes what it knows and then calls [`Query::done`].
pub struct Query(BTreeMap<String, String>, Vec<&'static str>);

impl<S: Send + Sync> FromRequestParts<S> for Query {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let pairs: Pairs<Vec<(String, String)>> =
            Pairs::from_request_parts(parts, state).await.map_err(|error| {
                ApiError::invalid(format!("the query cannot be read: {error}"), "write it as ?name=value&…")
            })?;
        let mut found = BTreeMap::new();
        for (name, value) in pairs.0 {
            if found.insert(name.clone(), value).is_some() {
                return Err(ApiError::invalid(format!("\"{name}\" is given twice"), "give it once"));
            }
        }
        Ok(Self(found, Vec::new()))
    }
}

impl Query {
    /// A value by its name, where it is given. An empty one is a mistake, not an absence.
    pub fn take<T: FromStr<Err: Display>>(&mut self, name: &'static str) -> Result<Option<T>, ApiError> {
        self.1.push(name);
        let Some(text) = self.0.remove(name) else { return Ok(None) };
        text.parse().map(Some).map_err(|error: T::Err| {
            ApiError::invalid(
                format!("{name} cannot be \"{}\": {error}", truncate(&text)),
                "mend it or leave it out",
            )
        })
    }

    /// One of our own words, such as a queue or a status.
    pub fn word<T: DeserializeOwned>(&mut self, name: &'static str) -> Result<Option<T>, ApiError> {
        let Some(text) = self.take::<String>(name)? else { return Ok(None) };
        let value = serde_json::Value::String(text.clone());
        serde_json::from_value(value).map(Some).map_err(|error| {
            let error = error.to_string();
            ApiError::invalid(format!("{name} cannot be \"{}\"", truncate(&text)), error)
        })
    }

    pub fn page(&mut self) -> Result<Paging, ApiError> {
        let limit = self.limit()?;
        Ok(Paging { limit, cursor: self.take("cursor")? })
    }

    pub fn limit(&mut self) -> Result<u32, ApiError> {
        let limit = self.take("limit")?.unwrap_or(PAGE_DEFAULT);
        if (1..=PAGE_MAX).contains(&limit) {
            Ok(limit)
        } else {
            Err(ApiError::invalid(
                format!("limit cannot be {limit}"),
                format!("choose between 1 and {PAGE_MAX}"),
            ))
        }
    }

    /// What nobody took is a mistake, most likely of spelling.
    pub fn done(self) -> Result<(), ApiError> {
        let Some(unknown) = self.0.keys().next() else { return Ok(()) };
        let hint = match nearest(unknown, self.1.iter().copied()) {
            Some(name) => format!("did you mean {name}?"),
            None if self.1.is_empty() => "this call takes none".to_owned(),
            None => format!("this call takes {}", self.1.join(", ")),
        };
        Err(ApiError::invalid(format!("there is no query parameter \"{}\"", truncate(unknown)), hint))
    }
}

/// Where a list goes on, and how much of it is wanted.
pub struct Paging {
    pub limit: u32,
    pub cursor: Option<Cursor>,
}

/// Longest piece of a mistake that is quoted back.
const SHOWN_CHARS_MAX: usize = 80;

fn truncate(text: &str) -> String {
    text.chars().take(SHOWN_CHARS_MAX).collect()
}

/// A text that has to say something.
pub fn non_blank(text: &str, name: &'static str) -> Result<NonBlank, ApiError> {
    NonBlank::new(text)
        .map_err(|_| ApiError::invalid(format!("{name} is blank"), "write at least one visible character"))
}

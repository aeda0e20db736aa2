//! Extractors for path parameters, query strings and JSON bodies. Every invalid input becomes an error that names it.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::str::FromStr;

use axum::body::Body as Incoming;
use axum::extract::{FromRequest, FromRequestParts, Query as Pairs, RawPathParams, Request};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::request::Parts;
use baton_core::base::text::{NonBlank, nearest};
use baton_engine::query::Cursor;
use futures_util::StreamExt;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::http::error::{ApiError, Code};
use crate::http::limits::{BODY_BYTES_MAX, BODY_DRAINED_MAX, MESSAGE_BYTES_MAX, PAGE_DEFAULT, PAGE_MAX};

/// The single variable of a path: an id or a name. Text that cannot be one is answered with 404.
pub(crate) struct PathParam<T>(pub T);

impl<S: Send + Sync, T: FromStr<Err: Display> + Send> FromRequestParts<S> for PathParam<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let hint = "check the path; GET /api/openapi.json lists all routes";
        let params = RawPathParams::from_request_parts(parts, state)
            .await
            .map_err(|_| ApiError::invalid("the address is not valid UTF-8", hint))?;
        let (_, text) = params.iter().next().unwrap_or_default();
        text.parse().map(Self).map_err(|error: T::Err| ApiError::not_found(error.to_string(), hint))
    }
}

/// A body that must be empty or `{}`.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "Nothing")]
#[serde(deny_unknown_fields)]
pub(crate) struct EmptyBody {}

/// A JSON body. An empty body counts as `{}`, so calls whose fields are all optional need none.
pub(crate) struct JsonBody<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for JsonBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        read_json(request, BODY_BYTES_MAX).await.map(Self)
    }
}

/// The JSON body of a message, which may have files.
pub(crate) struct MessageBody<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for MessageBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        read_json(request, MESSAGE_BYTES_MAX).await.map(Self)
    }
}

async fn read_json<T: DeserializeOwned>(request: Request, bytes_max: usize) -> Result<T, ApiError> {
    let content_type = request.headers().get(CONTENT_TYPE).cloned();
    let announced = request.headers().get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
    if announced.is_some_and(|length: usize| length > BODY_DRAINED_MAX) {
        // Not even worth draining.
        return Err(too_large(bytes_max));
    }
    let bytes = read_body(request.into_body(), bytes_max).await?;
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return parse_json(b"{}");
    }
    // Pages of other origins can send forms and plain text without a CORS preflight, but not JSON.
    let is_json = content_type
        .as_ref()
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"));
    if !is_json {
        return Err(ApiError::invalid("the body is not JSON", "send it with content-type: application/json"));
    }
    parse_json(&bytes)
}

/// Reads the whole body. A body that is too large is drained for a while before it is refused: a client that is still
/// sending when the connection closes would not read the error.
async fn read_body(body: Incoming, bytes_max: usize) -> Result<Vec<u8>, ApiError> {
    let mut chunks = body.into_data_stream();
    let (mut bytes, mut seen) = (Vec::new(), 0);
    while let Some(chunk) = chunks.next().await {
        let chunk =
            chunk.map_err(|_| ApiError::invalid("the request body is incomplete", "send it again"))?;
        seen += chunk.len();
        if seen <= bytes_max {
            bytes.extend_from_slice(&chunk);
        } else if seen > BODY_DRAINED_MAX {
            break;
        }
    }
    if seen > bytes_max { Err(too_large(bytes_max)) } else { Ok(bytes) }
}

pub(crate) fn too_large(bytes_max: usize) -> ApiError {
    ApiError::new(
        Code::TooLarge,
        format!("the body is larger than {} KiB", bytes_max / 1024),
        "send less; put long material into the repository",
    )
}

fn parse_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    let hint = "GET /api/openapi.json describes what this call takes";
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let parsed = serde_path_to_error::deserialize(&mut deserializer);
    let body = parsed.map_err(|error| ApiError::invalid(format!("invalid body: {error}"), hint))?;
    deserializer.end().map_err(|error| ApiError::invalid(format!("invalid body: {error}"), hint))?;
    Ok(body)
}

/// The query string. Handlers take the parameters they know and then call [`Query::done`].
pub(crate) struct Query(BTreeMap<String, String>, Vec<&'static str>);

impl<S: Send + Sync> FromRequestParts<S> for Query {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let pairs: Pairs<Vec<(String, String)>> =
            Pairs::from_request_parts(parts, state).await.map_err(|error| {
                ApiError::invalid(format!("invalid query string: {error}"), "write it as ?name=value&…")
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
    /// An optional parameter. An empty value is an error, not absence.
    pub(crate) fn take<T: FromStr<Err: Display>>(
        &mut self,
        name: &'static str,
    ) -> Result<Option<T>, ApiError> {
        self.1.push(name);
        let Some(text) = self.0.remove(name) else { return Ok(None) };
        text.parse().map(Some).map_err(|error: T::Err| {
            ApiError::invalid(format!("invalid {name} \"{}\": {error}", truncate(&text)), "fix it or omit it")
        })
    }

    /// A value of one of our enums, such as a queue or a status.
    pub(crate) fn word<T: DeserializeOwned>(&mut self, name: &'static str) -> Result<Option<T>, ApiError> {
        let Some(text) = self.take::<String>(name)? else { return Ok(None) };
        let value = serde_json::Value::String(text.clone());
        serde_json::from_value(value).map(Some).map_err(|error| {
            let error = error.to_string();
            ApiError::invalid(format!("invalid {name} \"{}\"", truncate(&text)), error)
        })
    }

    pub(crate) fn page(&mut self) -> Result<Paging, ApiError> {
        let limit = self.limit()?;
        Ok(Paging { limit, cursor: self.take("cursor")? })
    }

    pub(crate) fn limit(&mut self) -> Result<u32, ApiError> {
        let limit = self.take("limit")?.unwrap_or(PAGE_DEFAULT);
        if (1..=PAGE_MAX).contains(&limit) {
            Ok(limit)
        } else {
            Err(ApiError::invalid(
                format!("invalid limit {limit}"),
                format!("choose between 1 and {PAGE_MAX}"),
            ))
        }
    }

    /// Refuses parameters that were not taken; most likely they are misspelt.
    pub(crate) fn done(self) -> Result<(), ApiError> {
        let Some(unknown) = self.0.keys().next() else { return Ok(()) };
        let hint = match nearest(unknown, self.1.iter().copied()) {
            Some(name) => format!("did you mean {name}?"),
            None if self.1.is_empty() => "this call takes none".to_owned(),
            None => format!("this call takes {}", self.1.join(", ")),
        };
        Err(ApiError::invalid(format!("unknown query parameter \"{}\"", truncate(unknown)), hint))
    }
}

/// Refuses any query parameter.
pub(crate) struct NoQuery;

impl<S: Send + Sync> FromRequestParts<S> for NoQuery {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        Query::from_request_parts(parts, state).await?.done().map(|()| Self)
    }
}

/// The requested page of a list.
pub(crate) struct Paging {
    pub limit: u32,
    pub cursor: Option<Cursor>,
}

/// Longest piece of an invalid value that is quoted in the error.
const SHOWN_CHARS_MAX: usize = 80;

fn truncate(text: &str) -> String {
    text.chars().take(SHOWN_CHARS_MAX).collect()
}

/// A text that must not be blank.
pub(crate) fn non_blank(text: &str, name: &'static str) -> Result<NonBlank, ApiError> {
    NonBlank::new(text)
        .map_err(|_| ApiError::invalid(format!("{name} is blank"), "write at least one visible character"))
}

//! `Idempotency-Key`: a creating call that is repeated with its key changes nothing and returns the first answer.

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use baton_core::base::id::SessionId;
use baton_core::base::time::Timestamp;
use baton_core::records::change::{Change, Record, WriteGuard};
use baton_core::records::receipt::{KeptAnswer, Receipt, ReceiptKey, RequestedWork};
use baton_engine::base::once::with_receipt;
use sha2::{Digest, Sha256};

use crate::http::error::{ApiError, Code, Result};
use crate::http::idempotency::read_key;
use crate::http::input::too_large;
use crate::http::limits::BODY_BYTES_MAX;
use crate::state::App;
use crate::state::principal::Principal;

/// How long a key is known.
const KEPT_MS: i64 = 24 * 60 * 60 * 1_000;
/// Answers beyond it are not kept; a repeat is refused instead.
const ANSWER_BYTES_MAX: usize = 256 * 1024;

/// Middleware of the creating calls.
pub(crate) async fn answer_once(State(app): State<App>, request: Request, next: Next) -> Response {
    let outcome = match read_key(request.headers()) {
        Ok(None) => return next.run(request).await,
        Ok(Some(key)) => answer_with_key(&app, &key, request, next).await,
        Err(refusal) => Err(refusal),
    };
    outcome.unwrap_or_else(IntoResponse::into_response)
}

async fn answer_with_key(app: &App, key: &str, request: Request, next: Next) -> Result<Response> {
    let (head, body) = request.into_parts();
    let person =
        head.extensions.get::<Principal>().map(|principal| principal.name.clone()).unwrap_or_default();
    let bytes = to_bytes(body, BODY_BYTES_MAX).await.map_err(|_| too_large(BODY_BYTES_MAX))?;
    let digest = digest(&bytes);
    let now = app.tasks().store.now().await?;
    let scope = format!("{} {}", head.method, head.uri.path());
    // Keys are kept by the day, so that one can be used again later.
    let day = now.ms() / KEPT_MS;
    for day in [day, day - 1] {
        let known = app.tasks().store.receipt(&ReceiptKey::for_call(&person, &scope, day, key)).await?;
        if let Some(receipt) = known.filter(|receipt| now.ms_since(receipt.at) < KEPT_MS) {
            return repeat(receipt, &digest);
        }
    }
    let receipt = new_receipt(ReceiptKey::for_call(&person, &scope, day, key), &digest, now)?;
    let request = Request::from_parts(head, Body::from(bytes));
    let (response, has_changed) = with_receipt(receipt.clone(), next.run(request)).await;
    if !has_changed {
        // Refused, or nothing to do: a repeat may try again.
        return Ok(response);
    }
    keep(app, receipt, response).await
}

fn new_receipt(key: ReceiptKey, digest: &str, at: Timestamp) -> Result<Receipt> {
    let session_id: SessionId = "api".parse().map_err(|error: baton_core::base::id::InvalidId| {
        ApiError::new(Code::Internal, error.to_string(), "this is a bug in Baton; please report it")
    })?;
    Ok(Receipt {
        key,
        session_id,
        message: None,
        task_id: None,
        wanted: RequestedWork::default(),
        delivered: None,
        answer: Some(KeptAnswer { request_digest: digest.to_owned(), status: None, body: String::new() }),
        at,
    })
}

/// Remembers the answer for the next time.
async fn keep(app: &App, mut receipt: Receipt, response: Response) -> Result<Response> {
    let (head, body) = response.into_parts();
    let bytes = to_bytes(body, usize::MAX).await.map_err(|error| {
        ApiError::new(Code::Internal, error.to_string(), "look up what was created before you retry")
    })?;
    if let (Some(answer), true) = (&mut receipt.answer, bytes.len() <= ANSWER_BYTES_MAX) {
        answer.status = Some(head.status.as_u16());
        answer.body = String::from_utf8_lossy(&bytes).into_owned();
        // The call itself is done; without its answer, a repeat is refused.
        let change = Change::new().put(Record::Receipt(receipt), WriteGuard::Version(1));
        if let Err(error) = app.tasks().write(change).await {
            tracing::warn!(%error, "the answer to a call with an Idempotency-Key was not kept");
        }
    }
    Ok(Response::from_parts(head, Body::from(bytes)))
}

/// The answer of the first time, or why there is none.
fn repeat(receipt: Receipt, digest: &str) -> Result<Response> {
    let conflict = |message: &str, hint: &'static str| ApiError::new(Code::Conflict, message, hint);
    let Some(answer) = receipt.answer.filter(|answer| answer.request_digest == digest) else {
        return Err(conflict(
            "this Idempotency-Key was used for another request",
            "use a new key for a new request",
        ));
    };
    let status = answer.status.and_then(|status| StatusCode::from_u16(status).ok());
    let Some(status) = status else {
        return Err(conflict(
            "this request was carried out before, and its answer is not known",
            "look up what it created; use a new key for a new request",
        ));
    };
    let mut response = (status, answer.body).into_response();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}

fn digest(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in Sha256::digest(bytes) {
        // Writing to a string cannot fail.
        let _ = std::fmt::Write::write_fmt(&mut text, format_args!("{byte:02x}"));
    }
    text
}

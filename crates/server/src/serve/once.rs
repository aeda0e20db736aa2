//! `Idempotency-Key`: a creating call that is repeated with its key changes nothing and returns the first answer.

use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::{RawPathParams, Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use baton_core::base::id::SessionId;
use baton_core::base::time::Timestamp;
use baton_core::people::actor::Actor;
use baton_core::records::change::{Change, Record, WriteGuard};
use baton_core::records::receipt::{KeptAnswer, Receipt, ReceiptKey, RequestedWork};
use baton_engine::base::once::with_receipt;
use sha2::{Digest, Sha256};
use tokio::time::{Instant, sleep};

use crate::api::recall::DoneCall;
use crate::api::route::Recall;
use crate::http::error::{ApiError, Code, Result};
use crate::http::idempotency::read_key;
use crate::http::input::too_large;
use crate::http::limits::BODY_BYTES_MAX;
use crate::mcp::mount::identify_caller;
use crate::state::App;
use crate::state::principal::{AuthedApp, Principal};

/// How long a key is known.
const KEPT_MS: i64 = 24 * 60 * 60 * 1_000;
/// Answers beyond it are not kept; a repeat is answered with what was created, as it is then.
const ANSWER_BYTES_MAX: usize = 256 * 1024;

/// How long a call waits for the answer that another machine gives to the same call.
const PATIENCE: Duration = Duration::from_secs(2);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// How a route answers a call that it carried out before.
#[derive(Clone)]
pub(crate) struct OnceRoute {
    pub app: App,
    pub recall: Recall,
    pub status: u16,
}

/// Middleware of the creating calls.
pub(crate) async fn answer_once(
    State(route): State<OnceRoute>,
    parameters: RawPathParams,
    request: Request,
    next: Next,
) -> Response {
    let outcome = match read_key(request.headers()) {
        Ok(None) => return next.run(request).await,
        Ok(Some(key)) => {
            let path_id = parameters.iter().next().map(|(_, id)| id.to_owned()).unwrap_or_default();
            answer_with_key(&route, key, path_id, request, next).await
        }
        Err(refusal) => Err(refusal),
    };
    outcome.unwrap_or_else(IntoResponse::into_response)
}

async fn answer_with_key(
    route: &OnceRoute,
    key: String,
    path_id: String,
    request: Request,
    next: Next,
) -> Result<Response> {
    let (head, body) = request.into_parts();
    let principal = head.extensions.get::<Principal>().cloned();
    let actor = match (route.recall, principal) {
        // An agent has keys of its own.
        (Recall::Tool, principal) => identify_caller(&route.app, &head.headers, principal).await?.actor(),
        (_, Some(principal)) => AuthedApp::new(route.app.clone(), principal).actor(),
        (_, None) => Actor::human(route.app.person.clone()),
    };
    let person = match &actor {
        Actor::Human { name } => name.clone(),
        other => other.to_string(),
    };
    let body = to_bytes(body, BODY_BYTES_MAX).await.map_err(|_| too_large(BODY_BYTES_MAX))?;
    let scope = format!("{} {}", head.method, head.uri.path());
    // The same call at the same time waits for the answer to the first.
    let _turn = route.app.calls.turn(format!("{person} {scope} {key}")).await;
    let now = route.app.tasks().store.now().await?;
    // Keys are kept by the day, so that one can be used again later.
    let today = now.ms() / KEPT_MS;
    let key_on = |day| ReceiptKey::for_call(&person, &scope, day, &key);
    let call = KeyedCall { route, digest: digest(&body), key: &key, path_id: &path_id, body: &body, actor };
    for day in [today, today - 1] {
        let known = route.app.tasks().store.receipt(&key_on(day)).await?;
        if let Some(receipt) = known.filter(|receipt| now.ms_since(receipt.at) < KEPT_MS) {
            return call.repeat(receipt).await;
        }
    }
    let receipt = new_receipt(key_on(today), &call.digest, now)?;
    let request = Request::from_parts(head, Body::from(body.clone()));
    let (response, has_changed) = with_receipt(receipt.clone(), next.run(request)).await;
    if has_changed {
        return keep(&route.app, receipt, response).await;
    }
    // Refused, or nothing to do: a repeat may try again. Unless another machine did it at the same time.
    match route.app.tasks().store.receipt(&receipt.key).await? {
        Some(theirs) => call.repeat(theirs).await,
        None => Ok(response),
    }
}

/// A call with its key.
struct KeyedCall<'a> {
    route: &'a OnceRoute,
    digest: String,
    key: &'a str,
    path_id: &'a str,
    body: &'a [u8],
    actor: Actor,
}

impl KeyedCall<'_> {
    /// The answer of the first time.
    async fn repeat(&self, mut receipt: Receipt) -> Result<Response> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let Some(answer) = receipt.answer.as_ref().filter(|answer| answer.request_digest == self.digest)
            else {
                return Err(ApiError::new(
                    Code::Conflict,
                    "this Idempotency-Key was used for another request",
                    "use a new key for a new request",
                ));
            };
            if let Some(status) = answer.status.and_then(|status| StatusCode::from_u16(status).ok()) {
                return Ok(json_response(status, answer.body.clone()));
            }
            if Instant::now() >= deadline {
                return self.recall(receipt).await;
            }
            // Another machine may be about to answer it.
            sleep(LOOK_EVERY).await;
            if let Some(again) = self.route.app.tasks().store.receipt(&receipt.key).await? {
                receipt = again;
            }
        }
    }

    /// The first answer was lost with the machine that should have given it.
    async fn recall(&self, receipt: Receipt) -> Result<Response> {
        let created = receipt.answer.as_ref().map(|answer| answer.created.clone()).unwrap_or_default();
        let call = DoneCall {
            key: self.key,
            path_id: self.path_id,
            body: self.body,
            created: &created,
            actor: self.actor.clone(),
        };
        let view = call.answer(&self.route.app, self.route.recall).await?;
        let status = StatusCode::from_u16(self.route.status).unwrap_or(StatusCode::OK);
        keep(&self.route.app, receipt, json_response(status, view.to_string())).await
    }
}

fn json_response(status: StatusCode, body: String) -> Response {
    let mut response = (status, body).into_response();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
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
        answer: Some(KeptAnswer {
            request_digest: digest.to_owned(),
            status: None,
            body: String::new(),
            created: Vec::new(),
        }),
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
        // The call itself is done; without its answer, a repeat is answered with what it created.
        let change = Change::new().put(Record::Receipt(receipt), WriteGuard::Version(1));
        if let Err(error) = app.tasks().write(change).await {
            tracing::warn!(%error, "the answer to a call with an Idempotency-Key was not kept");
        }
    }
    Ok(Response::from_parts(head, Body::from(bytes)))
}

fn digest(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in Sha256::digest(bytes) {
        // Writing to a string cannot fail.
        let _ = std::fmt::Write::write_fmt(&mut text, format_args!("{byte:02x}"));
    }
    text
}

//! `Idempotency-Key`: a creating call that is repeated with its key changes nothing and returns the first answer.

use axum::body::{Body, to_bytes};
use axum::extract::{RawPathParams, Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use baton_core::people::actor::Actor;
use baton_core::records::receipt::Receipt;
use baton_engine::base::once::with_receipt;

use crate::api::keyed_call::{EarlierCall, KeyedCall};
use crate::api::recall::DoneCall;
use crate::api::route::Recall;
use crate::http::error::{ApiError, Code, Result};
use crate::http::idempotency::read_key;
use crate::http::input::too_large;
use crate::http::limits::BODY_BYTES_MAX;
use crate::mcp::mount::identify_caller;
use crate::state::App;
use crate::state::principal::{AuthedApp, Principal};

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
    let body = to_bytes(body, BODY_BYTES_MAX).await.map_err(|_| too_large(BODY_BYTES_MAX))?;
    let scope = format!("{} {}", head.method, head.uri.path());
    let call = KeyedCall::new(&route.app, &actor, scope, key, &body);
    let request_at_hand = RequestAtHand { route, call: &call, path_id: &path_id, body: &body, actor };
    let _turn = call.turn().await;
    if let Some(earlier) = call.earlier().await? {
        return request_at_hand.repeat(earlier).await;
    }
    let receipt = call.new_receipt().await?;
    let request = Request::from_parts(head, Body::from(body.clone()));
    let (response, has_changed) = with_receipt(receipt.clone(), next.run(request)).await;
    if has_changed {
        return keep(&call, receipt, response).await;
    }
    // Refused, or nothing to do: a repeat may try again.
    match call.carried_out_elsewhere(&receipt).await? {
        Some(theirs) => request_at_hand.repeat(theirs).await,
        None => Ok(response),
    }
}

struct RequestAtHand<'a> {
    route: &'a OnceRoute,
    call: &'a KeyedCall,
    path_id: &'a str,
    body: &'a [u8],
    actor: Actor,
}

impl RequestAtHand<'_> {
    /// The answer of the first time.
    async fn repeat(&self, earlier: EarlierCall) -> Result<Response> {
        let receipt = match earlier {
            EarlierCall::Answered { status, body } => return Ok(json_response(status, body)),
            EarlierCall::Lost(receipt) => receipt,
        };
        let created = receipt.answer.as_ref().map(|answer| answer.created.clone()).unwrap_or_default();
        let done = DoneCall {
            key: self.call.key(),
            path_id: self.path_id,
            body: self.body,
            created: &created,
            actor: self.actor.clone(),
        };
        let view = done.answer(&self.route.app, self.route.recall).await?;
        keep(self.call, *receipt, json_response(self.route.status, view.to_string())).await
    }
}

fn json_response(status: u16, body: String) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
    let mut response = (status, body).into_response();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// Remembers the answer for the next time.
async fn keep(call: &KeyedCall, receipt: Receipt, response: Response) -> Result<Response> {
    let (head, body) = response.into_parts();
    let bytes = to_bytes(body, usize::MAX).await.map_err(|error| {
        ApiError::new(Code::Internal, error.to_string(), "look up what was created before you retry")
    })?;
    call.keep(receipt, head.status.as_u16(), &bytes).await;
    Ok(Response::from_parts(head, Body::from(bytes)))
}

//! The router, and the middleware every request goes through.

use std::net::Ipv4Addr;
use std::panic::AssertUnwindSafe;
use std::time::{Duration, Instant};

use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, X_CONTENT_TYPE_OPTIONS};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Extension, Router};
use baton_engine::base::ids::Ids;
use baton_engine::peer::PeerOwner;
use futures_util::FutureExt;
use tokio::time::timeout;
use tracing::Instrument;
use tracing::field::Empty;

use crate::api::{exposition, openapi, routes};
use crate::http::error::{ApiError, Code};
use crate::http::limits::{COMMAND_TIMEOUT, REQUEST_TIMEOUT};
use crate::http::peer::{Peer, Sender, check_sender};
use crate::http::{paths, roles};
use crate::mcp::mount;
use crate::observe::metrics::RequestLabel;
use crate::serve::agents;
use crate::serve::once::{OnceRoute, answer_once};
use crate::state::App;
use crate::state::principal::{Principal, identify, identify_by_token};
use crate::{pages, socket};

static REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// Longest request id accepted from a client.
const REQUEST_ID_LEN_MAX: usize = 64;

pub fn router(app: App) -> Router {
    let router = api_router(&app)
        .route("/api/openapi.json", get(openapi::serve))
        .route("/metrics", get(exposition::serve))
        .route(paths::SOCKET, get(socket::serve));
    mount::mount(pages::add_routes(router), &app)
        .fallback(not_found)
        .method_not_allowed_fallback(wrong_method)
        .layer(from_fn_with_state(app.clone(), handle))
        .with_state(app)
}

/// The API alone, without authentication, acting as the owner. For use in this process.
pub(crate) fn owner_router(app: App) -> Router {
    let owner = Principal::owner(app.person.clone());
    api_router(&app).layer(Extension(owner)).with_state(app)
}

fn api_router(app: &App) -> Router<App> {
    routes::all().into_iter().fold(Router::new(), |router, route| {
        let handler = match route.doc.recall {
            Some(recall) => {
                let once = OnceRoute { app: app.clone(), recall, status: route.doc.status };
                route.handler.layer(from_fn_with_state(once, answer_once))
            }
            None => route.handler,
        };
        router.route(route.path, handler)
    })
}

async fn not_found(request: Request) -> Response {
    let hint = "GET /api/openapi.json lists all routes";
    pages::render_error(&request, ApiError::not_found("no such path", hint))
}

async fn wrong_method(method: Method) -> ApiError {
    ApiError::new(
        Code::MethodNotAllowed,
        format!("this path does not support {method}"),
        "GET /api/openapi.json lists the methods of each path",
    )
}

/// Middleware of all requests: request id, authentication, timeout, metrics.
async fn handle(State(app): State<App>, request: Request, next: Next) -> Response {
    let started = Instant::now();
    let id = request_id(&request);
    let method = known_method(request.method());
    let route = request.extensions().get::<MatchedPath>().map_or("none", |path| path.as_str()).to_owned();
    let span =
        tracing::info_span!("request", id = %id, method, route, status = Empty, otel.status_code = Empty);
    let _in_flight = app.metrics.in_flight.one_more();
    let mut response = respond(&app, request, next).instrument(span.clone()).await;
    if let Ok(value) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(REQUEST_ID.clone(), value);
    }
    add_default_headers(response.headers_mut());
    let (status, took) = (response.status().as_u16(), started.elapsed());
    span.record("status", status);
    if status >= 500 {
        span.record("otel.status_code", "ERROR");
    }
    span.in_scope(|| tracing::info!(status, took_ms = took.as_secs_f64() * 1_000.0, "answered"));
    app.metrics.answered(&RequestLabel { method, route, status }, took);
    response
}

/// For what is not a page: nothing in it is ever run, guessed at or kept. Logs and diffs hold text that agents wrote.
fn add_default_headers(headers: &mut HeaderMap) {
    for (name, value) in [
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (CACHE_CONTROL, "no-store"),
        (CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
    ] {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
}

async fn respond(app: &App, request: Request, next: Next) -> Response {
    let (mut head, body) = request.into_parts();
    let request = match authenticate(app, &head).await {
        Ok(principal) => {
            if let Some(principal) = principal {
                head.extensions.insert(principal);
            }
            Request::from_parts(head, body)
        }
        Err(refusal) => return pages::render_error(&Request::from_parts(head, body), refusal),
    };
    let patience = request_timeout(request.uri().path());
    // A panic in one handler fails only that request.
    let answering = AssertUnwindSafe(next.run(request)).catch_unwind();
    match timeout(patience, answering).await {
        Ok(Ok(response)) => response,
        Ok(Err(_)) => {
            ApiError::new(Code::Internal, "internal error", "this is a bug in Baton; please report it")
                .into_response()
        }
        Err(_) => ApiError::new(
            Code::Unavailable,
            format!("the request timed out after {} s", patience.as_secs()),
            "check whether it was done before you retry",
        )
        .into_response(),
    }
}

/// Authenticates the request; none for routes that do it themselves.
async fn authenticate(app: &App, head: &Parts) -> Result<Option<Principal>, ApiError> {
    app.guard.check_host(&head.headers)?;
    app.guard.check_origin(&head.headers)?;
    let (owner, sender) = match head.extensions.get::<Peer>() {
        Some(peer) => (peer.owner().await, peer.sender().await),
        None => (PeerOwner::Unknown, Sender::Address(Ipv4Addr::LOCALHOST.into())),
    };
    if !app.rate_limit.try_take(sender, Instant::now()) {
        return Err(ApiError::new(
            Code::TooManyRequests,
            "too many requests from this address",
            "wait a moment; use GET /api/events instead of polling",
        ));
    }
    let path = head.uri.path();
    if let PeerOwner::Attempt(attempt) = owner {
        return agents::admit(app, head, attempt).await;
    }
    let stranger = check_sender(owner)?;
    // The tool endpoints check attempts' tokens themselves.
    if path == paths::LOGIN || pages::is_public(path) || mount::is_attempt_request(path, &head.headers) {
        return Ok(None);
    }
    if let Some(refusal) = stranger {
        let principal = identify_by_token(app, &head.headers).await?.ok_or(refusal)?;
        return check_role(head, principal).map(Some);
    }
    // A client may show its token in the first message.
    if path == paths::SOCKET {
        return Ok(None);
    }
    check_role(head, identify(app, &head.headers).await?).map(Some)
}

/// Unmatched paths need no role; they end in 404.
fn check_role(head: &Parts, principal: Principal) -> Result<Principal, ApiError> {
    if let Some(route) = head.extensions.get::<MatchedPath>() {
        principal.check(roles::required_role(&head.method, route.as_str()), "this call")?;
    }
    Ok(principal)
}

/// The timeout of a request. Calls that ask a person or run a command have limits of their own, which the project decides.
fn request_timeout(path: &str) -> Duration {
    let runs_something = path == paths::MCP
        || ["/api/tools/", "/api/user-tasks/", "/user-tasks/"].iter().any(|start| path.starts_with(start));
    if runs_something { COMMAND_TIMEOUT } else { REQUEST_TIMEOUT }
}

/// The client's request id if it is well-formed, else a new one.
fn request_id(request: &Request) -> String {
    let is_harmless = |text: &&str| {
        !text.is_empty()
            && text.len() <= REQUEST_ID_LEN_MAX
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
    };
    let given = request.headers().get(&REQUEST_ID).and_then(|value| value.to_str().ok()).filter(is_harmless);
    given.map_or_else(|| Ids::secret().chars().take(16).collect(), str::to_owned)
}

/// The method as a metrics label; unknown ones share one label.
fn known_method(method: &Method) -> &'static str {
    match method.as_str() {
        "GET" => "GET",
        "HEAD" => "HEAD",
        "POST" => "POST",
        "PATCH" => "PATCH",
        "PUT" => "PUT",
        "DELETE" => "DELETE",
        "OPTIONS" => "OPTIONS",
        _ => "other",
    }
}

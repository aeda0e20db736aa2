//! The router: every route behind one door.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::panic::AssertUnwindSafe;
use std::time::{Duration, Instant};

use axum::extract::{MatchedPath, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, Method};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Extension, Router};
use baton_engine::ids::Ids;
use futures_util::FutureExt;
use tokio::time::timeout;
use tracing::Instrument;
use tracing::field::Empty;

use crate::error::{ApiError, Code};
use crate::limits::REQUEST_TIMEOUT;
use crate::mcp::mount;
use crate::metrics::Label;
use crate::routes::login;
use crate::state::App;
use crate::visitor::{Visitor, identify};
use crate::{exposition, openapi, pages, roles, routes, socket};

static REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// Longest request id of a client's own that is taken over.
const REQUEST_ID_LEN_MAX: usize = 64;
/// Where the token comes with the first message instead of a header.
const SOCKET_PATH: &str = "/ws";

/// Who is at the other end; put into each request by the server.
#[derive(Debug, Clone, Copy)]
pub struct Peer(pub SocketAddr);

pub fn router(app: App) -> Router {
    let router = calls()
        .route("/api/openapi.json", get(openapi::serve))
        .route("/metrics", get(exposition::serve))
        .route(SOCKET_PATH, get(socket::serve));
    mount::on(pages::on(router), &app)
        .fallback(nowhere)
        .method_not_allowed_fallback(wrong_method)
        .layer(from_fn_with_state(app.clone(), door))
        .with_state(app)
}

/// The calls of the API alone, for the owner, who is behind the door already.
pub(crate) fn calls_of_owner(app: App) -> Router {
    let owner = Visitor::owner(app.person.clone());
    calls().layer(Extension(owner)).with_state(app)
}

fn calls() -> Router<App> {
    routes::all().into_iter().fold(Router::new(), |router, route| router.route(route.path, route.handler))
}

async fn nowhere(request: Request) -> Response {
    let hint = "GET /api/openapi.json lists what there is";
    pages::refused(&request, ApiError::not_found("there is nothing at this address", hint))
}

async fn wrong_method(method: Method) -> ApiError {
    ApiError::new(
        Code::MethodNotAllowed,
        format!("this address does not take {method}"),
        "GET /api/openapi.json lists what it takes",
    )
}

/// Every request comes through here: it gets an id, is let in or not, is timed and counted.
async fn door(State(app): State<App>, request: Request, next: Next) -> Response {
    let started = Instant::now();
    let id = request_id(&request);
    let method = known_method(request.method());
    let route = request.extensions().get::<MatchedPath>().map_or("none", |path| path.as_str()).to_owned();
    let span =
        tracing::info_span!("request", id = %id, method, route, status = Empty, otel.status_code = Empty);
    let _in_flight = app.metrics.in_flight.one_more();
    let mut response = answered(&app, request, next).instrument(span.clone()).await;
    if let Ok(value) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(REQUEST_ID.clone(), value);
    }
    let (status, took) = (response.status().as_u16(), started.elapsed());
    span.record("status", status);
    if status >= 500 {
        span.record("otel.status_code", "ERROR");
    }
    span.in_scope(|| tracing::info!(status, took_ms = took.as_secs_f64() * 1_000.0, "answered"));
    app.metrics.answered(&Label { method, route, status }, took);
    response
}

async fn answered(app: &App, request: Request, next: Next) -> Response {
    let (mut head, body) = request.into_parts();
    let request = match let_in(app, &head).await {
        Ok(visitor) => {
            if let Some(visitor) = visitor {
                head.extensions.insert(visitor);
            }
            Request::from_parts(head, body)
        }
        Err(refusal) => return pages::refused(&Request::from_parts(head, body), refusal),
    };
    let patience = patience(app, request.uri().path());
    // A mistake of ours in one request is that request's trouble alone.
    let answering = AssertUnwindSafe(next.run(request)).catch_unwind();
    match timeout(patience, answering).await {
        Ok(Ok(response)) => response,
        Ok(Err(_)) => ApiError::new(
            Code::Internal,
            "something broke while this was being answered",
            "this is a mistake in Baton; please report it",
        )
        .into_response(),
        Err(_) => ApiError::new(
            Code::Unavailable,
            format!("this took longer than {} s", patience.as_secs()),
            "see whether it was done before you try again",
        )
        .into_response(),
    }
}

/// Who it is; none where it does not matter yet.
async fn let_in(app: &App, head: &Parts) -> Result<Option<Visitor>, ApiError> {
    let address = head.extensions.get::<Peer>().map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |peer| peer.0.ip());
    app.guard.check_host(&head.headers)?;
    app.guard.check_origin(&head.headers)?;
    if !app.rate_limit.takes(address, Instant::now()) {
        return Err(ApiError::new(
            Code::TooManyRequests,
            "this address asks faster than it is answered",
            "wait a moment; follow GET /api/events instead of asking again and again",
        ));
    }
    let path = head.uri.path();
    // An attempt comes to the tools with a token of its own, which they look at themselves.
    if path == SOCKET_PATH
        || path == login::PATH
        || pages::is_open(path)
        || mount::is_attempts_own(path, &head.headers)
    {
        return Ok(None);
    }
    let visitor = identify(app, &head.headers).await?;
    // Where there is nothing, nobody needs to be anybody.
    if let Some(route) = head.extensions.get::<MatchedPath>() {
        visitor.check(roles::needed(&head.method, route.as_str()), "this call")?;
    }
    Ok(Some(visitor))
}

/// How long a request may take. What asks a person and then runs a command takes as long as both may.
fn patience(app: &App, path: &str) -> Duration {
    let runs_something = path == mount::PATH
        || ["/api/tools/", "/api/user-tasks/", "/user-tasks/"].iter().any(|start| path.starts_with(start));
    if !runs_something {
        return REQUEST_TIMEOUT;
    }
    let settings = &app.shop.settings;
    let command = Duration::from_secs(settings.user_tasks.timeout);
    REQUEST_TIMEOUT.saturating_add(command).saturating_add(settings.asking.patience())
}

/// The client's own id, where it has a harmless one; else a new one.
fn request_id(request: &Request) -> String {
    let is_harmless = |text: &&str| {
        !text.is_empty()
            && text.len() <= REQUEST_ID_LEN_MAX
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
    };
    let given = request.headers().get(&REQUEST_ID).and_then(|value| value.to_str().ok()).filter(is_harmless);
    given.map_or_else(|| Ids::secret().chars().take(16).collect(), str::to_owned)
}

/// The methods we count by name; whatever else comes is one of the others.
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

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

use crate::api::{exposition, openapi, routes};
use crate::http::error::{ApiError, Code};
use crate::http::limits::REQUEST_TIMEOUT;
use crate::http::{paths, roles};
use crate::mcp::mount;
use crate::observe::metrics::Label;
use crate::state::App;
use crate::state::principal::{Principal, identify};
use crate::{pages, socket};

static REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// Longest request id of a client's own that is taken over.
const REQUEST_ID_LEN_MAX: usize = 64;

/// Who is at the other end; put into each request by the server.
#[derive(Debug, Clone, Copy)]
pub struct Peer(pub SocketAddr);

pub fn router(app: App) -> Router {
    let router = api_router()
        .route("/api/openapi.json", get(openapi::serve))
        .route("/metrics", get(exposition::serve))
        .route(paths::SOCKET, get(socket::serve));
    mount::mount(pages::add_routes(router), &app)
        .fallback(not_found)
        .method_not_allowed_fallback(wrong_method)
        .layer(from_fn_with_state(app.clone(), handle))
        .with_state(app)
}

/// The calls of the API alone, for the owner, who is behind the door already.
pub(crate) fn owner_router(app: App) -> Router {
    let owner = Principal::owner(app.person.clone());
    api_router().layer(Extension(owner)).with_state(app)
}

fn api_router() -> Router<App> {
    routes::all().into_iter().fold(Router::new(), |router, route| router.route(route.path, route.handler))
}

async fn not_found(request: Request) -> Response {
    let hint = "GET /api/openapi.json lists what there is";
    pages::render_error(&request, ApiError::not_found("there is nothing at this address", hint))
}

async fn wrong_method(method: Method) -> ApiError {
    ApiError::new(
        Code::MethodNotAllowed,
        format!("this address does not take {method}"),
        "GET /api/openapi.json lists what it takes",
    )
}

/// Every request comes through here: it gets an id, is let in or not, is timed and counted.
async fn handle(State(app): State<App>, request: Request, next: Next) -> Response {
    let started = Instant::now();
    let id = request_id(&request);
    let method = known_method(request.method());
    let route = request.extensions().get::<MatchedPath>().map_or("none", |path| path.as_str()).to_owned();
    let span = tracing::info_span!("request", id = %id, method, route, status = tracing::field::Empty);
    let _in_flight = app.metrics.in_flight.one_more();
    let mut response = respond(&app, request, next).instrument(span.clone()).await;
    if let Ok(value) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(REQUEST_ID.clone(), value);
    }
    let (status, took) = (response.status().as_u16(), started.elapsed());
    span.record("status", status);
    span.in_scope(|| tracing::info!(status, took_ms = took.as_secs_f64() * 1_000.0, "answered"));
    app.metrics.answered(Label { method, route, status }, took);
    response
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
    let patience = request_timeout(app, request.uri().path());
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
async fn authenticate(app: &App, head: &Parts) -> Result<Option<Principal>, ApiError> {
    let address = head.extensions.get::<Peer>().map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |peer| peer.0.ip());
    app.guard.check_host(&head.headers)?;
    app.guard.check_origin(&head.headers)?;
    if !app.rate_limit.try_take(address, Instant::now()) {
        return Err(ApiError::new(
            Code::TooManyRequests,
            "this address asks faster than it is answered",
            "wait a moment; follow GET /api/events instead of asking again and again",
        ));
    }
    let path = head.uri.path();
    // An attempt comes to the tools with a token of its own, which they look at themselves.
    if path == paths::SOCKET
        || path == paths::LOGIN
        || pages::is_public(path)
        || mount::is_attempt_request(path, &head.headers)
    {
        return Ok(None);
    }
    let principal = identify(app, &head.headers).await?;
    // Where there is nothing, nobody needs to be anybody.
    if let Some(route) = head.extensions.get::<MatchedPath>() {
        principal.check(roles::required_role(&head.method, route.as_str()), "this call")?;
    }
    Ok(Some(principal))
}

/// How long a request may take. What asks a person and then runs a command takes as long as both may.
fn request_timeout(app: &App, path: &str) -> Duration {
    let runs_something = path == paths::MCP
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

//! `/mcp`: the tools over streamable HTTP, and their authentication.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, HeaderName};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use baton_core::people::toolset::{ClientPowers, UnknownPower};
use baton_engine::base::attempt_secret::AttemptSecret;
use baton_engine::people::PersonSecret;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use crate::http::error::{ApiError, Code, Result};
use crate::http::guard::bearer;
use crate::http::idempotency::IDEMPOTENCY_KEY;
use crate::http::limits::BODY_BYTES_MAX;
use crate::http::paths;
use crate::mcp::{Caller, McpHandler, Toolbox};
use crate::state::App;
use crate::state::principal::Principal;

/// What a person's own client may decide.
pub(crate) static ALLOW: HeaderName = HeaderName::from_static("x-baton-allow");

impl Toolbox {
    /// The tools as this server provides them.
    pub fn for_server(app: &App) -> Self {
        Self::new(&app.workspace, &app.person)
    }
}

/// Adds the endpoint to the router.
pub fn mount(router: Router<App>, app: &App) -> Router<App> {
    // Host and Origin were checked before.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .with_max_request_body_bytes(BODY_BYTES_MAX);
    let (cancel, mut ending) = (config.cancellation_token.clone(), app.ending.clone());
    tokio::spawn(async move {
        // Also resolves when the sender is dropped.
        let _ = ending.wait_for(|is_ending| *is_ending).await;
        cancel.cancel();
    });
    let toolbox = Toolbox::for_server(app);
    let service = StreamableHttpService::new(
        move || Ok(McpHandler::new(toolbox.clone())),
        Arc::new(LocalSessionManager::default()),
        config,
    );
    let endpoint =
        Router::new().route_service(paths::MCP, service).layer(from_fn_with_state(app.clone(), authenticate));
    router.merge(endpoint)
}

/// Authenticates every request, so that a leaked MCP session id is useless.
async fn authenticate(State(app): State<App>, mut request: Request, next: Next) -> Response {
    // Its answer may be a stream, which cannot be repeated; a key that does nothing would deceive.
    if request.headers().contains_key(IDEMPOTENCY_KEY) {
        let hint = "call the tool at /api/tools/{name} instead, which takes one";
        return ApiError::invalid("/mcp takes no Idempotency-Key", hint).into_response();
    }
    let principal = request.extensions().get::<Principal>().cloned();
    match identify_caller(&app, request.headers(), principal).await {
        Ok(caller) => {
            request.extensions_mut().insert(caller);
            next.run(request).await
        }
        Err(refusal) => refusal.into_response(),
    }
}

/// Whether a request carries an attempt's token to one of the endpoints that check those.
pub fn is_attempt_request(path: &str, headers: &HeaderMap) -> bool {
    let is_theirs = path == paths::MCP
        || path == paths::TOOLS
        || path == paths::ATTEMPT_QUESTIONS
        || path.starts_with("/api/tools/");
    is_theirs && bearer(headers).is_some_and(|given| given.parse::<AttemptSecret>().is_ok())
}

/// What the person lets their client decide: the header of `baton mcp --allow`, or of the client's own settings.
fn powers_of(headers: &HeaderMap) -> Result<ClientPowers> {
    let Some(value) = headers.get(&ALLOW) else { return Ok(ClientPowers::default()) };
    value.to_str().unwrap_or("?").parse().map_err(|error: UnknownPower| {
        ApiError::invalid(error.to_string(), "send X-Baton-Allow: answer,accept, or one of them")
    })
}

/// The agent of a live attempt by its token, or the authenticated person. Any other token is refused: an agent whose
/// attempt has ended must not become a person.
pub async fn identify_caller(app: &App, headers: &HeaderMap, principal: Option<Principal>) -> Result<Caller> {
    let powers = powers_of(headers)?;
    let person = principal.map(|Principal { name, role, .. }| Caller::Person { name, role, powers });
    let error_text = || {
        ApiError::new(
            Code::Unauthorized,
            "this token belongs to no running attempt",
            "agents send BATON_TOKEN while their attempt runs; people on this machine need no token",
        )
    };
    if !headers.contains_key(AUTHORIZATION) {
        return person.ok_or_else(error_text);
    }
    let given = bearer(headers).ok_or_else(error_text)?;
    match given.parse::<AttemptSecret>() {
        Ok(secret) => Toolbox::for_server(app).find_caller(secret).await?.ok_or_else(error_text),
        Err(_) if app.guard.needs_token() || PersonSecret::has_prefix(given) => person.ok_or_else(error_text),
        Err(_) => Err(error_text()),
    }
}

//! `/mcp`: the tools over streamable HTTP, and who is at the door.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use baton_engine::asking::Secret;
use baton_engine::people::PersonSecret;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use crate::http::error::{ApiError, Code, Result};
use crate::http::guard::bearer;
use crate::http::limits::BODY_BYTES_MAX;
use crate::http::paths;
use crate::mcp::{Caller, McpHandler, Toolbox};
use crate::state::App;
use crate::state::principal::Principal;

impl Toolbox {
    /// The tools as this server provides them.
    pub fn for_server(app: &App) -> Self {
        Self::new(&app.shop, &app.person)
    }
}

/// Puts the endpoint on the router.
pub fn mount(router: Router<App>, app: &App) -> Router<App> {
    // Host and Origin were looked at by the time a request gets here.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .with_max_request_body_bytes(BODY_BYTES_MAX);
    let (cancel, mut ending) = (config.cancellation_token.clone(), app.ending.clone());
    tokio::spawn(async move {
        // Whether it turned true or nobody is left to turn it: it is over.
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

/// Every request says anew who it is from, so that a session is of no use to a stranger.
async fn authenticate(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let principal = request.extensions().get::<Principal>().cloned();
    match identify_caller(&app, request.headers(), principal).await {
        Ok(caller) => {
            request.extensions_mut().insert(caller);
            next.run(request).await
        }
        Err(refusal) => refusal.into_response(),
    }
}

/// Whether a request brings an attempt's token to where such tokens are looked at.
pub fn is_attempt_request(path: &str, headers: &HeaderMap) -> bool {
    let is_theirs = path == paths::MCP
        || path == paths::TOOLS
        || path == paths::ATTEMPT_QUESTIONS
        || path.starts_with("/api/tools/");
    is_theirs && bearer(headers).is_some_and(|given| given.parse::<Secret>().is_ok())
}

/// The agent of a live attempt by its token; the person the door has let in by theirs, or by none where none is
/// needed. A token that is neither is refused: an agent whose attempt is over must not become a person.
pub async fn identify_caller(app: &App, headers: &HeaderMap, principal: Option<Principal>) -> Result<Caller> {
    let person = principal.map(|Principal { name, role, .. }| Caller::Person { name, role });
    let error_text = || {
        ApiError::new(
            Code::Unauthorized,
            "this token is of no attempt at work here",
            "an agent passes BATON_TOKEN on as it is, while its attempt lasts; a person on this machine needs none",
        )
    };
    if !headers.contains_key(AUTHORIZATION) {
        return person.ok_or_else(error_text);
    }
    let given = bearer(headers).ok_or_else(error_text)?;
    match given.parse::<Secret>() {
        Ok(secret) => Toolbox::for_server(app).find_caller(secret).await?.ok_or_else(error_text),
        Err(_) if app.guard.needs_token() || PersonSecret::is_meant(given) => person.ok_or_else(error_text),
        Err(_) => Err(error_text()),
    }
}

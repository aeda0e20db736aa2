//! `/api/tools`: the tools of `/mcp` without the MCP protocol, for `baton mcp`.

use axum::Extension;
use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use serde_json::{Map, Value, json};

use crate::api::route::{Recall, Route};
use crate::http::error::Result;
use crate::http::input::{JsonBody, NoQuery, PathParam};
use crate::mcp::mount::identify_caller;
use crate::mcp::{ToolAnswer, Toolbox};
use crate::state::App;
use crate::state::principal::Principal;

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/tools", "list_tools", list)
            .returns_named("The tools the caller may use, as at /mcp", "ToolList"),
        Route::post("/api/tools/{name}", "call_tool", call)
            .once(Recall::Tool)
            .takes_named("ToolArguments")
            .returns::<ToolAnswer>("Calls a tool; errors of the call are in the result"),
    ]
}

async fn list(
    State(app): State<App>,
    principal: Option<Extension<Principal>>,
    headers: HeaderMap,
    _: NoQuery,
) -> Result<Json<Value>> {
    let caller = identify_caller(&app, &headers, principal.map(|found| found.0)).await?;
    Ok(Json(json!({ "tools": Toolbox::for_server(&app).list_tools(&caller) })))
}

async fn call(
    State(app): State<App>,
    PathParam(name): PathParam<String>,
    principal: Option<Extension<Principal>>,
    headers: HeaderMap,
    _: NoQuery,
    JsonBody(arguments): JsonBody<Map<String, Value>>,
) -> Result<Json<ToolAnswer>> {
    let caller = identify_caller(&app, &headers, principal.map(|found| found.0)).await?;
    if let Some(refusal) = Toolbox::for_server(&app).refusal(&caller, &name) {
        return Err(refusal);
    }
    Ok(Json(Toolbox::for_server(&app).call_tool(&caller, &name, Some(arguments)).await))
}

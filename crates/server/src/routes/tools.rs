//! `/api/tools`: the tools of `/mcp` without the protocol, for `baton mcp`, which speaks it elsewhere.

use axum::Extension;
use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use serde_json::{Map, Value, json};

use crate::error::Answer;
use crate::input::{Body, Key, Query};
use crate::mcp::ToolAnswer;
use crate::mcp::mount::who;
use crate::route::Route;
use crate::state::App;
use crate::visitor::Visitor;

pub fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/tools", "list_tools", list)
            .gives("The tools whoever asks may call, as at /mcp", "ToolList"),
        Route::post("/api/tools/{name}", "call_tool", call)
            .takes("ToolArguments")
            .gives("Calls a tool; what is wrong with the call is in the answer", "ToolAnswer"),
    ]
}

async fn list(
    State(app): State<App>,
    visitor: Option<Extension<Visitor>>,
    headers: HeaderMap,
    query: Query,
) -> Answer<Json<Value>> {
    query.done()?;
    let caller = who(&app, &headers, visitor.map(|found| found.0)).await?;
    Ok(Json(json!({ "tools": app.toolbox().offered(&caller) })))
}

async fn call(
    State(app): State<App>,
    Key(name): Key<String>,
    visitor: Option<Extension<Visitor>>,
    headers: HeaderMap,
    query: Query,
    Body(arguments): Body<Map<String, Value>>,
) -> Answer<Json<ToolAnswer>> {
    query.done()?;
    let caller = who(&app, &headers, visitor.map(|found| found.0)).await?;
    if let Some(refusal) = app.toolbox().refusal(&caller, &name) {
        return Err(refusal);
    }
    Ok(Json(app.toolbox().answer(&caller, &name, Some(arguments)).await))
}

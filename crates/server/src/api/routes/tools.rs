//! `/api/tools`: the tools of `/mcp` without the protocol, for `baton mcp`, which speaks it elsewhere.

use axum::Extension;
use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use serde_json::{Map, Value, json};

use crate::api::route::Route;
use crate::http::error::Answer;
use crate::http::input::{Body, Key, Query};
use crate::mcp::mount::who;
use crate::mcp::{ToolAnswer, Toolbox};
use crate::state::App;
use crate::state::principal::Visitor;

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
    Ok(Json(json!({ "tools": Toolbox::of_server(&app).offered(&caller) })))
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
    if let Some(refusal) = Toolbox::of_server(&app).refusal(&caller, &name) {
        return Err(refusal);
    }
    Ok(Json(Toolbox::of_server(&app).answer(&caller, &name, Some(arguments)).await))
}

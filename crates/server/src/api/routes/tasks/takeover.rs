//! `/api/tasks/{id}/takeover` and `…/handback`: a person works on a task in the place of its agent.

use axum::Json;
use axum::extract::State;
use baton_core::base::id::TaskId;
use baton_engine::attempt::takeover::TakeoverView;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::api::route::Route;
use crate::api::views::transition::TransitionView;
use crate::http::error::Result;
use crate::http::input::{JsonBody, NoQuery, PathParam, non_blank};
use crate::schema::words;
use crate::state::App;
use crate::state::principal::AuthedApp;

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::post("/api/tasks/{id}/takeover", "take_over_task", take)
            .takes::<TakeoverBody>()
            .returns_named(
                "Takes a task over from its agent: the agent ends when no tool of it runs, and no other one starts",
                "Takeover",
            )
            .may_conflict(),
        Route::get("/api/tasks/{id}/takeover", "get_takeover", show)
            .returns_named("Who has taken the task over, and where they work", "Takeover"),
        Route::post("/api/tasks/{id}/handback", "hand_back_task", give)
            .takes::<HandbackBody>()
            .returns::<TransitionView>("Hands the task back: its agent goes on, or the work is judged as it is")
            .may_conflict(),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "TakingOver")]
#[serde(deny_unknown_fields)]
struct TakeoverBody {
    /// End the agent at once, also in the middle of a tool.
    #[serde(default)]
    now: bool,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "HandingBack")]
#[serde(deny_unknown_fields)]
struct HandbackBody {
    /// The work is done: it is measured and judged as it is, and no agent goes on.
    #[serde(default)]
    done: bool,
    /// What the agent reads first; by default that a person worked in its folder.
    #[schemars(with = "Option<words::NonBlank>")]
    message: Option<String>,
}

async fn take(
    app: AuthedApp,
    PathParam(id): PathParam<TaskId>,
    _: NoQuery,
    JsonBody(body): JsonBody<TakeoverBody>,
) -> Result<Json<TakeoverView>> {
    Ok(Json(app.workspace.takeovers().take(id, body.now, app.actor()).await?))
}

async fn show(
    State(app): State<App>,
    PathParam(id): PathParam<TaskId>,
    _: NoQuery,
) -> Result<Json<TakeoverView>> {
    Ok(Json(app.workspace.takeovers().view(id).await?))
}

async fn give(
    app: AuthedApp,
    PathParam(id): PathParam<TaskId>,
    _: NoQuery,
    JsonBody(body): JsonBody<HandbackBody>,
) -> Result<Json<TransitionView>> {
    let message = body.message.map(|text| non_blank(&text, "message")).transpose()?;
    let old = app.tasks().task(id).await?.value.state().status();
    let task = app.workspace.takeovers().give(id, body.done, message, app.actor()).await?;
    Ok(Json(TransitionView::new(old, &task)))
}

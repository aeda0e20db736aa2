//! `/api/user-tasks`: the commands of `.agent/Taskfile.yml`.

use axum::Json;
use axum::extract::State;
use baton_engine::user_tasks::{Ran, Site, UserTaskError, UserTaskList};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api::route::{Recall, Route};
use crate::http::error::{ApiError, Result};
use crate::http::input::{JsonBody, NoQuery, PathParam};
use crate::state::App;
use baton_engine::base::error::EngineFailure;

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/user-tasks", "list_user_tasks", list)
            .returns_named("The project's user tasks in file order", "UserTaskList"),
        Route::post("/api/user-tasks/{name}/run", "run_user_task", run)
            .once(Recall::UserTask)
            .takes::<UserTaskArgs>()
            .returns_named("Runs a user task in the project's root and waits for it", "UserTaskRan")
            .may_conflict(),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "UserTaskRun")]
#[serde(deny_unknown_fields)]
struct UserTaskArgs {
    #[serde(default)]
    args: String,
}

#[derive(Serialize)]
struct UserTaskRunView {
    #[serde(flatten)]
    ran: Ran,
    /// The text of `run_user_task`, not truncated.
    message: String,
}

async fn list(State(app): State<App>, _: NoQuery) -> Result<Json<UserTaskList>> {
    match app.workspace.agents.user_tasks.list(&site(&app)) {
        Ok(list) => Ok(Json(list)),
        // No Taskfile means no user tasks, not an error.
        Err(error @ UserTaskError::NoTaskfile) => {
            Ok(Json(UserTaskList { tasks: Vec::new(), message: error.to_string() }))
        }
        Err(error) => Err(error.into()),
    }
}

async fn run(
    State(app): State<App>,
    PathParam(name): PathParam<String>,
    _: NoQuery,
    JsonBody(new): JsonBody<UserTaskArgs>,
) -> Result<Json<UserTaskRunView>> {
    app.tasks().book_call().await?;
    let ran = app.workspace.agents.user_tasks.run(&site(&app), &name, &new.args).await?;
    Ok(Json(UserTaskRunView { message: ran.text(), ran }))
}

fn site(app: &App) -> Site {
    Site::of_person(&app.workspace.place.root)
}

impl From<UserTaskError> for ApiError {
    fn from(error: UserTaskError) -> Self {
        Self::new(error.kind().into(), error.to_string(), error.hint())
    }
}

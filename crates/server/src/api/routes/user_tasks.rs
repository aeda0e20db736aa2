//! `/api/user-tasks`: the commands of `.agent/Taskfile.yml`.

use axum::Json;
use axum::extract::State;
use baton_engine::user_tasks::{Ran, Site, UserTaskError, UserTaskList};
use serde::{Deserialize, Serialize};

use crate::api::route::Route;
use crate::http::error::{Answer, ApiError, code_of_user_task};
use crate::http::input::{Body, Key, Query};
use crate::state::App;

pub fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/user-tasks", "list_user_tasks", list)
            .gives("The project's own commands, in the order of the file", "UserTaskList"),
        Route::post("/api/user-tasks/{name}/run", "run_user_task", run)
            .takes("UserTaskRun")
            .gives("Runs one in the project's root and waits for its end", "UserTaskRan")
            .may_conflict(),
    ]
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewRun {
    #[serde(default)]
    args: String,
}

#[derive(Serialize)]
struct RanView {
    #[serde(flatten)]
    ran: Ran,
    /// The same as `run_user_task` says it, but whole.
    message: String,
}

async fn list(State(app): State<App>, query: Query) -> Answer<Json<UserTaskList>> {
    query.done()?;
    match app.shop.user_tasks.list(&site(&app)) {
        Ok(list) => Ok(Json(list)),
        // Nothing is wrong: there are none.
        Err(error @ UserTaskError::NoTaskfile) => {
            Ok(Json(UserTaskList { tasks: Vec::new(), message: error.to_string() }))
        }
        Err(error) => Err(error.into()),
    }
}

async fn run(
    State(app): State<App>,
    Key(name): Key<String>,
    query: Query,
    Body(new): Body<NewRun>,
) -> Answer<Json<RanView>> {
    query.done()?;
    let ran = app.shop.user_tasks.run(&site(&app), &name, &new.args).await?;
    Ok(Json(RanView { message: ran.text(), ran }))
}

fn site(app: &App) -> Site {
    Site::of_person(&app.shop.place.root)
}

impl From<UserTaskError> for ApiError {
    fn from(error: UserTaskError) -> Self {
        Self::new(code_of_user_task(&error), error.to_string(), error.hint())
    }
}

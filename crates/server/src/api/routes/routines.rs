//! `/api/routines`: work that starts by time or by event.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use baton_core::base::id::{ProjectId, RoutineId, TaskId};
use baton_core::base::priority::Priority;
use baton_core::base::task_type::TaskType;
use baton_core::base::text::{NonBlank, RecipeId};
use baton_core::routine::schedule::Schedule;
use baton_core::routine::{CatchUp, Overlap, Routine, RoutineTask, Trigger};
use baton_engine::runs::routines::{Called, NewRoutine, Routines, local_zone_name};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::api::route::{Recall, Route};
use crate::api::routes::projects::{find_project, parse_title};
use crate::api::views::routine::RoutineView;
use crate::http::error::{ApiError, Result};
use crate::http::idempotency::read_key;
use crate::http::input::{EmptyBody, JsonBody, NoQuery, PathParam};
use crate::http::limits::CALL_CHARS_MAX;
use crate::schema::words;
use crate::state::App;
use crate::state::principal::AuthedApp;

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/routines", "list_routines", list)
            .returns_named("Routines, oldest first", "RoutineList"),
        Route::post("/api/routines", "create_routine", create)
            .once(Recall::Routine)
            .takes::<NewRoutineBody>()
            .created()
            .returns::<RoutineView>("Creates a routine; give one of every, cron and on")
            .may_be_missing()
            .may_conflict(),
        Route::get("/api/routines/{id}", "get_routine", show).returns::<RoutineView>("One routine"),
        Route::delete("/api/routines/{id}", "remove_routine", remove)
            .returns::<RoutineView>("Removes a routine; its tasks stay"),
        Route::post("/api/routines/{id}/pause", "pause_routine", pause)
            .takes::<EmptyBody>()
            .returns::<RoutineView>("Stops a routine until it is resumed"),
        Route::post("/api/routines/{id}/resume", "resume_routine", resume)
            .takes::<EmptyBody>()
            .returns::<RoutineView>("Lets a routine run again from now on"),
        Route::post("/api/routines/{id}/run", "run_routine", run)
            .takes::<RoutineCall>()
            .once(Recall::RoutineCall)
            .created()
            .returns::<RoutineCallView>("Runs a routine now, as a person or a webhook"),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "NewRoutine")]
#[serde(deny_unknown_fields)]
pub(crate) struct NewRoutineBody {
    #[schemars(with = "words::Title")]
    pub title: String,
    /// What each run is to do.
    #[serde(default)]
    pub description: String,
    /// In words: `Mon 06:00`, `weekday 07:00`, `15 minutes`.
    pub every: Option<String>,
    /// Minute, hour, day of the month, month, day of the week: `0 6 * * MON`.
    pub cron: Option<String>,
    /// An event: `ref:BRANCH`, `webhook` or `task:done`.
    pub on: Option<String>,
    /// Such as `Europe/Berlin`; by default that of the server.
    pub time_zone: Option<String>,
    #[serde(default)]
    #[schemars(with = "words::Overlap")]
    pub overlap: Overlap,
    #[serde(default)]
    #[schemars(with = "words::CatchUp")]
    pub catch_up: CatchUp,
    #[schemars(with = "Option<words::ProjectId>")]
    pub project_id: Option<ProjectId>,
    #[schemars(with = "Option<words::TaskType>")]
    pub task_type: Option<TaskType>,
    #[serde(default)]
    #[schemars(with = "words::Priority")]
    pub priority: Priority,
    #[schemars(with = "Option<words::Name>")]
    pub recipe: Option<RecipeId>,
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct RoutineCall {
    /// For the agent: why it runs now.
    content: String,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RoutineCallAnswer")]
struct RoutineCallView {
    /// `waiting` and `skipped` where the task of the last run is still open; `paused` where a person has paused a routine
    /// that is only called.
    #[schemars(with = "words::RoutineCallStatus")]
    status: &'static str,
    #[schemars(with = "Option<words::TaskId>")]
    task_id: Option<TaskId>,
    routine: RoutineView,
}

impl RoutineCallView {
    fn new(routine: &Routine, called: Called) -> Self {
        let (status, task_id) = match called {
            Called::Started(task) => ("started", Some(task)),
            Called::Waits => ("waiting", None),
            Called::Skipped => ("skipped", None),
            Called::Paused => ("paused", None),
        };
        Self { status, task_id, routine: RoutineView::from(routine) }
    }
}

async fn list(State(app): State<App>, _: NoQuery) -> Result<Json<Value>> {
    let routines = routines(&app).list().await?;
    let views: Vec<RoutineView> = routines.iter().map(RoutineView::from).collect();
    Ok(Json(json!({ "routines": views })))
}

async fn create(
    app: AuthedApp,
    _: NoQuery,
    JsonBody(new): JsonBody<NewRoutineBody>,
) -> Result<(StatusCode, Json<RoutineView>)> {
    let new = parse(&app, new).await?;
    let routine = routines(&app).add(new, app.actor()).await?;
    Ok((StatusCode::CREATED, Json(RoutineView::from(&routine))))
}

/// Checks a new routine.
pub(crate) async fn parse(app: &App, new: NewRoutineBody) -> Result<NewRoutine> {
    let title = parse_title(&new.title, "title")?;
    if let Some(id) = new.project_id {
        find_project(app, id).await?;
    }
    let invalid =
        |error: &dyn std::fmt::Display| ApiError::invalid(error.to_string(), "correct it and send it again");
    let by_time = |schedule: Schedule| -> Result<Trigger> {
        let name = new.time_zone.clone().unwrap_or_else(local_zone_name);
        let time_zone = NonBlank::new(name).map_err(|error| invalid(&error))?;
        Ok(Trigger::Time { schedule, time_zone, catch_up: new.catch_up })
    };
    let trigger = match (&new.every, &new.cron, &new.on) {
        (Some(words), None, None) => by_time(Schedule::every(words).map_err(|error| invalid(&error))?)?,
        (None, Some(fields), None) => by_time(Schedule::cron(fields).map_err(|error| invalid(&error))?)?,
        (None, None, Some(event)) => event.parse().map_err(|error| invalid(&error))?,
        _ => {
            let hint = "such as every \"Mon 06:00\", cron \"0 6 * * 1\", or on \"ref:main\", \"webhook\" or \"task:done\"";
            return Err(ApiError::invalid("a routine needs one of every, cron and on", hint));
        }
    };
    let words = format!("{title}\n{}", new.description);
    let task = RoutineTask {
        title,
        task_type: new.task_type.unwrap_or_else(|| TaskType::detect(&words)),
        description: new.description,
        project_id: new.project_id,
        priority: new.priority,
        recipe: new.recipe,
    };
    Ok(NewRoutine { task, trigger, overlap: new.overlap })
}

async fn show(
    State(app): State<App>,
    PathParam(id): PathParam<RoutineId>,
    _: NoQuery,
) -> Result<Json<RoutineView>> {
    Ok(Json(RoutineView::from(&routines(&app).get(id).await?)))
}

async fn remove(
    app: AuthedApp,
    PathParam(id): PathParam<RoutineId>,
    _: NoQuery,
) -> Result<Json<RoutineView>> {
    Ok(Json(RoutineView::from(&routines(&app).remove(id, app.actor()).await?)))
}

async fn pause(
    app: AuthedApp,
    PathParam(id): PathParam<RoutineId>,
    _: NoQuery,
    JsonBody(EmptyBody {}): JsonBody<EmptyBody>,
) -> Result<Json<RoutineView>> {
    Ok(Json(RoutineView::from(&routines(&app).pause(id, app.actor()).await?)))
}

async fn resume(
    app: AuthedApp,
    PathParam(id): PathParam<RoutineId>,
    _: NoQuery,
    JsonBody(EmptyBody {}): JsonBody<EmptyBody>,
) -> Result<Json<RoutineView>> {
    Ok(Json(RoutineView::from(&routines(&app).resume(id, app.actor()).await?)))
}

async fn run(
    app: AuthedApp,
    PathParam(id): PathParam<RoutineId>,
    _: NoQuery,
    headers: HeaderMap,
    JsonBody(call): JsonBody<RoutineCall>,
) -> Result<(StatusCode, Json<RoutineCallView>)> {
    if call.content.chars().count() > CALL_CHARS_MAX {
        return Err(ApiError::invalid(
            format!("content can have at most {CALL_CHARS_MAX} characters"),
            "send a link to the rest",
        ));
    }
    let key = read_key(&headers)?;
    let (routine, called) = routines(&app).call(id, key.as_deref(), &call.content).await?;
    Ok((StatusCode::CREATED, Json(RoutineCallView::new(&routine, called))))
}

/// What came of a call that was made with this key.
pub(crate) async fn recall(app: &App, id: RoutineId, key: &str, body: &[u8]) -> Result<Value> {
    let call: RoutineCall = serde_json::from_slice(body).unwrap_or_default();
    let (routine, called) = routines(app).called(id, key, &call.content).await?;
    Ok(json!(RoutineCallView::new(&routine, called)))
}

pub(crate) fn routines(app: &App) -> Routines {
    Routines::new(&app.workspace.projects)
}

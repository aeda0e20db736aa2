//! `/api/breakdowns`: plans for tasks that were too large.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use baton_core::base::id::{ProjectId, SessionId, TaskId};
use baton_core::base::task_type::TaskType;
use baton_core::base::text::Role;
use baton_core::people::actor::Actor;
use baton_core::recycle::plan::PlanDraft;
use baton_core::recycle::plan_record::PlanRecord;
use baton_core::task::state::StateName;
use baton_core::task::{Purpose, TaskSpec};
use baton_core::transition::command::{Command, CommandName};
use baton_core::transition::refusal::CommandRefusal;
use baton_engine::base::error::{Entity, NotFound};
use baton_engine::query::TaskFilter;
use baton_engine::reports::view::{TaskSummary, TaskView};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::api::route::{Recall, Route};
use crate::api::routes::projects::{find_project, parse_title};
use crate::api::routes::tasks::session_for;
use crate::api::routes::tasks::verdicts::{RejectBody, apply, send_back};
use crate::api::views::page::page_view;
use crate::api::views::transition::TransitionView;
use crate::http::error::Result;
use crate::http::input::{EmptyBody, JsonBody, NoQuery, PathParam, Query};
use crate::schema::words;
use crate::state::App;
use crate::state::principal::AuthedApp;

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/breakdowns", "list_breakdowns", list)
            .query("queue", "Queue", "Only breakdowns in this queue; provisional ones wait for approval")
            .paged("TaskCursor")
            .returns_named("Breakdowns, oldest first", "BreakdownPage"),
        Route::post("/api/breakdowns", "create_breakdown", create)
            .once(Recall::Breakdown)
            .takes::<NewBreakdown>()
            .created()
            .returns::<BreakdownView>("Creates a breakdown of a goal; with `run` an agent plans it at once")
            .may_be_missing()
            .may_conflict(),
        Route::get("/api/breakdowns/{id}", "get_breakdown", show)
            .returns::<BreakdownView>("A breakdown and its plan"),
        Route::patch("/api/breakdowns/{id}", "edit_breakdown", edit)
            .takes_named("PlanDraft")
            .returns::<BreakdownView>("Submits or replaces the plan")
            .may_conflict(),
        Route::post("/api/breakdowns/{id}/run", "run_breakdown", run)
            .takes::<EmptyBody>()
            .returns::<TransitionView>("Releases the breakdown to an agent for planning")
            .may_conflict(),
        Route::post("/api/breakdowns/{id}/approve", "approve_breakdown", approve)
            .once(Recall::Approval)
            .takes::<EmptyBody>()
            .returns::<ApprovalView>("Approves the plan: its subtasks replace the task")
            .may_conflict(),
        Route::post("/api/breakdowns/{id}/reject", "reject_breakdown", reject)
            .takes::<RejectBody>()
            .returns::<TransitionView>("Rejects the plan with a reason")
            .may_conflict(),
    ]
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Breakdown")]
struct BreakdownView {
    #[schemars(with = "words::TaskView")]
    breakdown: TaskView,
    #[schemars(with = "Option<words::PlanRecord>")]
    plan: Option<PlanRecord>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Approval")]
struct ApprovalView {
    #[schemars(with = "words::TaskId")]
    breakdown_id: TaskId,
    #[schemars(with = "Vec<words::TaskId>")]
    subtasks: Vec<TaskId>,
}

async fn list(State(app): State<App>, mut query: Query) -> Result<Json<Map<String, Value>>> {
    let queue = query.word("queue")?;
    let filter = TaskFilter { role: Some(Role::breakdown()), queue, ..TaskFilter::default() };
    let paging = query.page()?;
    query.done()?;
    let tasks = app.tasks().store.tasks(&filter, paging.cursor, paging.limit).await?;
    page_view("breakdowns", &tasks, TaskSummary::of).map(Json)
}

/// A breakdown of a goal; its plan replaces no task.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewBreakdown {
    #[schemars(with = "words::Title")]
    title: String,
    #[serde(default)]
    description: String,
    #[schemars(with = "Option<words::ProjectId>")]
    project_id: Option<ProjectId>,
    #[schemars(with = "Option<words::SessionId>")]
    session_id: Option<SessionId>,
    #[serde(default)]
    run: bool,
}

async fn create(
    app: AuthedApp,
    _: NoQuery,
    JsonBody(new): JsonBody<NewBreakdown>,
) -> Result<(StatusCode, Json<BreakdownView>)> {
    let title = parse_title(&new.title, "title")?;
    if let Some(id) = new.project_id {
        find_project(&app, id).await?;
    }
    let session = session_for(&app, new.project_id, new.session_id).await?;
    let spec = |id, created_at| TaskSpec {
        project_id: new.project_id,
        description: new.description.clone(),
        role: Role::breakdown(),
        purpose: Purpose::Breakdown { replaces_task_id: None, reason: None, by_hand: false },
        ..TaskSpec::new(id, session.clone(), TaskType::Implementation, title.clone(), created_at)
    };
    let id = app.tasks().add_task(&[], app.actor(), spec).await?.id();
    if new.run {
        app.tasks().apply(id, Command::Release, app.actor()).await?;
    }
    Ok((StatusCode::CREATED, load(&app, id).await?))
}

async fn show(
    State(app): State<App>,
    PathParam(id): PathParam<TaskId>,
    _: NoQuery,
) -> Result<Json<BreakdownView>> {
    load(&app, id).await
}

/// A breakdown that a call created. Should Baton have ended before it was released as asked for, that is done now.
pub(crate) async fn recall(app: &App, id: TaskId, body: &[u8], actor: Actor) -> Result<Value> {
    let is_wanted = serde_json::from_slice::<NewBreakdown>(body).is_ok_and(|new| new.run);
    if is_wanted && app.tasks().task(id).await?.version == 1 {
        app.tasks().apply(id, Command::Release, actor).await?;
    }
    let Json(view) = load(app, id).await?;
    Ok(json!(view))
}

/// The answer to an approval.
pub(crate) fn approval(breakdown_id: TaskId, subtasks: Vec<TaskId>) -> Value {
    json!(ApprovalView { breakdown_id, subtasks })
}

async fn load(app: &App, id: TaskId) -> Result<Json<BreakdownView>> {
    is_breakdown(app, id).await?;
    let plan = app.tasks().store.plan(id).await?.map(|stored| stored.value);
    Ok(Json(BreakdownView { breakdown: TaskView::load(app.tasks(), id).await?, plan }))
}

/// Answers 404 for other tasks.
async fn is_breakdown(app: &App, id: TaskId) -> Result<()> {
    if app.tasks().task(id).await?.value.is_breakdown() {
        Ok(())
    } else {
        Err(NotFound::new(Entity::Breakdown, id).into())
    }
}

async fn edit(
    app: AuthedApp,
    PathParam(id): PathParam<TaskId>,
    _: NoQuery,
    JsonBody(draft): JsonBody<PlanDraft>,
) -> Result<Json<BreakdownView>> {
    is_breakdown(&app, id).await?;
    let state = app.tasks().task(id).await?.value.state().name();
    if matches!(state, StateName::Done | StateName::Cancelled) {
        let command = CommandName::SubmitPlan;
        return Err(CommandRefusal::WrongState { task: id, state, command }.into());
    }
    app.tasks().submit_plan(id, draft, app.actor()).await?;
    load(&app, id).await
}

async fn run(
    app: AuthedApp,
    PathParam(id): PathParam<TaskId>,
    _: NoQuery,
    JsonBody(EmptyBody {}): JsonBody<EmptyBody>,
) -> Result<Json<TransitionView>> {
    // Other tasks are refused by the state machine.
    apply(&app, id, Command::Release).await
}

async fn approve(
    app: AuthedApp,
    PathParam(id): PathParam<TaskId>,
    _: NoQuery,
    JsonBody(EmptyBody {}): JsonBody<EmptyBody>,
) -> Result<Json<ApprovalView>> {
    is_breakdown(&app, id).await?;
    let subtasks = app.tasks().approve(id, app.actor()).await?;
    Ok(Json(ApprovalView { breakdown_id: id, subtasks }))
}

async fn reject(
    app: AuthedApp,
    PathParam(id): PathParam<TaskId>,
    _: NoQuery,
    JsonBody(body): JsonBody<RejectBody>,
) -> Result<Json<TransitionView>> {
    is_breakdown(&app, id).await?;
    send_back(&app, id, &body).await
}

//! `/api/breakdowns`: plans for tasks that were too large.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use baton_core::base::id::{ProjectId, SessionId, TaskId};
use baton_core::base::task_type::TaskType;
use baton_core::base::text::Role;
use baton_core::recycle::plan::PlanDraft;
use baton_core::recycle::plan_record::PlanRecord;
use baton_core::task::state::StateName;
use baton_core::task::{Purpose, TaskSpec};
use baton_core::transition::command::{Command, CommandName};
use baton_core::transition::refusal::CommandRefusal;
use baton_engine::base::error::{Entity, NotFound};
use baton_engine::query::TaskFilter;
use baton_engine::reports::view::{TaskSummary, TaskView};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::projects::{project, titled};
use super::tasks::session_for;
use super::tasks::verdicts::{Nothing, Rejection, apply, send_back};
use crate::error::Answer;
use crate::input::{Body, Key, Query};
use crate::route::Route;
use crate::state::App;
use crate::views::page::page;
use crate::views::transition::TransitionView;
use crate::visitor::Visited;

pub fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/breakdowns", "list_breakdowns", list)
            .query("queue", "Queue", "Only those in this queue; provisional ones wait for approval")
            .paged("TaskCursor")
            .gives("Breakdowns, oldest first", "BreakdownPage"),
        Route::post("/api/breakdowns", "create_breakdown", create)
            .takes("NewBreakdown")
            .created()
            .gives("Puts a goal down to be planned, by an agent at once with `run`", "Breakdown")
            .may_be_missing()
            .may_conflict(),
        Route::get("/api/breakdowns/{id}", "get_breakdown", show)
            .gives("A breakdown and its plan", "Breakdown"),
        Route::patch("/api/breakdowns/{id}", "edit_breakdown", edit)
            .takes("PlanDraft")
            .gives("Hands in a plan, or another one", "Breakdown")
            .may_conflict(),
        Route::post("/api/breakdowns/{id}/run", "run_breakdown", run)
            .takes("Nothing")
            .gives("Lets an agent plan it", "Transition")
            .may_conflict(),
        Route::post("/api/breakdowns/{id}/approve", "approve_breakdown", approve)
            .takes("Nothing")
            .gives("Makes the plan real: its subtasks take the place of the task", "Approval")
            .may_conflict(),
        Route::post("/api/breakdowns/{id}/reject", "reject_breakdown", reject)
            .takes("Rejection")
            .gives("Sends the plan back with the reason", "Transition")
            .may_conflict(),
    ]
}

#[derive(Serialize)]
struct Breakdown {
    breakdown: TaskView,
    plan: Option<PlanRecord>,
}

#[derive(Serialize)]
struct Approval {
    breakdown_id: TaskId,
    subtasks: Vec<TaskId>,
}

async fn list(State(app): State<App>, mut query: Query) -> Answer<Json<Map<String, Value>>> {
    let queue = query.word("queue")?;
    let filter = TaskFilter { role: Some(Role::breakdown()), queue, ..TaskFilter::default() };
    let paging = query.page()?;
    query.done()?;
    let tasks = app.tasks().store.tasks(&filter, paging.cursor, paging.limit).await?;
    page("breakdowns", &tasks, TaskSummary::of).map(Json)
}

/// A goal, and not a task that was too large: its plan replaces nothing.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewBreakdown {
    title: String,
    #[serde(default)]
    description: String,
    project_id: Option<ProjectId>,
    session_id: Option<SessionId>,
    #[serde(default)]
    run: bool,
}

async fn create(
    app: Visited,
    query: Query,
    Body(new): Body<NewBreakdown>,
) -> Answer<(StatusCode, Json<Breakdown>)> {
    query.done()?;
    let title = titled(&new.title, "title")?;
    if let Some(id) = new.project_id {
        project(&app, id).await?;
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

async fn show(State(app): State<App>, Key(id): Key<TaskId>, query: Query) -> Answer<Json<Breakdown>> {
    query.done()?;
    load(&app, id).await
}

async fn load(app: &App, id: TaskId) -> Answer<Json<Breakdown>> {
    is_breakdown(app, id).await?;
    let plan = app.tasks().store.plan(id).await?.map(|stored| stored.value);
    Ok(Json(Breakdown { breakdown: TaskView::load(app.tasks(), id).await?, plan }))
}

/// Under this address only breakdowns are there.
async fn is_breakdown(app: &App, id: TaskId) -> Answer<()> {
    if app.tasks().task(id).await?.value.is_breakdown() {
        Ok(())
    } else {
        Err(NotFound::new(Entity::Breakdown, id).into())
    }
}

async fn edit(
    app: Visited,
    Key(id): Key<TaskId>,
    query: Query,
    Body(draft): Body<PlanDraft>,
) -> Answer<Json<Breakdown>> {
    query.done()?;
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
    app: Visited,
    Key(id): Key<TaskId>,
    query: Query,
    Body(Nothing {}): Body<Nothing>,
) -> Answer<Json<TransitionView>> {
    query.done()?;
    // What is no breakdown is refused by the machine itself, which also says where it stands.
    apply(&app, id, Command::Release).await
}

async fn approve(
    app: Visited,
    Key(id): Key<TaskId>,
    query: Query,
    Body(Nothing {}): Body<Nothing>,
) -> Answer<Json<Approval>> {
    query.done()?;
    is_breakdown(&app, id).await?;
    let subtasks = app.tasks().approve(id, app.actor()).await?;
    Ok(Json(Approval { breakdown_id: id, subtasks }))
}

async fn reject(
    app: Visited,
    Key(id): Key<TaskId>,
    query: Query,
    Body(body): Body<Rejection>,
) -> Answer<Json<TransitionView>> {
    query.done()?;
    is_breakdown(&app, id).await?;
    send_back(&app, id, &body).await
}

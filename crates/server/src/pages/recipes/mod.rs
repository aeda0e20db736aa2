//! `/recipes`: each recipe as a diagram, with running steps highlighted and exits listed.

pub(super) mod exits;
pub(super) mod hub;
mod machine;

use std::collections::BTreeSet;

use axum::extract::State;
use axum::response::Response;
use baton_core::base::id::{ProjectId, SessionId, TaskId};
use baton_core::base::text::{NonBlank, RecipeId};
use baton_core::base::time::Timestamp;
use baton_core::phase::PhaseStart;
use baton_core::recipe::LOOP_RECIPE;
use baton_core::recipe::run::{Run, RunOrigin, RunState};
use baton_engine::query::RunFilter;
use baton_engine::reports::run_view::is_told;
use baton_engine::runs::{RunRequest, SessionRuns};
use baton_engine::settings::recipes::{ListedRecipe, RecipeSource};
use maud::{Markup, html};

use crate::http::error::ApiError;
use crate::http::input::Query;
use crate::pages::frame::form::PageForm;
use crate::pages::frame::key::PageParam;
use crate::pages::frame::layout::{Frame, heading};
use crate::pages::frame::navigation::Tab;
use crate::pages::frame::request::PageRequest;
use crate::pages::frame::response::{PageError, PageResult, redirect};
use crate::pages::projects;
use crate::pages::task::about::{describe_run, position};
use crate::pages::widgets::words::ago;
use crate::state::App;
use crate::state::principal::AuthedApp;

/// Ended runs shown on the page; `baton recipe runs` lists all.
const RECENT_MAX: u32 = 20;

pub(super) async fn show(State(app): State<App>, request: PageRequest, mut query: Query) -> PageResult {
    let shown: Option<RecipeId> = query.take("show")?;
    query.done()?;
    let frame = Frame::load(&app, request).await?;
    let runs: Vec<Run> =
        app.tasks().store.open_runs().await?.into_iter().map(|stored| stored.value).collect();
    let ended = RunFilter { session: None, is_open: Some(false) };
    let recent = app.tasks().store.runs(&ended, None, RECENT_MAX).await?.items;
    let recent: Vec<Run> = recent.into_iter().map(|stored| stored.value).filter(is_told).collect();
    let waiting = find_waiting(&app, &recent).await?;
    let recipes = app.tasks().recipes.list();
    let runs_of = |id: &RecipeId| runs.iter().filter(|run| run.recipe() == id).collect::<Vec<&Run>>();
    let mut listed: Vec<(&ListedRecipe, Vec<&Run>)> =
        recipes.iter().map(|each| (each, runs_of(each.recipe.id()))).collect();
    // What runs is on top.
    listed.sort_by_key(|(_, runs)| runs.is_empty());
    let projects = projects::list_projects(&app).await?;
    let start = |id: &RecipeId| {
        html! {
            details {
                summary { "Start" }
                form.inline method="post" action={ "/recipes/" (id) "/start" } {
                    label.unseen for={ "message-" (id) } { "Description" }
                    input #{ "message-" (id) } type="text" name="message" placeholder="What should be done? (optional)";
                    @if id.as_str() == LOOP_RECIPE { (phase_picker()) }
                    @if !projects.is_empty() {
                        label.unseen for={ "project-" (id) } { "Project" }
                        (projects::picker(&format!("project-{id}"), &projects, None, "No project"))
                    }
                    button.primary type="submit" { "Start" }
                }
            }
        }
    };
    let body = html! {
        (heading("Recipes", &html! { span.muted { "custom recipes: " code { ".agent/recipes/*.yml" } ", work that starts by itself: " a href="/routines" { "routines" } } }))
        @for fault in app.tasks().recipes.errors() { p.tone-failed { "✗ " (fault) } }
        (render_recent(&recent, &waiting, frame.now))
        div data-filter {
            @for (each, own) in &listed { (render_recipe(each, own, shown.as_ref() == Some(each.recipe.id()), &start(each.recipe.id()))) }
        }
        (exits::render_common())
    };
    Ok(frame.page(Tab::Recipes, "Recipes", &[], &body))
}

/// The tasks of these runs that wait for a person's answer.
async fn find_waiting(app: &App, runs: &[Run]) -> Result<BTreeSet<TaskId>, PageError> {
    let ids: Vec<TaskId> = runs.iter().filter_map(Run::task).collect();
    let tasks = app.tasks().store.tasks_by_ids(&ids).await?;
    let waiting = tasks.into_iter().filter(|stored| stored.value.pending_question().is_some());
    Ok(waiting.map(|stored| stored.value.id()).collect())
}

/// How the last runs ended.
fn render_recent(runs: &[Run], waiting: &BTreeSet<TaskId>, now: Timestamp) -> Markup {
    html! {
        @if !runs.is_empty() {
            section #recent-runs aria-labelledby="recent-runs-title" {
                h2 #recent-runs-title { "Ended runs" }
                ul.plain {
                    @for run in runs {
                        li {
                            a href={ "/chat/" (run.session()) } { (run.session()) } " "
                            (describe_run(run, run.task().is_some_and(|task| waiting.contains(&task))))
                            @if let Some(at) = run.ended_at() { " " (ago(at, now)) }
                            @if let Some(task) = run.task() { " " a href={ "/tasks/" (task) } { (task) } }
                        }
                    }
                }
            }
        }
    }
}

/// Where a loop starts. Execute takes up what is open in the session; a review looks at what is there.
fn phase_picker() -> Markup {
    html! {
        label for="loop-session" { "Session" }
        input #loop-session type="text" name="session" placeholder="a new one";
        label for="loop-from" { "Start with" }
        select #loop-from name="from" {
            option value="" { "plan" }
            option value="execute" { "execute" }
            option value="review" { "review" }
        }
    }
}

/// The diagram is drawn for a recipe that runs or was chosen; all of them would be a wall.
fn render_recipe(listed: &ListedRecipe, runs: &[&Run], is_chosen: bool, start: &Markup) -> Markup {
    let recipe = &listed.recipe;
    let is_drawn = is_chosen || !runs.is_empty();
    let guardrails = recipe.guardrails();
    html! {
        section.recipe #(recipe.id()) data-row aria-labelledby={ (recipe.id()) "-title" } {
            h2 #{ (recipe.id()) "-title" } { (recipe.label()) " " span.id { (recipe.id()) } }
            p { (recipe.description()) }
            p.muted {
                @match &listed.source { RecipeSource::BuiltIn => "built in", RecipeSource::File(path) => (path.display()) }
                " · at most " (guardrails.max_step_visits()) " visits per step, " (guardrails.max_total_steps()) " steps in total"
            }
            @for fault in &listed.errors { p.tone-failed { "✗ " (fault) } }
            @for run in runs { (render_run(run)) }
            @if is_drawn {
                (machine::render(recipe, runs))
                (exits::render_own(recipe))
            } @else {
                p { a href={ "/recipes?show=" (recipe.id()) "#" (recipe.id()) } { "Steps and exits" } }
            }
            (start)
        }
    }
}

fn render_run(run: &Run) -> Markup {
    let word = match run.state() {
        RunState::Working => "running",
        RunState::AtGate { .. } => "waiting at the gate",
        RunState::Leaving { .. } => "ending",
        RunState::Exited { .. } => "ended",
    };
    html! {
        div.notice.inline {
            span { "▶ " a href={ "/chat/" (run.session()) } { (run.session()) } " " (word) " at " strong { (run.step()) } (position(run)) }
            @if run.origin() == RunOrigin::Session {
                form method="post" action={ "/chat/" (run.session()) "/exit" } { button type="submit" { "Stop" } }
            }
        }
    }
}

/// Starts a recipe on the session named, on the project's default one, or on a new one.
pub(super) async fn start(app: AuthedApp, PageParam(id): PageParam<RecipeId>, form: PageForm) -> PageResult {
    let project: Option<ProjectId> = form.parse("project")?;
    if let Some(id) = project {
        crate::api::routes::projects::find_project(&app, id).await?;
    }
    let session = match (form.parse("session")?, project) {
        (Some(session), _) => session,
        (None, Some(id)) => SessionId::for_project(id),
        (None, None) => new_session_id(&app)?,
    };
    let message = NonBlank::new(form.text("message").trim()).ok();
    let from = first_phase(&form)?;
    let request = RunRequest { recipe: id, project, message, from };
    SessionRuns::new(app.tasks()).start(&session, &request, app.actor()).await?;
    Ok(redirect_to(&session))
}

fn first_phase(form: &PageForm) -> Result<Option<PhaseStart>, PageError> {
    match form.choice("from") {
        None => Ok(None),
        Some("plan") => Ok(Some(PhaseStart::Plan)),
        Some("execute") => Ok(Some(PhaseStart::Execute)),
        Some("review") => Ok(Some(PhaseStart::Review)),
        Some(_) => Err(ApiError::invalid("there is no such phase", "choose plan, execute or review").into()),
    }
}

fn new_session_id(app: &App) -> Result<SessionId, PageError> {
    let name = app.tasks().ids.task().to_string().replace("TASK-", "run-");
    name.parse().map_err(|error: baton_core::base::id::InvalidId| {
        ApiError::invalid(error.to_string(), "try again").into()
    })
}

pub(super) async fn exit(
    app: AuthedApp,
    PageParam(session): PageParam<SessionId>,
    form: PageForm,
) -> PageResult {
    SessionRuns::new(app.tasks()).exit(&session, app.actor()).await?;
    Ok(redirect(&form.next("/recipes")))
}

fn redirect_to(session: &SessionId) -> Response {
    redirect(&format!("/chat/{session}"))
}

//! `/recipes`: each workflow drawn as the machine it is, the step of a run lit, the exits in words.

pub mod ends;
mod machine;

use axum::extract::State;
use axum::response::Response;
use baton_core::base::id::{ProjectId, SessionId};
use baton_core::base::text::{NonBlank, RecipeId};
use baton_core::recipe::run::{Run, RunOrigin, RunState};
use baton_engine::recipes::{Listed, Source};
use maud::{Markup, html};

use super::answer::{PageAnswer, PageError, go};
use super::form::Form;
use super::key::Key;
use super::layout::{Frame, Tab, heading};
use super::projects;
use super::visit::Visit;
use crate::error::ApiError;
use crate::state::App;
use crate::visitor::Visited;

pub async fn show(State(app): State<App>, visit: Visit) -> PageAnswer {
    let frame = Frame::load(&app, visit).await?;
    let runs: Vec<Run> =
        app.tasks().store.open_runs().await?.into_iter().map(|stored| stored.value).collect();
    let listed = app.tasks().recipes.list();
    let projects = projects::offered(&app).await?;
    let start = |id: &RecipeId| {
        html! {
            details {
                summary { "Start it" }
                form.inline method="post" action={ "/recipes/" (id) "/start" } {
                    label.unseen for={ "message-" (id) } { "What is to be done" }
                    input #{ "message-" (id) } type="text" name="message" placeholder="What is to be done (may stay empty)";
                    @if !projects.is_empty() {
                        label.unseen for={ "project-" (id) } { "Project" }
                        (projects::choice(&format!("project-{id}"), &projects, None, "No project"))
                    }
                    button.primary type="submit" { "Start" }
                }
            }
        }
    };
    let body = html! {
        (heading("Recipes", &html! { span.muted { "yours: " code { ".agent/recipes/*.yml" } } }))
        div data-filter {
            @for each in &listed {
                @let own: Vec<&Run> = runs.iter().filter(|run| run.recipe() == each.recipe.id()).collect();
                (recipe(each, &own, &start(each.recipe.id())))
            }
        }
        (ends::of_all())
    };
    Ok(frame.page(Tab::Recipes, "Recipes", &[], &body))
}

fn recipe(listed: &Listed, runs: &[&Run], start: &Markup) -> Markup {
    let recipe = &listed.recipe;
    let guardrails = recipe.guardrails();
    html! {
        section.recipe #(recipe.id()) data-row aria-labelledby={ (recipe.id()) "-title" } {
            h2 #{ (recipe.id()) "-title" } { (recipe.label()) " " span.id { (recipe.id()) } }
            p { (recipe.description()) }
            p.muted {
                @match &listed.source { Source::BuiltIn => "built in", Source::File(path) => (path.display()) }
                " · at most " (guardrails.max_step_visits()) " visits of a step, " (guardrails.max_total_steps()) " steps in all"
            }
            @for fault in &listed.faults { p.tone-failed { "✗ " (fault) } }
            @for run in runs { (running(run)) }
            (machine::drawing(recipe, runs))
            (ends::own(recipe))
            (start)
        }
    }
}

fn running(run: &Run) -> Markup {
    let word = match run.state() {
        RunState::Working => "works",
        RunState::AtGate { .. } => "waits at the gate",
        RunState::Leaving { .. } => "is ending",
        RunState::Exited { .. } => "has ended",
    };
    html! {
        div.notice.inline {
            span { "▶ " a href={ "/chat/" (run.session()) } { (run.session()) } " " (word) " at " strong { (run.step()) } ", step " (run.total_steps()) }
            @if run.origin() == RunOrigin::Session {
                form method="post" action={ "/chat/" (run.session()) "/exit" } { button type="submit" { "Stop this run" } }
            }
        }
    }
}

/// A person starts one: on the project's own session, or on one made for it.
pub async fn start(app: Visited, Key(id): Key<RecipeId>, form: Form) -> PageAnswer {
    let project: Option<ProjectId> = form.parsed("project")?;
    if let Some(id) = project {
        crate::routes::projects::project(&app, id).await?;
    }
    let session = match project {
        Some(id) => SessionId::for_project(id),
        None => fresh(&app)?,
    };
    let message = NonBlank::new(form.text("message").trim()).ok();
    app.tasks().start_run(&session, &id, project, message, app.actor()).await?;
    Ok(to(&session))
}

fn fresh(app: &App) -> Result<SessionId, PageError> {
    let name = app.tasks().ids.task().to_string().replace("TASK-", "run-");
    name.parse().map_err(|error: baton_core::base::id::InvalidId| {
        ApiError::invalid(error.to_string(), "try again").into()
    })
}

pub async fn exit(app: Visited, Key(session): Key<SessionId>, form: Form) -> PageAnswer {
    app.tasks().exit_run(&session, app.actor()).await?;
    Ok(go(&form.next("/recipes")))
}

fn to(session: &SessionId) -> Response {
    go(&format!("/chat/{session}"))
}

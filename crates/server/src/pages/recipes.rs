//! `/recipes`: each workflow drawn as the machine it is, the step of a run lit, the exits in words.

use axum::extract::State;
use axum::response::Response;
use baton_core::exit_reason::ExitReason;
use baton_core::id::{ProjectId, SessionId};
use baton_core::recipe::{Recipe, Transition};
use baton_core::run::{Origin, Run, RunState};
use baton_core::text::{NonBlank, RecipeId, StepName};
use baton_engine::Store;
use baton_engine::recipes::{Listed, Source};
use maud::{Markup, html};

use super::answer::{PageAnswer, PageError, go};
use super::form::Form;
use super::key::Key;
use super::layers::places;
use super::layout::{Frame, Tab, heading};
use super::visit::Visit;
use super::words::{Sign, of_exit};
use crate::error::ApiError;
use crate::state::App;
use crate::visitor::Visited;

const PROJECTS_MAX: u32 = 100;
const WIDTH: usize = 184;
const HEIGHT: usize = 40;
const COLUMN: usize = 330;
const ROW: usize = 76;
const MARGIN: usize = 34;

pub async fn show<S: Store>(State(app): State<App<S>>, visit: Visit) -> PageAnswer {
    let frame = Frame::load(&app, visit).await?;
    let runs: Vec<Run> = app.desk().store.open_runs().await?.into_iter().map(|stored| stored.value).collect();
    let listed = app.desk().recipes.list();
    let projects = app.desk().store.projects(None, PROJECTS_MAX).await?.items;
    let start = |id: &RecipeId| {
        html! {
            details {
                summary { "Start it" }
                form.inline method="post" action={ "/recipes/" (id) "/start" } {
                    label.unseen for={ "message-" (id) } { "What is to be done" }
                    input #{ "message-" (id) } type="text" name="message" placeholder="What is to be done (may stay empty)";
                    @if !projects.is_empty() {
                        label.unseen for={ "project-" (id) } { "Project" }
                        select #{ "project-" (id) } name="project" {
                            option value="" { "No project" }
                            @for project in &projects { option value=(project.id) { (project.title) } }
                        }
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
            (drawing(recipe, runs))
            (exits(recipe))
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
            @if run.origin() == Origin::Session {
                form method="post" action={ "/chat/" (run.session()) "/exit" } { button type="submit" { "Stop this run" } }
            }
        }
    }
}

/// A node of the drawing: a step, or an end.
#[derive(PartialEq, Eq)]
enum Node<'a> {
    Step(&'a StepName),
    Exit(&'a ExitReason),
}

fn drawing(recipe: &Recipe, runs: &[&Run]) -> Markup {
    let mut nodes: Vec<Node<'_>> = recipe.steps().iter().map(|step| Node::Step(step.name())).collect();
    let mut edges: Vec<(usize, usize, &str)> = Vec::new();
    for (from, step) in recipe.steps().iter().enumerate() {
        for (outcome, transition) in step.transitions() {
            let node = match transition {
                Transition::NextStep { step } => Node::Step(step),
                Transition::Exit { reason } => Node::Exit(reason),
                Transition::RestartNewSession => Node::Step(recipe.initial_step()),
            };
            let to = nodes.iter().position(|known| *known == node).unwrap_or_else(|| {
                nodes.push(node);
                nodes.len() - 1
            });
            edges.push((from, to, outcome.as_str()));
        }
    }
    // A step that leads back is drawn from right to left and does not move anything.
    let forward: Vec<(usize, usize)> =
        edges.iter().filter(|(from, to, _)| to > from).map(|(from, to, _)| (*from, *to)).collect();
    let places = places(nodes.len(), &forward);
    let columns = places.iter().map(|(column, _)| column + 1).max().unwrap_or(1);
    let rows = places.iter().map(|(_, row)| row + 1).max().unwrap_or(1);
    let (width, height) = (columns * COLUMN - (COLUMN - WIDTH) + 2 * MARGIN, rows * ROW + MARGIN);
    let corner = |number: usize| (MARGIN + places[number].0 * COLUMN, MARGIN / 2 + places[number].1 * ROW);
    html! {
        div.drawing tabindex="0" role="region" aria-label={ (recipe.label()) ", drawn; its exits are listed below" } {
            svg width=(width) height=(height) viewBox={ "0 0 " (width) " " (height) } {
                @for (from, to, outcome) in &edges { (edge(corner(*from), corner(*to), outcome)) }
                @for (number, each) in nodes.iter().enumerate() { (node(each, recipe, runs, corner(number))) }
            }
        }
    }
}

fn edge((x1, y1): (usize, usize), (x2, y2): (usize, usize), outcome: &str) -> Markup {
    let is_back = x2 <= x1;
    let (path, label) = if is_back {
        // Out below, under the boxes, and in from below.
        let (from, to, y, y_to) = (x1 + WIDTH / 2, x2 + WIDTH / 2, y1 + HEIGHT, y2 + HEIGHT);
        let low = y.max(y_to) + 26;
        (format!("M{from} {y} C{from} {low} {to} {low} {to} {y_to}"), (to + (from - to) / 3, low - 3))
    } else {
        let (from, y, y_to) = (x1 + WIDTH, y1 + HEIGHT / 2, y2 + HEIGHT / 2);
        let middle = usize::midpoint(from, x2);
        (
            format!("M{from} {y} C{middle} {y} {middle} {y_to} {x2} {y_to}"),
            (middle, usize::midpoint(y, y_to) - 4),
        )
    };
    html! {
        path.edge d=(path) {}
        @if !is_back { path.head d={ "M" (x2) " " (y2 + HEIGHT / 2) " l-8 -4 v8 z" } {} } @else { path.head d={ "M" (x2 + WIDTH / 2) " " (y2 + HEIGHT) " l-4 8 h8 z" } {} }
        text.label x=(label.0) y=(label.1) text-anchor="middle" { (outcome) }
    }
}

fn node(node: &Node<'_>, recipe: &Recipe, runs: &[&Run], (x, y): (usize, usize)) -> Markup {
    let (text, sign, is_lit) = match node {
        Node::Step(step) => {
            let sign = Sign {
                word: "",
                glyph: if *step == recipe.initial_step() { "●" } else { "" },
                tone: "queued",
            };
            (step.to_string(), sign, runs.iter().any(|run| run.step() == *step))
        }
        Node::Exit(reason) => (super::words::short(reason.as_str(), 25), of_exit(reason.category()), false),
    };
    html! {
        g class={ "tone-" (sign.tone) @if is_lit { " lit" } } {
            rect.box x=(x) y=(y) width=(WIDTH) height=(HEIGHT) rx=(if matches!(node, Node::Exit(_)) { 20 } else { 8 }) {}
            text x=(x + WIDTH / 2) y=(y + HEIGHT / 2 + 4) text-anchor="middle" { (sign.glyph) " " (text) @if is_lit { " ◀" } }
        }
    }
}

fn exits(recipe: &Recipe) -> Markup {
    let mut reasons: Vec<&ExitReason> = recipe
        .steps()
        .iter()
        .flat_map(baton_core::recipe::Step::transitions)
        .filter_map(|(_, transition)| match transition {
            Transition::Exit { reason } => Some(reason),
            Transition::NextStep { .. } | Transition::RestartNewSession => None,
        })
        .collect();
    reasons.sort();
    reasons.dedup();
    html! {
        details {
            summary { "How it can end" }
            ul.plain.exits { @for reason in reasons { li { (of_exit(reason.category()).chip()) " " (reason.message()) " " span.id { (reason) } } } }
        }
    }
}

/// A person starts one: on the project's own session, or on one made for it.
pub async fn start<S: Store>(app: Visited<S>, Key(id): Key<RecipeId>, form: Form) -> PageAnswer {
    let project: Option<ProjectId> = form.parsed("project")?;
    if let Some(id) = project {
        crate::routes::projects::project(&app, id).await?;
    }
    let session = match project {
        Some(id) => SessionId::of_project(id),
        None => fresh(&app)?,
    };
    let message = NonBlank::new(form.text("message").trim()).ok();
    app.desk().start_run(&session, &id, project, message, app.actor()).await?;
    Ok(to(&session))
}

fn fresh<S: Store>(app: &App<S>) -> Result<SessionId, PageError> {
    let name = app.desk().ids.task().to_string().replace("TASK-", "run-");
    name.parse()
        .map_err(|error: baton_core::id::BadId| ApiError::invalid(error.to_string(), "try again").into())
}

pub async fn exit<S: Store>(app: Visited<S>, Key(session): Key<SessionId>, form: Form) -> PageAnswer {
    app.desk().exit_run(&session, app.actor()).await?;
    Ok(go(&form.next("/recipes")))
}

fn to(session: &SessionId) -> Response {
    go(&format!("/chat/{session}"))
}

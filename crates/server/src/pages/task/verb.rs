//! Decisions about a task: a preview of the consequences, then the action.

use axum::extract::{Path, State};
use axum::response::Response;
use baton_core::base::git_name::BranchName;
use baton_core::base::id::TaskId;
use baton_core::base::text::NonBlank;
use baton_core::recycle::RecycleReason;
use baton_core::task::Task;
use baton_core::task::revision::Revision;
use baton_core::task::state::{ReviewMark, TaskState};
use baton_core::transition::command::Command;
use baton_engine::landing::acceptor::Accepted;
use baton_engine::query::TaskDependency;
use maud::{Markup, html};

use crate::http::error::{ApiError, Code};
use crate::http::input::non_blank;
use crate::pages::frame::form::PageForm;
use crate::pages::frame::navigation::Tab;
use crate::pages::frame::request::PageRequest;
use crate::pages::frame::response::{PageError, PageResult, redirect};
use crate::pages::task::TaskPage;
use crate::pages::tasks_by_id::load_tasks;
use crate::pages::widgets::card::verbs;
use crate::pages::widgets::words::{pluralize, state_badge};
use crate::state::App;
use crate::state::principal::AuthedApp;

/// Dependents considered by the preview.
const DEPENDENTS_MAX: u32 = 100;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verb {
    Accept,
    Reject,
    Recycle,
    Retry,
    Release,
    Stop,
    Cancel,
}

impl Verb {
    fn read(text: &str) -> Result<Self, PageError> {
        Ok(match text {
            "accept" => Self::Accept,
            "reject" => Self::Reject,
            "recycle" => Self::Recycle,
            "retry" => Self::Retry,
            "release" => Self::Release,
            "stop" => Self::Stop,
            "cancel" => Self::Cancel,
            _ => return Err(ApiError::not_found("no such action", "go back to the task").into()),
        })
    }

    const fn word(self) -> &'static str {
        match self {
            Self::Accept => "Accept",
            Self::Reject => "Request changes",
            Self::Recycle => "Split",
            Self::Retry => "Retry",
            Self::Release => "Release",
            Self::Stop => "Stop",
            Self::Cancel => "Cancel",
        }
    }
}

/// The confirmation dialog with the preview.
pub(crate) async fn ask(
    State(app): State<App>,
    Path((id, verb)): Path<(String, String)>,
    request: PageRequest,
) -> PageResult {
    let (id, word) = (read(&id)?, Verb::read(&verb)?);
    let seen = TaskPage::load(&app, id, request).await?;
    let body = html! {
        div.sheet.narrow {
            h1 { (word.word()) ": " (seen.task.spec().title) }
            p { (state_badge(seen.task.state()).chip()) " " span.id { (id) } }
            @if verbs(&seen.task).iter().any(|(legal, _)| *legal == verb) {
                (preview(&app, &seen.task, word).await?)
                (form(&seen.task, &verb, word))
            } @else {
                div.alert role="alert" { p { "Not possible in the current state." } }
                p { a href={ "/tasks/" (id) } { "← Back to the task" } }
            }
        }
    };
    Ok(seen.frame.page(Tab::Board, word.word(), &[id.to_string()], &body))
}

fn read(text: &str) -> Result<TaskId, PageError> {
    text.parse().map_err(|error: baton_core::base::id::InvalidId| {
        ApiError::not_found(error.to_string(), "the board lists all tasks").into()
    })
}

fn form(task: &Task, verb: &str, word: Verb) -> Markup {
    let id = task.id();
    html! {
        form method="post" action={ "/tasks/" (id) "/do/" (verb) } {
            @match word {
                Verb::Reject => {
                    label for="reason" { "What should change? The next attempt gets this text." }
                    textarea #reason name="reason" rows="5" required autofocus {}
                },
                Verb::Cancel => {
                    label for="reason" { "Reason (optional)" }
                    input #reason type="text" name="reason";
                },
                Verb::Accept if needs_force(task) => input type="hidden" name="force" value="yes";,
                _ => {},
            }
            div.actions {
                button.primary type="submit" autofocus[word != Verb::Reject] { (word.word()) }
                a.button href={ "/tasks/" (id) } data-close { "Back" }
            }
        }
    }
}

fn needs_force(task: &Task) -> bool {
    matches!(task.state(), TaskState::Landing(_))
        || matches!(task.state(), TaskState::Provisional(work) if work.mark.needs_force())
}

fn is_too_large(task: &Task) -> bool {
    matches!(task.state(), TaskState::Provisional(provisional) if provisional.mark.is_too_large())
}

async fn preview(app: &App, task: &Task, verb: Verb) -> Result<Markup, PageError> {
    Ok(match verb {
        Verb::Accept => preview_accept(app, task).await?,
        Verb::Reject => {
            html! { p { "The agent goes on with this text, ahead of other work. Its branch and its session are kept." } }
        }
        Verb::Recycle => {
            html! { p { "Replaces the task by smaller ones, once their plan is approved. Tasks that depend on it wait for them. The branch is kept." } }
        }
        Verb::Retry => html! { p { "Requeues the task and resets its counters." } },
        Verb::Release => html! { p { "Lets agents start the task." } },
        Verb::Stop => {
            html! { p { "Ends the agent and holds the task. What it has done is kept; a release lets it go on." } }
        }
        Verb::Cancel => {
            let stranded = app.tasks().store.dependents(task.id(), None, DEPENDENTS_MAX).await?.len();
            html! {
                p { "Stops work on the task. Its branch is kept." }
                @if stranded > 0 { p.tone-failed { "✗ " (pluralize(stranded as u64, "task")) " depending on it could never start." } }
            }
        }
    })
}

/// What would be merged, and what could start then.
async fn preview_accept(app: &App, task: &Task) -> Result<Markup, PageError> {
    let commits = task.ledger().last_end.as_ref().map_or(0, |end| end.verified.commits);
    let dependents = app.tasks().store.dependents(task.id(), None, DEPENDENTS_MAX).await?;
    let ids: Vec<TaskId> = dependents.iter().map(|edge| edge.task).collect();
    let tasks = load_tasks(app, ids.iter().copied()).await?;
    let edges =
        if ids.is_empty() { Vec::new() } else { app.tasks().store.dependencies_of_many(&ids).await? };
    let is_open = |edge: &&TaskDependency| !edge.is_met && edge.on != task.id();
    let open = |id: TaskId| edges.iter().filter(|edge| edge.task == id).filter(is_open).count();
    let (starts, waits): (Vec<_>, Vec<_>) =
        tasks.values().map(|dependent| (dependent, open(dependent.id()))).partition(|(_, open)| *open == 0);
    Ok(html! {
        @if matches!(task.state(), TaskState::Landing(_)) { p.tone-failed { "▲ Its checks have not passed yet. It is merged without them, and that is recorded with your name." } }
        @if is_too_large(task) { p.tone-failed { "▲ The turns were used up before it was finished. Accepting merges what is there and marks it done." } }
        p { "Merges " code { (BranchName::for_task(task.id())) } " (" (pluralize(u64::from(commits), "commit")) " in the last attempt) and marks the task done. This is final." }
        @if let TaskState::Provisional(provisional) = task.state() && let ReviewMark::NoChanges { reason } = &provisional.mark {
            p { "The agent reports that nothing needs to change: " (reason) }
        }
        @if !starts.is_empty() {
            h2 { "Starts" }
            ul.plain { @for (task, _) in &starts { li { "▶ " a href={ "/tasks/" (task.id()) } { (task.spec().title) } } } }
        }
        @if !waits.is_empty() {
            h2 { "Still waiting" }
            ul.plain { @for (task, open) in &waits { li { "○ " a href={ "/tasks/" (task.id()) } { (task.spec().title) } span.muted { " waits on " (open) " more" } } } }
        }
        @if starts.is_empty() && waits.is_empty() { p.muted { "No dependents." } }
    })
}

/// Applies the decision.
pub(crate) async fn act(
    app: AuthedApp,
    Path((id, verb)): Path<(String, String)>,
    form: PageForm,
) -> PageResult {
    let (id, verb) = (read(&id)?, Verb::read(&verb)?);
    let command = match verb {
        Verb::Accept => return accept(&app, id, &form).await,
        Verb::Reject => Command::Reject { reason: form.non_blank("reason")? },
        Verb::Recycle => Command::Recycle { reason: RecycleReason::TooLarge },
        Verb::Retry => Command::Retry,
        Verb::Release => Command::Release,
        Verb::Stop => Command::Hold { reason: non_blank("stopped by you", "reason")? },
        Verb::Cancel => Command::Cancel { reason: NonBlank::new(form.text("reason")).ok() },
    };
    app.tasks().apply(id, command, app.actor()).await?;
    Ok(back(id, &form))
}

/// Retries several tasks. One that cannot be retried does not keep the others from it.
pub(crate) async fn retry_many(app: AuthedApp, form: PageForm) -> PageResult {
    let mut refused = Vec::new();
    for text in form.all("task") {
        let id = read(text)?;
        if let Err(error) = app.tasks().apply(id, Command::Retry, app.actor()).await {
            refused.push(format!("{id}: {error}"));
        }
    }
    if refused.is_empty() {
        return Ok(redirect(&form.next("/")));
    }
    Err(ApiError::new(Code::Conflict, refused.join("; "), "the other tasks were requeued").into())
}

/// Removes a dependency.
pub(crate) async fn remove_dependency(app: AuthedApp, Path(id): Path<String>, form: PageForm) -> PageResult {
    let id = read(&id)?;
    let on: Option<TaskId> = form.parse("on")?;
    let revision = Revision { not_after: on.into_iter().collect(), ..Revision::default() };
    if revision.is_empty() {
        return Err(ApiError::invalid("no dependency is named", "go back and choose one").into());
    }
    app.tasks().revise(id, revision, &Revision::default(), app.actor()).await?;
    Ok(back(id, &form))
}

async fn accept(app: &AuthedApp, id: TaskId, form: &PageForm) -> PageResult {
    match app.workspace.acceptor().accept(id, form.has("force"), app.actor()).await? {
        Accepted::Done { .. } | Accepted::Waiting { .. } => Ok(back(id, form)),
        Accepted::Conflicted { files } => Err(ApiError::new(
            Code::Conflict,
            format!("merge conflict with work accepted meanwhile, in {}", files.join(", ")),
            "nothing was merged and nothing is lost; see the task's page",
        )
        .into()),
    }
}

fn back(id: TaskId, form: &PageForm) -> Response {
    redirect(&form.next(&format!("/tasks/{id}")))
}

//! What a person decides about a task: first what it would start or move, then the deed.

use axum::extract::{Path, State};
use axum::response::Response;
use baton_core::base::git_name::BranchName;
use baton_core::base::id::TaskId;
use baton_core::base::text::NonBlank;
use baton_core::recycle::RecycleReason;
use baton_core::task::Task;
use baton_core::task::state::{ReviewMark, TaskState};
use baton_core::transition::command::Command;
use baton_engine::landing::acceptor::{Accepted, Acceptor};
use maud::{Markup, html};

use super::Seen;
use crate::error::{ApiError, Code};
use crate::pages::answer::{PageAnswer, PageError, go};
use crate::pages::card::verbs;
use crate::pages::form::Form;
use crate::pages::layout::Tab;
use crate::pages::visit::Visit;
use crate::pages::words::{of_state, pluralize};
use crate::state::App;
use crate::visitor::Visited;

/// What waits on a task, looked at for the preview.
const DEPENDENTS_MAX: u32 = 100;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verb {
    Accept,
    Reject,
    Recycle,
    Retry,
    Release,
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
            "cancel" => Self::Cancel,
            _ => return Err(ApiError::not_found("there is no such decision", "go back to the task").into()),
        })
    }

    const fn word(self) -> &'static str {
        match self {
            Self::Accept => "Accept",
            Self::Reject => "Reject",
            Self::Recycle => "Recycle",
            Self::Retry => "Retry",
            Self::Release => "Let go",
            Self::Cancel => "Cancel",
        }
    }
}

/// The sheet: what it does, what it sets off, and the button.
pub async fn ask(
    State(app): State<App>,
    Path((id, verb)): Path<(String, String)>,
    visit: Visit,
) -> PageAnswer {
    let (id, word) = (read(&id)?, Verb::read(&verb)?);
    let seen = Seen::load(&app, id, visit).await?;
    let body = html! {
        div.sheet.narrow {
            h1 { (word.word()) ": " (seen.task.spec().title) }
            p { (of_state(seen.task.state()).chip()) " " span.id { (id) } }
            @if verbs(&seen.task).iter().any(|(legal, _)| *legal == verb) {
                (preview(&app, &seen.task, word).await?)
                (form(&seen.task, &verb, word))
            } @else {
                div.alert role="alert" { p { "That is not possible now." } }
                p { a href={ "/tasks/" (id) } { "← Back to the task" } }
            }
        }
    };
    Ok(seen.frame.page(Tab::Board, word.word(), &[id.to_string()], &body))
}

fn read(text: &str) -> Result<TaskId, PageError> {
    text.parse().map_err(|error: baton_core::base::id::InvalidId| {
        ApiError::not_found(error.to_string(), "the board shows the tasks there are").into()
    })
}

fn form(task: &Task, verb: &str, word: Verb) -> Markup {
    let id = task.id();
    html! {
        form method="post" action={ "/tasks/" (id) "/do/" (verb) } {
            @match word {
                Verb::Reject => {
                    label for="reason" { "What has to change? The next attempt is told." }
                    textarea #reason name="reason" rows="5" required autofocus {}
                },
                Verb::Cancel => {
                    label for="reason" { "Why? (may stay empty)" }
                    input #reason type="text" name="reason";
                },
                Verb::Accept if is_too_large(task) => input type="hidden" name="force" value="yes";,
                _ => {},
            }
            div.actions {
                button.primary type="submit" autofocus[word != Verb::Reject] { (word.word()) }
                a.button href={ "/tasks/" (id) } data-close { "Back" }
            }
        }
    }
}

fn is_too_large(task: &Task) -> bool {
    matches!(task.state(), TaskState::Provisional(provisional) if provisional.mark.is_too_large())
}

async fn preview(app: &App, task: &Task, verb: Verb) -> Result<Markup, PageError> {
    Ok(match verb {
        Verb::Accept => accepting(app, task).await?,
        Verb::Reject => {
            html! { p { "It goes back to the queue, ahead of other work. The branch and the conversation are kept." } }
        }
        Verb::Recycle => {
            html! { p { "It is taken out of the queue and a breakdown task is made in its place. What waits on it waits for the parts. The branch is kept." } }
        }
        Verb::Retry => html! { p { "It goes back to the queue with its counters at zero." } },
        Verb::Release => html! { p { "Agents may take it from now on." } },
        Verb::Cancel => {
            let stranded = app.tasks().store.dependents(task.id(), None, DEPENDENTS_MAX).await?.len();
            html! {
                p { "Nobody works on it any more. What was written is kept." }
                @if stranded > 0 { p.tone-failed { "✗ " (pluralize(stranded as u64, "task")) " waiting on it could then never start." } }
            }
        }
    })
}

/// What would be merged, and what would start because of it.
async fn accepting(app: &App, task: &Task) -> Result<Markup, PageError> {
    let commits = task.ledger().last_end.as_ref().map_or(0, |end| end.verified.commits);
    let (mut starts, mut waits) = (Vec::new(), Vec::new());
    for edge in app.tasks().store.dependents(task.id(), None, DEPENDENTS_MAX).await? {
        let others = app.tasks().store.dependencies(edge.task).await?;
        let open = others.iter().filter(|other| !other.is_met && other.on != task.id()).count();
        let dependent = app.tasks().task(edge.task).await?.value;
        if open == 0 { starts.push(dependent) } else { waits.push((dependent, open)) }
    }
    Ok(html! {
        @if is_too_large(task) { p.tone-failed { "▲ It used up its turns without being finished. Accepting takes what is there, and calls it done." } }
        p { "Merges " code { (BranchName::for_task(task.id())) } " (" (pluralize(u64::from(commits), "commit")) " in the last attempt) and calls the task done. Nothing leads back from there." }
        @if let TaskState::Provisional(provisional) = task.state() && let ReviewMark::NoChanges { reason } = &provisional.mark {
            p { "The agent says there was nothing to do: " (reason) }
        }
        @if !starts.is_empty() {
            h2 { "Starts" }
            ul.plain { @for task in &starts { li { "▶ " a href={ "/tasks/" (task.id()) } { (task.spec().title) } } } }
        }
        @if !waits.is_empty() {
            h2 { "Comes nearer" }
            ul.plain { @for (task, open) in &waits { li { "○ " a href={ "/tasks/" (task.id()) } { (task.spec().title) } span.muted { " still waits on " (open) } } } }
        }
        @if starts.is_empty() && waits.is_empty() { p.muted { "Nothing waits on it." } }
    })
}

/// The deed.
pub async fn act(app: Visited, Path((id, verb)): Path<(String, String)>, form: Form) -> PageAnswer {
    let (id, verb) = (read(&id)?, Verb::read(&verb)?);
    let command = match verb {
        Verb::Accept => return accept(&app, id, &form).await,
        Verb::Reject => Command::Reject { reason: form.said("reason")? },
        Verb::Recycle => Command::Recycle { reason: RecycleReason::TooLarge },
        Verb::Retry => Command::Retry,
        Verb::Release => Command::Release,
        Verb::Cancel => Command::Cancel { reason: NonBlank::new(form.text("reason")).ok() },
    };
    app.tasks().apply(id, command, app.actor()).await?;
    Ok(back(id, &form))
}

async fn accept(app: &Visited, id: TaskId, form: &Form) -> PageAnswer {
    match Acceptor::new(app.shop.clone()).accept(id, form.has("force"), app.actor()).await? {
        Accepted::Done { .. } => Ok(back(id, form)),
        Accepted::Conflicted { files } => Err(ApiError::new(
            Code::Conflict,
            format!("the work conflicts with what was merged meanwhile, in {}", files.join(", ")),
            "it is not merged and nothing is lost; the task's page says how it goes on",
        )
        .into()),
    }
}

fn back(id: TaskId, form: &Form) -> Response {
    go(&form.next(&format!("/tasks/{id}")))
}

//! `/tasks/{id}/diff`: what the task changed, as a whole or by attempt, and the review of it.

mod attempts;
mod files;
mod patch;
mod syntax;

use axum::extract::State;
use baton_core::base::git_name::CommitId;
use baton_core::base::id::TaskId;
use baton_core::base::redact::redact;
use baton_core::task::Task;
use baton_core::task::state::TaskState;
use maud::{Markup, html};

use crate::http::input::Query;
use crate::pages::for_you::review::{size, to_review, verbs};
use crate::pages::frame::key::PageParam;
use crate::pages::frame::layout::empty;
use crate::pages::frame::request::PageRequest;
use crate::pages::frame::response::PageResult;
use crate::pages::task::changes::attempts::{Compared, Comparison, picker};
use crate::pages::task::changes::files::{View, render_file, tree};
use crate::pages::task::changes::patch::{LINES_MAX, read};
use crate::pages::task::{TaskPage, TaskTab};
use crate::state::App;

/// Where accepting leads: to the next task to review.
const NEXT: &str = "/next";

pub(crate) async fn show(
    State(app): State<App>,
    PageParam(id): PageParam<TaskId>,
    request: PageRequest,
    mut query: Query,
) -> PageResult {
    let view = match query.take::<String>("view")?.as_deref() {
        Some("split") => View::Split,
        _ => View::Unified,
    };
    let (from, to) = (query.take::<u32>("from")?, query.take::<u32>("to")?);
    query.done()?;
    let seen = TaskPage::load(&app, id, request).await?;
    let compared = Compared::load(&app, &seen.task, Comparison { from, to }).await?;
    let text = redact(&compared.diff(&app, &seen.task).await?).into_owned();
    let landed = match seen.task.state() {
        TaskState::Done { .. } => app.workspace.projects.landed_as(&seen.task).await?,
        _ => None,
    };
    let (files, is_cut) = read(&text);
    let is_whole = compared.is_whole();
    let may_comment = to_review(&seen.task).is_some() && is_whole;
    let body = html! {
        @if let Some((branch, commit)) = landed {
            p.muted { "Landed in " code { (branch) } " as " code { (short_commit(&commit)) } ". To have it: " code { "git merge " (branch) } }
        }
        (picker(&seen.task, &compared, view))
        @if files.is_empty() {
            @if is_whole {
                (empty("No changes yet", "The task's branch does not differ from its target.", &[(format!("baton task diff {id}").as_str(), "the same in a terminal")]))
            } @else {
                (empty("No difference", "These two states have the same files.", &[]))
            }
        } @else {
            @if is_cut { div.notice { p { "Only the first " (LINES_MAX) " lines are shown; " code { "baton task diff " (id) } " prints all." } } }
            div.review {
                (tree(&files))
                div.diff #diff data-task=(id) data-commentable[may_comment] {
                    @for (index, file) in files.iter().enumerate() { (render_file(index, file, view)) }
                }
            }
        }
        (review_bar(&seen.task))
    };
    Ok(seen.page(TaskTab::Changes, &[], &body))
}

/// As git abbreviates it.
fn short_commit(commit: &CommitId) -> &str {
    let text = commit.as_str();
    text.get(..10).unwrap_or(text)
}

/// The decision, always in sight. The script collects comments on lines in the reason; without it, the reason is typed.
fn review_bar(task: &Task) -> Markup {
    let Some(work) = to_review(task) else { return html! {} };
    let id = task.id();
    let measured = task.ledger().last_end.as_ref().map(|end| &end.verified);
    html! {
        div.review-bar role="region" aria-label="Review" {
            p.muted {
                span.js #comments-count { "Click a line to comment on it." }
                @if let Some(measured) = measured { " " (size(measured)) }
            }
            form #reject method="post" action={ "/tasks/" (id) "/do/reject" } {
                input type="hidden" name="next" value=(NEXT);
                label.unseen for="reject-reason" { "What should change?" }
                textarea #reject-reason name="reason" rows="1" required data-draft={ "reject-" (id) } placeholder="What should change? The agent goes on with this." {}
                button type="submit" data-key="r" { "Request changes " kbd { "r" } }
            }
            (verbs(task, work, NEXT))
        }
    }
}

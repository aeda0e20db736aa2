//! The diff. Comments on lines become part of the rejection reason.

use axum::extract::State;
use baton_core::base::git_name::CommitId;
use baton_core::base::id::TaskId;
use baton_core::base::redact::redact;
use baton_core::task::state::TaskState;
use maud::{Markup, html};

use crate::pages::frame::key::PageParam;
use crate::pages::frame::layout::empty;
use crate::pages::frame::request::PageRequest;
use crate::pages::frame::response::PageResult;
use crate::pages::task::patch::{LINES_MAX, LineKind, PatchFile, PatchHunk, PatchLine, read};
use crate::pages::task::{TaskPage, TaskTab};
use crate::pages::widgets::card::verbs;
use crate::pages::widgets::words::pluralize;
use crate::state::App;

pub(crate) async fn show(
    State(app): State<App>,
    PageParam(id): PageParam<TaskId>,
    request: PageRequest,
) -> PageResult {
    let seen = TaskPage::load(&app, id, request).await?;
    let text = redact(&app.workspace.projects.diff(&seen.task).await?).into_owned();
    let landed = match seen.task.state() {
        TaskState::Done { .. } => app.workspace.projects.landed_as(&seen.task).await?,
        _ => None,
    };
    let (files, is_cut) = read(&text);
    let may_reject = verbs(&seen.task).iter().any(|(verb, _)| *verb == "reject");
    let body = html! {
        @if let Some((branch, commit)) = landed {
            p.muted { "Landed in " code { (branch) } " as " code { (short_commit(&commit)) } ". To have it: " code { "git merge " (branch) } }
        }
        @if files.is_empty() {
            (empty("No changes", "The task's branch does not differ from its target.", &[(format!("baton task diff {id}").as_str(), "the same in a terminal")]))
        } @else {
            (summary(&files))
            @if is_cut { div.notice { p { "Only the first " (LINES_MAX) " lines are shown; " code { "baton task diff " (id) } " prints all." } } }
            div.diff #diff data-task=(id) data-commentable[may_reject] {
                @for (index, file) in files.iter().enumerate() { (render_file(index, file)) }
            }
        }
        @if may_reject { (reject(id)) }
    };
    Ok(seen.page(TaskTab::Diff, &[], &body))
}

/// As git abbreviates it.
fn short_commit(commit: &CommitId) -> &str {
    let text = commit.as_str();
    text.get(..10).unwrap_or(text)
}

fn summary(files: &[PatchFile]) -> Markup {
    html! {
        details.files open[files.len() <= 12] {
            summary { (pluralize(files.len() as u64, "file")) " changed" }
            ul.plain {
                @for (index, file) in files.iter().enumerate() {
                    li {
                        a href={ "#file-" (index) } { (file.name) } " "
                        span.plus { "+" (file.count(LineKind::Added)) } " " span.minus { "−" (file.count(LineKind::Removed)) }
                    }
                }
            }
        }
    }
}

fn render_file(index: usize, file: &PatchFile) -> Markup {
    html! {
        section.file #{ "file-" (index) } data-row data-file=(file.name) {
            h2 { (file.name) }
            @for note in &file.notes { p.muted { (note) } }
            @for hunk in &file.hunks { (render_hunk(file, hunk)) }
        }
    }
}

fn render_hunk(file: &PatchFile, hunk: &PatchHunk) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label={ (file.name) " " (hunk.heading) } {
            table.hunk {
                caption { (hunk.heading) }
                tbody { @for line in &hunk.lines { (row(line)) } }
            }
        }
    }
}

/// The sign is text, too, so that nothing depends on colour alone.
fn row(line: &PatchLine) -> Markup {
    let (class, badge) = match line.kind {
        LineKind::Same => ("same", " "),
        LineKind::Added => ("added", "+"),
        LineKind::Removed => ("removed", "−"),
    };
    html! {
        tr class=(class) data-line=[line.new.or(line.old)] {
            td.number { @if let Some(number) = line.old { (number) } }
            td.number { @if let Some(number) = line.new { (number) } }
            td.code {
                span.sign { (badge) }
                @for (changed, text) in &line.pieces { @if *changed { mark { (text) } } @else { (text) } }
            }
        }
    }
}

/// The script collects line comments here; without it, the reason is typed.
fn reject(id: TaskId) -> Markup {
    html! {
        form.reject #reject method="post" action={ "/tasks/" (id) "/do/reject" } {
            h2 { "Reject" }
            p.muted.js { "Click a line to comment on it; comments are added here. The next attempt gets all of it." }
            label for="reject-reason" { "What should change?" }
            textarea #reject-reason name="reason" rows="4" required data-draft={ "reject-" (id) } {}
            div.actions {
                button.primary type="submit" { "Reject" }
                a.button href={ "/tasks/" (id) "/do/accept" } data-sheet { "Accept…" }
            }
        }
    }
}

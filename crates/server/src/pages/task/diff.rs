//! The changes: files, hunks, lines, the words that changed. A comment on a line becomes part of what the next
//! attempt is told.

use axum::extract::State;
use baton_core::base::id::TaskId;
use baton_core::base::redact::redact;
use maud::{Markup, html};

use super::patch::{File, Hunk, Kind, LINES_MAX, Line, read};
use super::{Seen, Sheet};
use crate::pages::answer::PageAnswer;
use crate::pages::card::verbs;
use crate::pages::key::Key;
use crate::pages::layout::empty;
use crate::pages::visit::Visit;
use crate::pages::words::pluralize;
use crate::state::App;

pub async fn show(State(app): State<App>, Key(id): Key<TaskId>, visit: Visit) -> PageAnswer {
    let seen = Seen::load(&app, id, visit).await?;
    let text = redact(&app.shop.diff(&seen.task).await?).into_owned();
    let (files, is_cut) = read(&text);
    let may_reject = verbs(&seen.task).iter().any(|(verb, _)| *verb == "reject");
    let body = html! {
        @if files.is_empty() {
            (empty("No changes", "Nothing on the branch of this task differs from where it goes.", &[(format!("baton task diff {id}").as_str(), "the same in a terminal")]))
        } @else {
            (summary(&files))
            @if is_cut { div.notice { p { "Only the first " (LINES_MAX) " lines are shown; " code { "baton task diff " (id) } " prints all." } } }
            div.diff #diff data-task=(id) data-commentable[may_reject] {
                @for (index, file) in files.iter().enumerate() { (drawn(index, file)) }
            }
        }
        @if may_reject { (reject(id)) }
    };
    Ok(seen.page(Sheet::Diff, &[], &body))
}

fn summary(files: &[File]) -> Markup {
    html! {
        details.files open[files.len() <= 12] {
            summary { (pluralize(files.len() as u64, "file")) " changed" }
            ul.plain {
                @for (index, file) in files.iter().enumerate() {
                    li {
                        a href={ "#file-" (index) } { (file.name) } " "
                        span.plus { "+" (file.count(Kind::Added)) } " " span.minus { "−" (file.count(Kind::Removed)) }
                    }
                }
            }
        }
    }
}

fn drawn(index: usize, file: &File) -> Markup {
    html! {
        section.file #{ "file-" (index) } data-row data-file=(file.name) {
            h2 { (file.name) }
            @for note in &file.notes { p.muted { (note) } }
            @for hunk in &file.hunks { (hunk_drawn(file, hunk)) }
        }
    }
}

fn hunk_drawn(file: &File, hunk: &Hunk) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label={ (file.name) " " (hunk.heading) } {
            table.hunk {
                caption { (hunk.heading) }
                tbody { @for line in &hunk.lines { (row(line)) } }
            }
        }
    }
}

/// The sign is in the text too, so that colour says nothing alone.
fn row(line: &Line) -> Markup {
    let (class, sign) = match line.kind {
        Kind::Same => ("same", " "),
        Kind::Added => ("added", "+"),
        Kind::Removed => ("removed", "−"),
    };
    html! {
        tr class=(class) data-line=[line.new.or(line.old)] {
            td.number { @if let Some(number) = line.old { (number) } }
            td.number { @if let Some(number) = line.new { (number) } }
            td.code {
                span.sign { (sign) }
                @for (changed, text) in &line.pieces { @if *changed { mark { (text) } } @else { (text) } }
            }
        }
    }
}

/// Comments are gathered here by the script; without it, the reason is written by hand.
fn reject(id: TaskId) -> Markup {
    html! {
        form.reject #reject method="post" action={ "/tasks/" (id) "/do/reject" } {
            h2 { "Send it back" }
            p.muted.js { "Click a line to comment on it; your comments are added here. The next attempt is told all of it." }
            label for="reject-reason" { "What has to change?" }
            textarea #reject-reason name="reason" rows="4" required data-draft={ "reject-" (id) } {}
            div.actions {
                button.primary type="submit" { "Reject with this reason" }
                a.button href={ "/tasks/" (id) "/do/accept" } data-sheet { "Accept…" }
            }
        }
    }
}

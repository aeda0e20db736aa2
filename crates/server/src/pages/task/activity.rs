//! `/tasks/{id}/activity`: what the agent said, thought and did, live and afterwards.

use axum::extract::State;
use baton_core::base::id::{AttemptId, TaskId};
use baton_core::base::time::Timestamp;
use baton_engine::reports::transcript::{
    FileChange, TodoItem, TodoState, ToolUse, TranscriptEntry, read_transcript,
};
use maud::{Markup, html};

use crate::http::input::Query;
use crate::pages::frame::key::PageParam;
use crate::pages::frame::layout::empty;
use crate::pages::frame::request::PageRequest;
use crate::pages::frame::response::PageResult;
use crate::pages::task::log::{choice, transcript_text};
use crate::pages::task::{TaskPage, TaskTab};
use crate::pages::widgets::ansi::strip_ansi;
use crate::pages::widgets::markdown::markdown;
use crate::pages::widgets::words::{ago, span};
use crate::state::App;

/// Entries shown; older ones are in the log.
const ENTRIES_MAX: usize = 500;

pub(crate) async fn show(
    State(app): State<App>,
    PageParam(id): PageParam<TaskId>,
    request: PageRequest,
    mut query: Query,
) -> PageResult {
    let wanted: Option<AttemptId> = query.take("attempt")?;
    query.done()?;
    let seen = TaskPage::load(&app, id, request).await?;
    let attempts = app.tasks().store.attempts(id).await?;
    let chosen = wanted.or_else(|| attempts.last().map(|record| record.attempt.id));
    let body = match chosen {
        None => empty("Nothing yet", "What the agent says and does appears here when one starts.", &[]),
        Some(attempt) => {
            let is_live =
                attempts.iter().any(|record| record.attempt.id == attempt && record.closing.is_none());
            let entries = read_transcript(&transcript_text(&app.workspace, attempt).await?);
            let left_out = entries.len().saturating_sub(ENTRIES_MAX);
            html! {
                (choice(id, "activity", &attempts, attempt))
                @if left_out > 0 { p.muted { (left_out) " older entries are in the " a href={ "/tasks/" (id) "/log?attempt=" (attempt) } { "log" } "." } }
                @if let Some(items) = last_todo(&entries) { (todo(items)) }
                ol.transcript data-turns[is_live] {
                    @for (number, entry) in entries.iter().enumerate().skip(left_out) { (render(number, entry, seen.frame.now)) }
                }
                @if entries.is_empty() { p.muted { "No output yet." } }
            }
        }
    };
    Ok(seen.page(TaskTab::Activity, &[], &body))
}

fn last_todo(entries: &[TranscriptEntry]) -> Option<&[TodoItem]> {
    entries.iter().rev().find_map(|entry| match entry {
        TranscriptEntry::Todo { items, .. } => Some(items.as_slice()),
        _ => None,
    })
}

/// The agent's own list, as it is now.
fn todo(items: &[TodoItem]) -> Markup {
    html! {
        section.todo aria-label="The agent's list" {
            ul.plain {
                @for item in items {
                    @let (sign, word) = match item.state {
                        TodoState::Completed => ("✓", "done"),
                        TodoState::InProgress => ("▶", "now"),
                        TodoState::Pending => ("○", "to do"),
                    };
                    li { span.sign title=(word) { (sign) } " " (item.text) }
                }
            }
        }
    }
}

fn render(number: usize, entry: &TranscriptEntry, now: Timestamp) -> Markup {
    html! {
        @match entry {
            TranscriptEntry::Message { at, text } => li.message { div.prose { (markdown(text)) } p.meta { (ago(*at, now)) } },
            TranscriptEntry::Thought { text, .. } => li.thought { details { summary { "Thought" } div.prose { (markdown(text)) } } },
            // Shown once, above.
            TranscriptEntry::Todo { .. } => {},
            TranscriptEntry::Tool(tool) => li.tool { (render_tool(number, tool)) },
            TranscriptEntry::Errors { text, .. } => li.errors { details { summary { "Standard error" } pre { (strip_ansi(text)) } } },
            TranscriptEntry::Note { text, .. } => li.note { p.muted { (text) } },
        }
    }
}

fn render_tool(number: usize, tool: &ToolUse) -> Markup {
    let (sign, word, tone) = match tool.ended {
        None => ("▶", "not ended", "working"),
        Some(end) if end.ok => ("✓", "done", "done"),
        Some(_) => ("✗", "failed", "failed"),
    };
    let duration = tool.ended.map(|end| end.at.ms_since(tool.at)).filter(|ms| *ms >= 1_000);
    let is_said = tool.input.trim() == tool.title.trim();
    html! {
        details.{ "tone-" (tone) } #{ "tool-" (number) } {
            summary {
                span.sign title=(word) { (sign) } " " span.muted { (tool.tool) } " " code { (tool.title) }
                @if let Some(ms) = duration { span.muted { " " (span(ms)) } }
                @for change in &tool.changes { " " (counts(change)) }
            }
            @if !tool.input.is_empty() && !is_said { pre.input { (tool.input) } }
            @for change in &tool.changes { (render_change(change)) }
            @if !tool.output.is_empty() { pre.output { (strip_ansi(&tool.output)) } }
            @if tool.input.is_empty() && tool.output.is_empty() && tool.changes.is_empty() { p.muted { "The agent said nothing more about it." } }
        }
    }
}

fn counts(change: &FileChange) -> Markup {
    html! { span.plus { "+" (change.new.lines().count()) } " " span.minus { "−" (change.old.lines().count()) } }
}

/// The old lines and the new ones, as the agent sent them.
fn render_change(change: &FileChange) -> Markup {
    html! {
        div.change {
            p { code { (change.path) } }
            pre {
                @for line in change.old.lines() { span.removed { "− " (line) "\n" } }
                @for line in change.new.lines() { span.added { "+ " (line) "\n" } }
            }
        }
    }
}

//! The entries of a transcript: what the agent said, thought, planned and did.

use baton_core::base::time::Timestamp;
use baton_engine::reports::transcript::{FileChange, TodoItem, TodoState, ToolUse, TranscriptEntry};
use maud::{Markup, html};

use crate::pages::widgets::ansi::strip_ansi;
use crate::pages::widgets::markdown::markdown;
use crate::pages::widgets::words::{ago, span};

pub(super) const fn moment_of(entry: &TranscriptEntry) -> Timestamp {
    match entry {
        TranscriptEntry::Message { at, .. }
        | TranscriptEntry::Thought { at, .. }
        | TranscriptEntry::Todo { at, .. }
        | TranscriptEntry::Errors { at, .. }
        | TranscriptEntry::Note { at, .. } => *at,
        TranscriptEntry::Tool(tool) => tool.at,
    }
}

pub(super) fn last_todo(entries: &[TranscriptEntry]) -> Option<&[TodoItem]> {
    entries.iter().rev().find_map(|entry| match entry {
        TranscriptEntry::Todo { items, .. } => Some(items.as_slice()),
        _ => None,
    })
}

/// The agent's own list, as it is now.
pub(super) fn todo(items: &[TodoItem]) -> Markup {
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

pub(super) fn render_entry(number: usize, entry: &TranscriptEntry, now: Timestamp) -> Markup {
    html! {
        @match entry {
            TranscriptEntry::Message { at, text } => li.message { div.prose { (markdown(&strip_ansi(text))) } p.meta { (ago(*at, now)) } },
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

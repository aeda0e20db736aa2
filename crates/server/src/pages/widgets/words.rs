//! How pages show states, times, money and sizes.
//!
//! A state always has a word and a sign; nothing depends on colour alone.

use baton_core::ask::question::QuestionKind;
use baton_core::base::time::Timestamp;
pub(crate) use baton_core::base::words::pluralize;
use baton_core::graph::DependencyStatus;
use baton_core::recipe::exit_reason::{ExitCategory, ExitReason};
use baton_core::task::attempt::ResultKind;
use baton_core::task::state::{ReplacedBy, ReviewMark, StateName, TaskState, TaskStatus};
use maud::{Markup, html};

/// A label: word, sign, and the name of its colour in the style sheet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StateBadge {
    pub word: &'static str,
    pub glyph: &'static str,
    pub tone: &'static str,
}

const fn badge(word: &'static str, glyph: &'static str, tone: &'static str) -> StateBadge {
    StateBadge { word, glyph, tone }
}

pub(crate) const fn state_name_badge(state: StateName) -> StateBadge {
    match state {
        StateName::Incoming => badge(state.label(), "○", "queued"),
        StateName::Held => badge(state.label(), "‖", "queued"),
        StateName::Breakdown => badge(state.label(), "⋔", "planning"),
        StateName::Claimed => badge(state.label(), "▶", "working"),
        StateName::NeedsContinuation => badge(state.label(), "↻", "queued"),
        StateName::AwaitingResponse => badge(state.label(), "?", "asking"),
        StateName::Blocked => badge(state.label(), "!", "asking"),
        StateName::Provisional => badge(state.label(), "◆", "review"),
        StateName::Landing => badge(state.label(), "⇣", "working"),
        StateName::Recycled => badge(state.label(), "♺", "recycled"),
        StateName::Done => badge(state.label(), "✓", "done"),
        StateName::Failed => badge(state.label(), "✗", "failed"),
        StateName::Cancelled => badge(state.label(), "⊘", "cancelled"),
    }
}

pub(crate) const fn state_badge(state: &TaskState) -> StateBadge {
    match state {
        TaskState::Provisional(provisional) => match provisional.mark {
            ReviewMark::Ready => state_name_badge(StateName::Provisional),
            ReviewMark::NoChanges { .. } => badge(state.label(), "◇", "review"),
            ReviewMark::BurnedOut => badge(state.label(), "▲", "failed"),
            ReviewMark::NotConverging => badge(state.label(), "▲", "failed"),
            ReviewMark::NeedsReview { .. } => badge(state.label(), "▲", "review"),
            ReviewMark::Plan => badge(state.label(), "◆", "review"),
        },
        TaskState::Recycled { replaced_by: ReplacedBy::Tasks(_) } => badge(state.label(), "♺", "recycled"),
        other => state_name_badge(other.name()),
    }
}

/// A task whose parts are all done.
pub(crate) const DONE_IN_PARTS: StateBadge = badge("Done in parts", "✓", "done");

pub(crate) const fn status_badge(status: TaskStatus) -> StateBadge {
    match status {
        TaskStatus::Queued => state_name_badge(StateName::Incoming),
        TaskStatus::Running => state_name_badge(StateName::Claimed),
        TaskStatus::AwaitingResponse => state_name_badge(StateName::AwaitingResponse),
        TaskStatus::Blocked => state_name_badge(StateName::Blocked),
        TaskStatus::WaitingChildren => state_name_badge(StateName::Recycled),
        TaskStatus::Complete => state_name_badge(StateName::Done),
        TaskStatus::Error => state_name_badge(StateName::Failed),
        TaskStatus::Cancelled => state_name_badge(StateName::Cancelled),
    }
}

pub(crate) const fn question_badge(kind: QuestionKind) -> StateBadge {
    match kind {
        QuestionKind::Clarification => badge("Question", "?", "asking"),
        QuestionKind::Confirmation => badge("Confirm", "✓?", "asking"),
        QuestionKind::Gate => badge("Gate", "⊟", "review"),
        QuestionKind::Permission => badge("Permission", "⚿", "asking"),
        QuestionKind::Danger => badge("Dangerous", "!", "failed"),
        QuestionKind::Escalation => badge("Escalation", "▲", "failed"),
        QuestionKind::Completion => badge("Nothing changed", "∅", "asking"),
    }
}

/// Exits that end a run as they should, and leave the task with a person.
const NEEDS_A_PERSON: [&str; 7] = [
    "implementation-blocked",
    "clarification-needed",
    "user-provided-other",
    "user-requested",
    "unanswered",
    "rebase-conflict",
    "merge-conflict",
];

pub(crate) fn exit_badge(reason: &ExitReason) -> StateBadge {
    match reason.category() {
        ExitCategory::Completed if NEEDS_A_PERSON.contains(&reason.as_str()) => for_you_badge(),
        ExitCategory::Completed => badge("completed", "✓", "done"),
        ExitCategory::Guardrail => badge("guardrail", "▲", "asking"),
        ExitCategory::Error => badge("error", "✗", "failed"),
    }
}

/// Something that waits for a person.
pub(crate) const fn for_you_badge() -> StateBadge {
    badge("for you", "◆", "review")
}

pub(crate) const fn dependency_badge(verdict: &DependencyStatus) -> StateBadge {
    match verdict {
        DependencyStatus::Met => badge("done", "✓", "done"),
        DependencyStatus::Pending { .. } => badge("waiting", "○", "queued"),
        DependencyStatus::Dead { .. } => badge("cannot be met", "✗", "failed"),
    }
}

/// How an attempt ended, as reported.
pub(crate) const fn result_text(kind: ResultKind) -> &'static str {
    match kind {
        ResultKind::Complete => "complete",
        ResultKind::Incomplete => "incomplete",
        ResultKind::NoEvidence => "complete, without evidence",
        ResultKind::NoChanges => "no changes",
        ResultKind::Asked => "asked",
        ResultKind::Blocked => "blocked",
        ResultKind::SystemicError => "interrupted, not the task’s fault",
        ResultKind::OwnError => "agent error",
        ResultKind::TurnLimit => "turn limit reached",
        ResultKind::Stopped => "stopped, not finished",
    }
}

impl StateBadge {
    /// As a small label.
    pub(crate) fn chip(self) -> Markup {
        html! {
            span class={ "chip tone-" (self.tone) } {
                span.sign aria-hidden="true" { (self.glyph) }
                (self.word)
            }
        }
    }
}

/// An age, with the exact time as a tooltip. The page's script keeps it and the two below current.
pub(crate) fn age(at: Timestamp, now: Timestamp) -> Markup {
    html! { time datetime=(at) title=(at) data-age="old" { (span(now.ms_since(at))) } }
}

/// How long ago: "asked 5 min ago".
pub(crate) fn ago(at: Timestamp, now: Timestamp) -> Markup {
    let ms = now.ms_since(at);
    let words = if ms < 1_000 { "just now".to_owned() } else { format!("{} ago", span(ms)) };
    html! { time datetime=(at) title=(at) data-age="ago" { (words) } }
}

pub(crate) fn time_left(until: Timestamp, now: Timestamp) -> Markup {
    html! { time datetime=(until) title=(until) data-age="left" { (span(until.ms_since(now))) } }
}

/// A duration in at most two units.
pub(crate) fn span(ms: i64) -> String {
    let seconds = ms / 1_000;
    match seconds {
        ..1 => "now".to_owned(),
        1..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..86_400 => two_units(seconds / 3_600, "h", seconds % 3_600 / 60, "min"),
        _ => two_units(seconds / 86_400, "d", seconds % 86_400 / 3_600, "h"),
    }
}

/// A duration, with milliseconds below a second.
pub(crate) fn duration(ms: i64) -> String {
    if ms < 1_000 { format!("{ms} ms") } else { span(ms) }
}

fn two_units(large: i64, unit: &str, small: i64, small_unit: &str) -> String {
    if small == 0 { format!("{large} {unit}") } else { format!("{large} {unit} {small} {small_unit}") }
}

/// Micro-dollars as dollars and cents.
pub(crate) fn money(micro_usd: u64) -> String {
    let cents = micro_usd.div_ceil(10_000);
    format!("${}.{:02}", cents / 100, cents % 100)
}

pub(crate) fn bytes(count: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if count < 1_024 {
        return format!("{count} B");
    }
    let (mut value, mut unit) = (count, 0);
    while value >= 1_024 * 1_024 && unit + 1 < UNITS.len() {
        (value, unit) = (value / 1_024, unit + 1);
    }
    format!("{}.{} {}", value / 1_024, value % 1_024 * 10 / 1_024, UNITS[unit])
}

/// A number with thousands separators.
pub(crate) fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The first line, truncated.
pub(crate) fn short(text: &str, chars_max: usize) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    if line.chars().count() <= chars_max {
        return line.to_owned();
    }
    let mut cut: String = line.chars().take(chars_max.saturating_sub(1)).collect();
    cut.push('…');
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_money_and_sizes_are_readable() {
        let spans = [0, 59_000, 60_000, 3_599_000, 3_600_000, 5_400_000, 90_000_000].map(span);
        assert_eq!(spans, ["now", "59 s", "1 min", "59 min", "1 h", "1 h 30 min", "1 d 1 h"]);
        assert_eq!([0, 1, 10_000, 1_234_567].map(money), ["$0.00", "$0.01", "$0.01", "$1.24"]);
        let sizes = [0, 1_023, 1_024, 1_536, 5 << 20, 3 << 30].map(bytes);
        assert_eq!(sizes, ["0 B", "1023 B", "1.0 KiB", "1.5 KiB", "5.0 MiB", "3.0 GiB"]);
        assert_eq!(
            [0, 999, 1_000, 48_200, 1_234_567].map(grouped),
            ["0", "999", "1,000", "48,200", "1,234,567"]
        );
        assert_eq!(short("\n  one two three \nfour", 8), "one two…");
    }

    #[test]
    fn times_are_shown_as_age_ago_or_time_left() {
        let [then, now] = [0, 125_000].map(Timestamp::from_ms);
        let words = |markup: Markup| {
            let text = markup.into_string();
            text.split(['>', '<']).nth(2).unwrap_or_default().to_owned()
        };
        assert_eq!(words(age(then, now)), "2 min");
        assert_eq!(words(ago(then, now)), "2 min ago");
        assert_eq!(words(ago(now, now)), "just now");
        assert_eq!(words(time_left(now, then)), "2 min");
    }

    #[test]
    fn no_two_states_look_alike() {
        let mut signs: Vec<StateBadge> = StateName::ALL.into_iter().map(state_name_badge).collect();
        signs.sort_by_key(|badge| (badge.word, badge.glyph));
        signs.dedup_by_key(|badge| badge.word);
        assert_eq!(signs.len(), StateName::ALL.len());
    }
}

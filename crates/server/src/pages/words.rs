//! How things are said on the pages: a state as a word, a sign and a colour; a time as an age; money and sizes.
//!
//! A state is never told by its colour alone: the word and the sign say the same.

use baton_core::ask::question::QuestionKind;
use baton_core::base::time::Timestamp;
pub use baton_core::base::words::pluralize;
use baton_core::graph::DependencyStatus;
use baton_core::recipe::exit_reason::ExitCategory;
use baton_core::task::attempt::ResultKind;
use baton_core::task::state::{ReviewMark, StateName, TaskState, TaskStatus};
use maud::{Markup, html};

/// What stands for something: the word, a sign before it, and the name of its colour in the style sheet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sign {
    pub word: &'static str,
    pub glyph: &'static str,
    pub tone: &'static str,
}

const fn sign(word: &'static str, glyph: &'static str, tone: &'static str) -> Sign {
    Sign { word, glyph, tone }
}

pub const fn of_state_name(state: StateName) -> Sign {
    match state {
        StateName::Incoming => sign("Queued", "○", "queued"),
        StateName::Breakdown => sign("To break down", "⋔", "planning"),
        StateName::Claimed => sign("Working", "▶", "working"),
        StateName::NeedsContinuation => sign("Goes on", "↻", "queued"),
        StateName::AwaitingResponse => sign("Needs you", "?", "asking"),
        StateName::Blocked => sign("Blocked", "!", "asking"),
        StateName::Provisional => sign("To accept", "◆", "review"),
        StateName::Recycled => sign("Recycled", "♺", "recycled"),
        StateName::Done => sign("Done", "✓", "done"),
        StateName::Failed => sign("Failed", "✗", "failed"),
        StateName::Cancelled => sign("Cancelled", "⊘", "cancelled"),
    }
}

pub const fn of_state(state: &TaskState) -> Sign {
    match state {
        TaskState::Provisional(provisional) => match provisional.mark {
            ReviewMark::Ready => of_state_name(StateName::Provisional),
            ReviewMark::NoChanges { .. } => sign("Nothing to do?", "◇", "review"),
            ReviewMark::BurnedOut => sign("Burned out", "▲", "failed"),
            ReviewMark::NotConverging => sign("Not converging", "▲", "failed"),
            ReviewMark::Plan => sign("Plan to approve", "◆", "review"),
        },
        other => of_state_name(other.name()),
    }
}

pub const fn of_status(status: TaskStatus) -> Sign {
    match status {
        TaskStatus::Queued => of_state_name(StateName::Incoming),
        TaskStatus::Running => of_state_name(StateName::Claimed),
        TaskStatus::AwaitingResponse => of_state_name(StateName::AwaitingResponse),
        TaskStatus::Blocked => of_state_name(StateName::Blocked),
        TaskStatus::WaitingChildren => of_state_name(StateName::Recycled),
        TaskStatus::Complete => of_state_name(StateName::Done),
        TaskStatus::Error => of_state_name(StateName::Failed),
        TaskStatus::Cancelled => of_state_name(StateName::Cancelled),
    }
}

pub const fn of_kind(kind: QuestionKind) -> Sign {
    match kind {
        QuestionKind::Clarification => sign("Question", "?", "asking"),
        QuestionKind::Confirmation => sign("Confirm", "✓?", "asking"),
        QuestionKind::Gate => sign("Gate", "⊟", "review"),
        QuestionKind::Permission => sign("Permission", "⚿", "asking"),
        QuestionKind::Danger => sign("Dangerous", "!", "failed"),
        QuestionKind::Escalation => sign("Escalation", "▲", "failed"),
    }
}

pub const fn of_exit(category: ExitCategory) -> Sign {
    match category {
        ExitCategory::Completed => sign("completed", "✓", "done"),
        ExitCategory::Guardrail => sign("guardrail", "▲", "asking"),
        ExitCategory::Error => sign("error", "✗", "failed"),
    }
}

pub const fn of_verdict(verdict: &DependencyStatus) -> Sign {
    match verdict {
        DependencyStatus::Met => sign("met", "✓", "done"),
        DependencyStatus::Pending { .. } => sign("pending", "○", "queued"),
        DependencyStatus::Dead { .. } => sign("dead", "✗", "failed"),
    }
}

/// How an attempt ended, as the agent has it.
pub const fn of_result(kind: ResultKind) -> &'static str {
    match kind {
        ResultKind::Complete => "complete",
        ResultKind::Incomplete => "incomplete",
        ResultKind::NoEvidence => "done, with nothing to show",
        ResultKind::NoChanges => "nothing to change",
        ResultKind::Asked => "asked",
        ResultKind::Blocked => "blocked",
        ResultKind::SystemicError => "error, not its fault",
        ResultKind::OwnError => "error",
        ResultKind::TurnLimit => "out of turns",
    }
}

impl Sign {
    /// As a small label.
    pub fn chip(self) -> Markup {
        html! {
            span class={ "chip tone-" (self.tone) } {
                span.sign aria-hidden="true" { (self.glyph) }
                (self.word)
            }
        }
    }
}

/// How old, where a column or a corner says that it is an age; the whole moment on demand. The page's script keeps it
/// current, as it does the two below.
pub fn age(at: Timestamp, now: Timestamp) -> Markup {
    html! { time datetime=(at) title=(at) data-age="old" { (span(now.ms_since(at))) } }
}

/// How long ago, in a sentence: "asked 5 min ago".
pub fn ago(at: Timestamp, now: Timestamp) -> Markup {
    let ms = now.ms_since(at);
    let words = if ms < 1_000 { "just now".to_owned() } else { format!("{} ago", span(ms)) };
    html! { time datetime=(at) title=(at) data-age="ago" { (words) } }
}

/// How long until then.
pub fn left(until: Timestamp, now: Timestamp) -> Markup {
    html! { time datetime=(until) title=(until) data-age="left" { (span(until.ms_since(now))) } }
}

/// A length of time in its two largest units at most.
pub fn span(ms: i64) -> String {
    let seconds = ms / 1_000;
    match seconds {
        ..1 => "now".to_owned(),
        1..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..86_400 => two(seconds / 3_600, "h", seconds % 3_600 / 60, "min"),
        _ => two(seconds / 86_400, "d", seconds % 86_400 / 3_600, "h"),
    }
}

/// How long something took.
pub fn took(ms: i64) -> String {
    if ms < 1_000 { format!("{ms} ms") } else { span(ms) }
}

fn two(large: i64, unit: &str, small: i64, small_unit: &str) -> String {
    if small == 0 { format!("{large} {unit}") } else { format!("{large} {unit} {small} {small_unit}") }
}

/// Millionths of a dollar as people read them.
pub fn money(micro_usd: u64) -> String {
    let cents = micro_usd.div_ceil(10_000);
    format!("${}.{:02}", cents / 100, cents % 100)
}

pub fn bytes(count: u64) -> String {
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

/// A large number with a comma after each three digits.
pub fn grouped(count: u64) -> String {
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

/// A piece of a text for a place with little room.
pub fn short(text: &str, chars_max: usize) -> String {
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
    fn times_money_and_sizes_read_as_people_say_them() {
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
    fn a_moment_is_old_ago_or_still_to_come() {
        let [then, now] = [0, 125_000].map(Timestamp::from_ms);
        let words = |markup: Markup| {
            let text = markup.into_string();
            text.split(['>', '<']).nth(2).unwrap_or_default().to_owned()
        };
        assert_eq!(words(age(then, now)), "2 min");
        assert_eq!(words(ago(then, now)), "2 min ago");
        assert_eq!(words(ago(now, now)), "just now");
        assert_eq!(words(left(now, then)), "2 min");
    }

    #[test]
    fn no_two_states_look_alike() {
        let mut signs: Vec<Sign> = StateName::ALL.into_iter().map(of_state_name).collect();
        signs.sort_by_key(|sign| (sign.word, sign.glyph));
        signs.dedup_by_key(|sign| sign.word);
        assert_eq!(signs.len(), StateName::ALL.len());
    }
}

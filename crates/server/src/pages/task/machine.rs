//! The state diagram of a task, with the path it took highlighted and the time spent in each state.

use baton_core::base::time::Timestamp;
use baton_core::task::state::StateName;
use baton_core::transition::command::CommandName;
use baton_core::transition::table::next_states;
use maud::{Markup, html};

use crate::pages::task::walk::StateSpan;
use crate::pages::widgets::words::{duration, state_name_badge};

const WIDTH: i32 = 132;
const HEIGHT: i32 = 44;
const COLUMN: i32 = 178;
const ROW: i32 = 72;

/// Column and row of each state.
const fn place(state: StateName) -> (i32, i32) {
    match state {
        StateName::Held => (0, 0),
        StateName::Incoming => (0, 1),
        StateName::Breakdown => (0, 3),
        StateName::Claimed => (1, 1),
        StateName::NeedsContinuation => (0, 2),
        StateName::AwaitingResponse => (1, 2),
        StateName::Blocked => (1, 3),
        StateName::Provisional => (2, 1),
        StateName::Recycled => (2, 2),
        StateName::Failed => (2, 3),
        StateName::Landing => (3, 0),
        StateName::Done => (3, 1),
        StateName::Cancelled => (3, 3),
    }
}

/// The centre of a state's box.
fn middle(state: StateName) -> (i32, i32) {
    let (column, row) = place(state);
    (6 + column * COLUMN + WIDTH / 2, 6 + row * ROW + HEIGHT / 2)
}

pub(crate) fn render(spans: &[StateSpan], now: Timestamp) -> Markup {
    let walked: Vec<(StateName, StateName)> =
        spans.windows(2).map(|pair| (pair[0].state, pair[1].state)).collect();
    let current = spans.last().map(|span| span.state);
    let (width, height) = (12 + 3 * COLUMN + WIDTH, 12 + 3 * ROW + HEIGHT);
    html! {
        figure.machine tabindex="0" {
            svg viewBox={ "0 0 " (width) " " (height) } role="img" aria-label=(describe(spans, now)) {
                defs { (tip("tip")) (tip("tip-lit")) }
                @for (from, to) in possible().filter(|edge| !walked.contains(edge)) { (edge(from, to, "edge", "tip")) }
                @for (from, to) in &walked { (edge(*from, *to, "edge lit", "tip-lit")) }
                @for state in StateName::ALL { (node(state, spans, current == Some(state), now)) }
            }
        }
    }
}

/// The possible transitions between neighbouring boxes. Cancelling is possible nearly everywhere and left out.
fn possible() -> impl Iterator<Item = (StateName, StateName)> {
    let commands = CommandName::ALL.into_iter().filter(|command| *command != CommandName::Cancel);
    let mut edges: Vec<(StateName, StateName)> = StateName::ALL
        .into_iter()
        .flat_map(|from| {
            commands
                .clone()
                .flat_map(move |command| next_states(from, command).iter().map(move |to| (from, *to)))
        })
        .filter(|(from, to)| from != to && are_neighbours(*from, *to))
        .collect();
    edges.sort_unstable();
    edges.dedup();
    edges.into_iter()
}

fn are_neighbours(a: StateName, b: StateName) -> bool {
    let ((a_column, a_row), (b_column, b_row)) = (place(a), place(b));
    (a_column - b_column).abs() <= 1 && (a_row - b_row).abs() <= 1
}

/// An arrow head of fixed size.
fn tip(name: &str) -> Markup {
    html! {
        marker id=(name) viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" markerUnits="userSpaceOnUse" orient="auto" {
            path d="M0 0.5 L8 4 L0 7.5 z" {}
        }
    }
}

/// A slightly curved line, so that opposite edges do not overlap.
fn edge(from: StateName, to: StateName, class: &str, tip: &str) -> Markup {
    let ((x1, y1), (x2, y2)) = (middle(from), middle(to));
    let (dx, dy) = (x2 - x1, y2 - y1);
    let (sx, sy) = border(dx, dy);
    let (ax, ay, bx, by) = (x1 + sx, y1 + sy, x2 - sx, y2 - sy);
    let (cx, cy) = (ax.midpoint(bx) - dy / 9, ay.midpoint(by) + dx / 9);
    html! { path class=(class) d={ "M" (ax) " " (ay) " Q" (cx) " " (cy) " " (bx) " " (by) } marker-end={ "url(#" (tip) ")" } {} }
}

/// Where a line from the centre in this direction crosses the box's border.
fn border(dx: i32, dy: i32) -> (i32, i32) {
    if dx == 0 {
        return (0, HEIGHT / 2 * dy.signum());
    }
    if dy == 0 || dy.abs() * WIDTH < dx.abs() * HEIGHT {
        (WIDTH / 2 * dx.signum(), dy * WIDTH / 2 / dx.abs())
    } else {
        (dx * HEIGHT / 2 / dy.abs(), HEIGHT / 2 * dy.signum())
    }
}

fn node(state: StateName, spans: &[StateSpan], is_current: bool, now: Timestamp) -> Markup {
    let (x, y) = middle(state);
    let visits = spans.iter().filter(|span| span.state == state).count();
    let ms: i64 = spans.iter().filter(|span| span.state == state).map(|span| span.ms(now)).sum();
    let badge = state_name_badge(state);
    html! {
        g class={ "node tone-" (badge.tone) @if visits > 0 { " lit" } @if is_current { " current" } } {
            rect x=(x - WIDTH / 2) y=(y - HEIGHT / 2) width=(WIDTH) height=(HEIGHT) rx="8" {}
            text x=(x) y=(if visits > 0 { y - 3 } else { y + 4 }) { (badge.glyph) " " (badge.word) }
            @if visits > 0 {
                text.time x=(x) y=(y + 14) {
                    @if is_final(state) { "after " (total(spans)) } @else { (duration(ms)) @if visits > 1 { " · " (visits) "×" } }
                }
            }
        }
    }
}

fn is_final(state: StateName) -> bool {
    matches!(state, StateName::Done | StateName::Cancelled)
}

fn total(spans: &[StateSpan]) -> String {
    match (spans.first(), spans.last()) {
        (Some(first), Some(last)) => duration(last.from.ms_since(first.from)),
        _ => duration(0),
    }
}

/// The path as text, for screen readers.
fn describe(spans: &[StateSpan], now: Timestamp) -> String {
    let told: Vec<String> = spans
        .iter()
        .map(|span| format!("{} for {}", state_name_badge(span.state).word, duration(span.ms(now))))
        .collect();
    format!("States of this task: {}", told.join(", then "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_has_its_own_cell() {
        let mut places: Vec<_> = StateName::ALL.into_iter().map(place).collect();
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), StateName::ALL.len());
    }
}

//! The drawing itself: tasks in layers, what leads from one to the next, and how that stands.

use baton_core::base::id::TaskId;
use baton_core::graph::{DependencyStatus, Wait};
use baton_core::task::Task;
use maud::{Markup, html};

use super::is_ready;
use super::load::{Drawn, Tie};
use crate::pages::drawing::Grid;
use crate::pages::layers::{Layout, Spot};
use crate::pages::words::{Sign, of_state, of_verdict, short};

const GRID: Grid = Grid { width: 204, height: 52, column: 288, row: 72, margin: 16, below: 0 };

/// Lines below, their words over them, the tasks over both.
pub fn drawing(drawn: &Drawn, critical: &[TaskId]) -> Markup {
    let ends: Vec<(usize, usize)> = drawn.ties.iter().map(|tie| (tie.from, tie.to)).collect();
    let layout = Layout::of(drawn.tasks.len(), &ends);
    let (lines, words): (Vec<Markup>, Vec<Markup>) = drawn
        .ties
        .iter()
        .zip(&layout.ways)
        .map(|(tie, way)| edge(drawn, critical, tie, &layout, way))
        .unzip();
    let nodes = drawn.tasks.iter().zip(&layout.places);
    let nodes: Vec<Markup> =
        nodes.map(|(task, place)| node(drawn, critical, task, GRID.corner(*place))).collect();
    let label = "Dependencies, drawn; the same in words is below";
    GRID.drawing(&layout, label, &[lines, words, nodes].concat())
}

/// The line, and the words on it.
fn edge(drawn: &Drawn, critical: &[TaskId], tie: &Tie, layout: &Layout, way: &[Spot]) -> (Markup, Markup) {
    let (from, to) = (drawn.tasks[tie.from].id(), drawn.tasks[tie.to].id());
    let (sign, why) = if tie.is_stand_in {
        (Sign { word: "stands in", glyph: "♺", tone: "recycled" }, "does what is left of it".to_owned())
    } else {
        let verdict = drawn.graph.verdict(from).unwrap_or(DependencyStatus::Met);
        (of_verdict(&verdict), why(&verdict))
    };
    let end = layout.places[tie.to];
    let start = layout.places[tie.from];
    let (path, (x, y)) = (GRID.forward(start, way, end), GRID.behind(start));
    let is_critical = critical.windows(2).any(|pair| pair == [from, to]);
    let line = html! {
        g class={ "tone-" (sign.tone) } {
            path class={ "edge " (sign.word) @if is_critical { " critical" } } d=(path) {}
            (GRID.tip(end))
        }
    };
    let words = html! { text.verdict x=(x) y=(y) { (sign.glyph) " " (sign.word) title { (why) } } };
    (line, words)
}

/// Why an edge is worth what it is.
pub fn why(verdict: &DependencyStatus) -> String {
    match verdict {
        DependencyStatus::Met => "met: it is done".to_owned(),
        DependencyStatus::Pending { wait: Wait::Completion } => "pending: it is not done yet".to_owned(),
        DependencyStatus::Pending { wait: Wait::Retry } => {
            "pending: it failed and waits for a retry".to_owned()
        }
        DependencyStatus::Pending { wait: Wait::Breakdown { planning } } => {
            format!("pending: it was recycled and {planning} plans the rest")
        }
        DependencyStatus::Pending { wait: Wait::Replacements { open } } => {
            let names: Vec<String> = open.iter().map(ToString::to_string).collect();
            format!("pending: it was recycled; still open are {}", names.join(", "))
        }
        DependencyStatus::Dead { reason } => format!("dead: {reason}"),
    }
}

fn node(drawn: &Drawn, critical: &[TaskId], task: &Task, (x, y): (usize, usize)) -> Markup {
    const CHARS_MAX: usize = 28;
    let sign = of_state(task.state());
    let is_ready = is_ready(drawn, task);
    html! {
        a href={ "/tasks/" (task.id()) } {
            g class={ "tone-" (sign.tone) @if is_ready { " ready" } @if critical.contains(&task.id()) { " critical" } } {
                title { (task.spec().title) }
                rect.box x=(x) y=(y) width=(GRID.width) height=(GRID.height) rx="8" {}
                text x=(x + 10) y=(y + 21) { (short(task.spec().title.as_str(), CHARS_MAX)) }
                text.state x=(x + 10) y=(y + 40) { (sign.glyph) " " (sign.word) @if is_ready { " · ready" } }
            }
        }
    }
}

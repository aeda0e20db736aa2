//! The SVG: tasks in layers, and the edges between them.

use baton_core::base::id::TaskId;
use baton_core::graph::{DependencyStatus, Wait};
use baton_core::task::Task;
use maud::{Markup, html};

use crate::pages::graph::is_ready;
use crate::pages::graph::load::{GraphEdge, GraphModel};
use crate::pages::widgets::drawing::Grid;
use crate::pages::widgets::layers::{Cell, LayeredLayout};
use crate::pages::widgets::words::{StateBadge, dependency_badge, short, state_badge};

const GRID: Grid = Grid { width: 204, height: 52, column: 288, row: 72, margin: 16, below: 0 };

/// Lines first, labels above them, tasks on top.
pub(super) fn render(model: &GraphModel, critical: &[TaskId]) -> Markup {
    let ends: Vec<(usize, usize)> = model.ties.iter().map(|tie| (tie.from, tie.to)).collect();
    let layout = LayeredLayout::new(model.tasks.len(), &ends);
    let (lines, words): (Vec<Markup>, Vec<Markup>) = model
        .ties
        .iter()
        .zip(&layout.ways)
        .map(|(tie, way)| edge(model, critical, tie, &layout, way))
        .unzip();
    let nodes = model.tasks.iter().zip(&layout.places);
    let nodes: Vec<Markup> =
        nodes.map(|(task, place)| node(model, critical, task, GRID.corner(*place))).collect();
    let label = "Dependencies, drawn; the same in words is below";
    GRID.drawing(&layout, label, &[lines, words, nodes].concat())
}

/// An edge and its label.
fn edge(
    model: &GraphModel,
    critical: &[TaskId],
    tie: &GraphEdge,
    layout: &LayeredLayout,
    way: &[Cell],
) -> (Markup, Markup) {
    let (from, to) = (model.tasks[tie.from].id(), model.tasks[tie.to].id());
    let (class, badge, why) = if tie.is_replacement {
        let badge = StateBadge { word: "replaces", glyph: "♺", tone: "recycled" };
        ("stands", badge, "does what is left of it".to_owned())
    } else {
        let verdict = model.graph.verdict(from).unwrap_or(DependencyStatus::Met);
        let class = match &verdict {
            DependencyStatus::Met => "met",
            DependencyStatus::Pending { .. } => "pending",
            DependencyStatus::Dead { .. } => "dead",
        };
        (class, dependency_badge(&verdict), why(&verdict))
    };
    let end = layout.places[tie.to];
    let start = layout.places[tie.from];
    let (path, (x, y)) = (GRID.forward(start, way, end), GRID.behind(start));
    let is_critical = critical.windows(2).any(|pair| pair == [from, to]);
    let line = html! {
        g class={ "tone-" (badge.tone) } {
            path class={ "edge " (class) @if is_critical { " critical" } } d=(path) {}
            (GRID.tip(end))
        }
    };
    let words = html! { text.verdict x=(x) y=(y) { (badge.glyph) " " (badge.word) title { (why) } } };
    (line, words)
}

/// Why an edge is met, pending or dead.
pub(super) fn why(verdict: &DependencyStatus) -> String {
    match verdict {
        DependencyStatus::Met => "done".to_owned(),
        DependencyStatus::Pending { wait: Wait::Completion } => "waiting: it is not done yet".to_owned(),
        DependencyStatus::Pending { wait: Wait::Retry } => {
            "waiting: it failed and waits for a retry".to_owned()
        }
        DependencyStatus::Pending { wait: Wait::Breakdown { planning } } => {
            format!("waiting: it is being split, planned in {planning}")
        }
        DependencyStatus::Pending { wait: Wait::Replacements { open } } => {
            let names: Vec<String> = open.iter().map(ToString::to_string).collect();
            format!("waiting: it was split; still open are {}", names.join(", "))
        }
        DependencyStatus::Dead { reason } => format!("cannot be met: {reason}"),
    }
}

fn node(model: &GraphModel, critical: &[TaskId], task: &Task, (x, y): (usize, usize)) -> Markup {
    const CHARS_MAX: usize = 28;
    let badge = state_badge(task.state());
    let is_ready = is_ready(model, task);
    html! {
        a href={ "/tasks/" (task.id()) } {
            g class={ "tone-" (badge.tone) @if is_ready { " ready" } @if critical.contains(&task.id()) { " critical" } } {
                title { (task.spec().title) }
                rect.box x=(x) y=(y) width=(GRID.width) height=(GRID.height) rx="8" {}
                text x=(x + 10) y=(y + 21) { (short(task.spec().title.as_str(), CHARS_MAX)) }
                text.state x=(x + 10) y=(y + 40) { (badge.glyph) " " (badge.word) @if is_ready { " · ready" } }
            }
        }
    }
}

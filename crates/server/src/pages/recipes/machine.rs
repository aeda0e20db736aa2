//! A recipe as a state diagram: steps, transitions and exits.

use baton_core::base::text::StepName;
use baton_core::recipe::exit_reason::ExitReason;
use baton_core::recipe::run::Run;
use baton_core::recipe::{Recipe, RecipeStep, StepTransition};
use maud::{Markup, html};

use crate::pages::widgets::drawing::Grid;
use crate::pages::widgets::layers::{Cell, LayeredLayout};
use crate::pages::widgets::words::{exit_badge, short};

/// Longer exit names are truncated; the list below the diagram shows them in full.
const EXIT_CHARS_MAX: usize = 25;
const GRID: Grid = Grid { width: 178, height: 40, column: 290, row: 72, margin: 12, below: 22 };

/// A step or an exit. Each step has its own exit nodes, so that no line crosses the whole diagram.
enum MachineNode<'a> {
    Step(&'a RecipeStep),
    Exit(&'a ExitReason),
}

/// An edge, with the outcomes that lead along it.
struct MachineEdge<'a> {
    from: usize,
    to: usize,
    outcomes: Vec<&'a str>,
    /// Restarts in a new session.
    is_fresh: bool,
}

fn machine(recipe: &Recipe) -> (Vec<MachineNode<'_>>, Vec<MachineEdge<'_>>) {
    let steps = recipe.steps();
    let number = |name: &StepName| steps.iter().position(|step| step.name() == name).unwrap_or(0);
    let mut nodes: Vec<MachineNode<'_>> = steps.iter().map(MachineNode::Step).collect();
    let mut edges = Vec::new();
    for (from, step) in steps.iter().enumerate() {
        for (outcome, transition) in step.transitions() {
            let (to, is_fresh) = match transition {
                StepTransition::NextStep { step } => (number(step), false),
                StepTransition::RestartNewSession => (number(recipe.initial_step()), true),
                StepTransition::Exit { reason } => {
                    nodes.push(MachineNode::Exit(reason));
                    (nodes.len() - 1, false)
                }
            };
            let known =
                edges.iter_mut().find(|edge: &&mut MachineEdge<'_>| (edge.from, edge.to) == (from, to));
            match known {
                Some(edge) => edge.outcomes.push(outcome.as_str()),
                None => edges.push(MachineEdge { from, to, outcomes: vec![outcome.as_str()], is_fresh }),
            }
        }
    }
    (nodes, edges)
}

/// Lines first, labels above them, nodes on top.
pub(super) fn render(recipe: &Recipe, runs: &[&Run]) -> Markup {
    let (nodes, edges) = machine(recipe);
    // Back edges do not take part in the layout.
    let (forward, back): (Vec<MachineEdge<'_>>, Vec<MachineEdge<'_>>) =
        edges.into_iter().partition(|edge| edge.to > edge.from);
    let ends: Vec<(usize, usize)> = forward.iter().map(|edge| (edge.from, edge.to)).collect();
    let layout = LayeredLayout::new(nodes.len(), &ends);
    let place = |number: usize| layout.places[number];
    let mut lines = Vec::new();
    let mut words = Vec::new();
    for (edge, way) in forward.iter().zip(&layout.ways) {
        let end = place(edge.to);
        lines.push(html! { path.edge d=(GRID.forward(place(edge.from), way, end)) {} (GRID.tip(end)) });
        words.push(label(edge, GRID.before(end), "end"));
    }
    for edge in &back {
        let (path, at) = GRID.back(place(edge.from), place(edge.to));
        lines.push(html! { path.edge d=(path) {} (GRID.tip_below(place(edge.to))) });
        words.push(label(edge, at, "middle"));
    }
    let nodes: Vec<Markup> =
        nodes.iter().enumerate().map(|(number, each)| node(each, recipe, runs, place(number))).collect();
    let about = format!("{}: diagram; exits are listed below", recipe.label());
    GRID.drawing(&layout, &about, &[lines, words, nodes].concat())
}

fn label(edge: &MachineEdge<'_>, (x, y): (usize, usize), anchor: &str) -> Markup {
    html! { text.label x=(x) y=(y) text-anchor=(anchor) { (edge.outcomes.join(" / ")) @if edge.is_fresh { ", new session" } } }
}

fn node(node: &MachineNode<'_>, recipe: &Recipe, runs: &[&Run], place: Cell) -> Markup {
    let (x, y) = GRID.corner(place);
    let (tone, text, about, is_lit) = match node {
        MachineNode::Step(step) => {
            let start = if step.name() == recipe.initial_step() { "● " } else { "" };
            let gate = if step.gate().is_some() { " ⊟" } else { "" };
            let is_lit = runs.iter().any(|run| run.step() == step.name());
            let lit = if is_lit { " ◀" } else { "" };
            let about = step.gate().map(|gate| format!("gate: {}", gate.question()));
            ("queued", format!("{start}{}{gate}{lit}", step.name()), about, is_lit)
        }
        MachineNode::Exit(reason) => {
            let badge = exit_badge(reason);
            let text = format!("{} {}", badge.glyph, short(reason.as_str(), EXIT_CHARS_MAX));
            (badge.tone, text, Some(reason.message()), false)
        }
    };
    let is_exit = matches!(node, MachineNode::Exit(_));
    html! {
        g class={ "tone-" (tone) @if is_exit { " exit" } @if is_lit { " lit" } } {
            @if let Some(about) = about { title { (about) } }
            rect.box x=(x) y=(y) width=(GRID.width) height=(GRID.height) rx=(if is_exit { 20 } else { 8 }) {}
            text x=(x + GRID.width / 2) y=(y + GRID.height / 2 + 4) text-anchor="middle" { (text) }
        }
    }
}

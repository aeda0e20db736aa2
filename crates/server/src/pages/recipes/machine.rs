//! A recipe as the machine it is: its steps, what leads from one to the next, and its ends.

use baton_core::base::text::StepName;
use baton_core::recipe::exit_reason::ExitReason;
use baton_core::recipe::run::Run;
use baton_core::recipe::{Recipe, RecipeStep, StepTransition};
use maud::{Markup, html};

use crate::pages::drawing::Grid;
use crate::pages::layers::{Layout, Spot};
use crate::pages::words::{of_exit, short};

/// Longer names are cut in the drawing; the list below it has them whole.
const EXIT_CHARS_MAX: usize = 25;
const GRID: Grid = Grid { width: 178, height: 40, column: 290, row: 72, margin: 12, below: 22 };

/// A node of the drawing: a step, or one of the ways it can end there. An end stands beside each step that leads to it,
/// so that no line has to cross the whole drawing.
enum Node<'a> {
    Step(&'a RecipeStep),
    Exit(&'a ExitReason),
}

/// From one node to another, and what may be reported for it.
struct Edge<'a> {
    from: usize,
    to: usize,
    outcomes: Vec<&'a str>,
    /// It goes on in a new session.
    is_fresh: bool,
}

fn machine(recipe: &Recipe) -> (Vec<Node<'_>>, Vec<Edge<'_>>) {
    let steps = recipe.steps();
    let number = |name: &StepName| steps.iter().position(|step| step.name() == name).unwrap_or(0);
    let mut nodes: Vec<Node<'_>> = steps.iter().map(Node::Step).collect();
    let mut edges = Vec::new();
    for (from, step) in steps.iter().enumerate() {
        for (outcome, transition) in step.transitions() {
            let (to, is_fresh) = match transition {
                StepTransition::NextStep { step } => (number(step), false),
                StepTransition::RestartNewSession => (number(recipe.initial_step()), true),
                StepTransition::Exit { reason } => {
                    nodes.push(Node::Exit(reason));
                    (nodes.len() - 1, false)
                }
            };
            let known = edges.iter_mut().find(|edge: &&mut Edge<'_>| (edge.from, edge.to) == (from, to));
            match known {
                Some(edge) => edge.outcomes.push(outcome.as_str()),
                None => edges.push(Edge { from, to, outcomes: vec![outcome.as_str()], is_fresh }),
            }
        }
    }
    (nodes, edges)
}

/// Lines below, their words over them, steps and ends over both.
pub fn drawing(recipe: &Recipe, runs: &[&Run]) -> Markup {
    let (nodes, edges) = machine(recipe);
    // A step that leads back is drawn from right to left and does not move anything.
    let (forward, back): (Vec<Edge<'_>>, Vec<Edge<'_>>) =
        edges.into_iter().partition(|edge| edge.to > edge.from);
    let ends: Vec<(usize, usize)> = forward.iter().map(|edge| (edge.from, edge.to)).collect();
    let layout = Layout::of(nodes.len(), &ends);
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
    let about = format!("{}, drawn; its exits are listed below", recipe.label());
    GRID.drawing(&layout, &about, &[lines, words, nodes].concat())
}

fn label(edge: &Edge<'_>, (x, y): (usize, usize), anchor: &str) -> Markup {
    html! { text.label x=(x) y=(y) text-anchor=(anchor) { (edge.outcomes.join(" / ")) @if edge.is_fresh { ", afresh" } } }
}

fn node(node: &Node<'_>, recipe: &Recipe, runs: &[&Run], place: Spot) -> Markup {
    let (x, y) = GRID.corner(place);
    let (tone, text, about, is_lit) = match node {
        Node::Step(step) => {
            let start = if step.name() == recipe.initial_step() { "● " } else { "" };
            let gate = if step.gate().is_some() { " ⊟" } else { "" };
            let is_lit = runs.iter().any(|run| run.step() == step.name());
            let lit = if is_lit { " ◀" } else { "" };
            let about = step.gate().map(|gate| format!("gate: {}", gate.question()));
            ("queued", format!("{start}{}{gate}{lit}", step.name()), about, is_lit)
        }
        Node::Exit(reason) => {
            let sign = of_exit(reason.category());
            let text = format!("{} {}", sign.glyph, short(reason.as_str(), EXIT_CHARS_MAX));
            (sign.tone, text, Some(reason.message()), false)
        }
    };
    let is_exit = matches!(node, Node::Exit(_));
    html! {
        g class={ "tone-" (tone) @if is_exit { " exit" } @if is_lit { " lit" } } {
            @if let Some(about) = about { title { (about) } }
            rect.box x=(x) y=(y) width=(GRID.width) height=(GRID.height) rx=(if is_exit { 20 } else { 8 }) {}
            text x=(x + GRID.width / 2) y=(y + GRID.height / 2 + 4) text-anchor="middle" { (text) }
        }
    }
}

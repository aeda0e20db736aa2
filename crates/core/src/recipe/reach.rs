//! Which steps a run can reach, and from which it can reach an exit.
//!
//! Works on names only, valid or not, so that it also works for a recipe with other errors.

use std::collections::{BTreeMap, BTreeSet};

/// Where one outcome of a step leads, as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum StepEdge {
    To(String),
    Restart,
    Exit,
    /// The transition itself is invalid; it may lead anywhere.
    Unclear,
}

pub(super) type StepEdges = BTreeMap<String, Vec<StepEdge>>;

fn targets<'a>(edges: &'a StepEdges, initial: &'a str, step: &str) -> impl Iterator<Item = &'a str> {
    edges.get(step).into_iter().flatten().filter_map(move |edge| match edge {
        StepEdge::To(next) => Some(next.as_str()),
        StepEdge::Restart => Some(initial),
        StepEdge::Exit | StepEdge::Unclear => None,
    })
}

/// The steps a run starting at `initial` can enter.
pub(super) fn reachable(edges: &StepEdges, initial: &str) -> BTreeSet<String> {
    let mut seen = BTreeSet::from([initial.to_owned()]);
    let mut next = vec![initial.to_owned()];
    while let Some(step) = next.pop() {
        for target in targets(edges, initial, &step) {
            if seen.insert(target.to_owned()) {
                next.push(target.to_owned());
            }
        }
    }
    seen
}

/// The steps from which an exit can be reached. An unclear edge counts as an exit: its own error is enough.
pub(super) fn reaching_exit(edges: &StepEdges, initial: &str) -> BTreeSet<String> {
    let may_leave = |edge: &StepEdge| matches!(edge, StepEdge::Exit | StepEdge::Unclear);
    let mut leaving: BTreeSet<String> = edges
        .iter()
        .filter(|(_, outgoing)| outgoing.is_empty() || outgoing.iter().any(may_leave))
        .map(|(step, _)| step.clone())
        .collect();
    loop {
        let more: Vec<String> = edges
            .keys()
            .filter(|step| !leaving.contains(*step))
            .filter(|step| targets(edges, initial, step).any(|target| leaving.contains(target)))
            .cloned()
            .collect();
        if more.is_empty() {
            return leaving;
        }
        leaving.extend(more);
    }
}

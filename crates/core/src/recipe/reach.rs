//! Which steps a run can come to, and from which it can come to an end.
//!
//! This looks at names only, right or wrong ones, so that it can speak about a recipe with other faults.

use std::collections::{BTreeMap, BTreeSet};

/// Where one outcome of a step leads, as far as the file says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Edge {
    To(String),
    Restart,
    Exit,
    /// The transition has a fault of its own; it may lead anywhere.
    Unclear,
}

pub(super) type Edges = BTreeMap<String, Vec<Edge>>;

fn targets<'a>(edges: &'a Edges, initial: &'a str, step: &str) -> impl Iterator<Item = &'a str> {
    edges.get(step).into_iter().flatten().filter_map(move |edge| match edge {
        Edge::To(next) => Some(next.as_str()),
        Edge::Restart => Some(initial),
        Edge::Exit | Edge::Unclear => None,
    })
}

/// The steps a run that starts at `initial` can enter.
pub(super) fn reachable(edges: &Edges, initial: &str) -> BTreeSet<String> {
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

/// The steps from which an exit can be reached. An unclear edge counts as one: its own fault is enough.
pub(super) fn leaving(edges: &Edges, initial: &str) -> BTreeSet<String> {
    let may_leave = |edge: &Edge| matches!(edge, Edge::Exit | Edge::Unclear);
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

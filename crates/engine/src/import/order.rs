//! Sorts tasks so that each comes after its dependencies.
//!
//! Other tools allow dependencies on missing tasks and cycles. Such dependencies are dropped and reported.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use crate::import::item::ExternalTask;

/// A dependency that was dropped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DroppedEdge {
    pub name: String,
    pub on: String,
    pub why: DropReason,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DropReason {
    Missing,
    Cycle,
}

impl std::fmt::Display for DroppedEdge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { name, on, why } = self;
        match why {
            DropReason::Missing => write!(f, "{name} depends on {on}, which does not exist"),
            DropReason::Cycle => write!(f, "{name} depends on {on}, which depends on {name}"),
        }
    }
}

/// Sorts stably, dependencies first.
pub(super) fn sort(mut items: Vec<ExternalTask>) -> (Vec<ExternalTask>, Vec<DroppedEdge>) {
    let mut dropped = Vec::new();
    let index: HashMap<String, usize> =
        items.iter().enumerate().map(|(at, item)| (item.name.clone(), at)).collect();
    for item in &mut items {
        let name = item.name.clone();
        item.waits_on.sort();
        item.waits_on.dedup();
        item.waits_on.retain(|on| {
            let exists = index.contains_key(on);
            if !exists {
                dropped.push(DroppedEdge { name: name.clone(), on: on.clone(), why: DropReason::Missing });
            }
            exists
        });
    }

    let mut open: Vec<usize> = items.iter().map(|item| item.waits_on.len()).collect();
    let mut freed: Vec<Vec<usize>> = vec![Vec::new(); items.len()];
    for (at, item) in items.iter().enumerate() {
        for on in &item.waits_on {
            freed[index[on]].push(at);
        }
    }
    let mut ready: BinaryHeap<Reverse<usize>> =
        (0..items.len()).filter(|at| open[*at] == 0).map(Reverse).collect();
    let mut is_placed = vec![false; items.len()];
    let mut order = Vec::with_capacity(items.len());
    let mut earliest = 0;
    while order.len() < items.len() {
        let at = if let Some(Reverse(at)) = ready.pop() {
            at
        } else {
            // Everything left is in a cycle. Drop the unmet dependencies of the first.
            while is_placed[earliest] {
                earliest += 1;
            }
            let name = items[earliest].name.clone();
            items[earliest].waits_on.retain(|on| {
                let is_met = is_placed[index[on]];
                if !is_met {
                    dropped.push(DroppedEdge { name: name.clone(), on: on.clone(), why: DropReason::Cycle });
                }
                is_met
            });
            earliest
        };
        // A task whose dependencies were dropped may become ready a second time.
        if std::mem::replace(&mut is_placed[at], true) {
            continue;
        }
        order.push(at);
        for &dependent in &freed[at] {
            open[dependent] = open[dependent].saturating_sub(1);
            if open[dependent] == 0 {
                ready.push(Reverse(dependent));
            }
        }
    }
    let mut slots: Vec<Option<ExternalTask>> = items.into_iter().map(Some).collect();
    (order.into_iter().filter_map(|at| slots[at].take()).collect(), dropped)
}

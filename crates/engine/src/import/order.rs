//! The order in which tasks can be written so that what each waits on is there before it.
//!
//! Other tools allow what a queue cannot: a task that waits on one that is gone, or tasks that wait on one another.
//! Such an edge is left out and named; the tasks themselves all come.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use crate::import::item::Item;

/// An edge that could not be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dropped {
    pub name: String,
    pub on: String,
    pub why: Why,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    Missing,
    Circle,
}

impl std::fmt::Display for Dropped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { name, on, why } = self;
        match why {
            Why::Missing => write!(f, "{name} waits on {on}, which is not there"),
            Why::Circle => write!(f, "{name} waits on {on}, which waits on {name} in turn"),
        }
    }
}

/// Sorted so that blockers come first and everything else keeps its place.
pub fn arrange(mut items: Vec<Item>) -> (Vec<Item>, Vec<Dropped>) {
    let mut dropped = Vec::new();
    let place: HashMap<String, usize> =
        items.iter().enumerate().map(|(at, item)| (item.name.clone(), at)).collect();
    for item in &mut items {
        let name = item.name.clone();
        item.waits_on.sort();
        item.waits_on.dedup();
        item.waits_on.retain(|on| {
            let is_there = place.contains_key(on);
            if !is_there {
                dropped.push(Dropped { name: name.clone(), on: on.clone(), why: Why::Missing });
            }
            is_there
        });
    }

    let mut open: Vec<usize> = items.iter().map(|item| item.waits_on.len()).collect();
    let mut freed: Vec<Vec<usize>> = vec![Vec::new(); items.len()];
    for (at, item) in items.iter().enumerate() {
        for on in &item.waits_on {
            freed[place[on]].push(at);
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
            // All that is left waits in circles. The first of them lets go of what is not there yet.
            while is_placed[earliest] {
                earliest += 1;
            }
            let name = items[earliest].name.clone();
            items[earliest].waits_on.retain(|on| {
                let is_met = is_placed[place[on]];
                if !is_met {
                    dropped.push(Dropped { name: name.clone(), on: on.clone(), why: Why::Circle });
                }
                is_met
            });
            earliest
        };
        // One that let go may be freed once more by what it waited on.
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
    let mut slots: Vec<Option<Item>> = items.into_iter().map(Some).collect();
    (order.into_iter().filter_map(|at| slots[at].take()).collect(), dropped)
}

//! What Baton tells its watchdog: one JSON object to a line.

use std::collections::BTreeMap;

use baton_core::base::id::AttemptId;
use serde::{Deserialize, Serialize};

use crate::process::identity::ProcessIdentity;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum WatchMessage {
    /// A tree is about to be started; its processes carry the attempt's id.
    Watch { id: u64, attempt: AttemptId },
    /// Its first process runs.
    Started { id: u64, identity: ProcessIdentity },
    /// Nothing of it is left.
    Release { id: u64 },
}

/// A tree that may be alive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WatchedTree {
    pub(super) attempt: AttemptId,
    /// None until its first process runs.
    pub(super) leader: Option<ProcessIdentity>,
}

/// The trees that may be alive, on both ends of the pipe.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct WatchedTrees(BTreeMap<u64, WatchedTree>);

impl WatchedTrees {
    pub(super) fn apply(&mut self, message: &WatchMessage) {
        match message {
            WatchMessage::Watch { id, attempt } => {
                self.0.insert(*id, WatchedTree { attempt: *attempt, leader: None });
            }
            WatchMessage::Started { id, identity } => {
                if let Some(tree) = self.0.get_mut(id) {
                    tree.leader = Some(identity.clone());
                }
            }
            WatchMessage::Release { id } => drop(self.0.remove(id)),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn into_trees(self) -> Vec<WatchedTree> {
        self.0.into_values().collect()
    }

    /// The messages that bring an empty set to this one, for a new watchdog.
    pub(super) fn replay(&self) -> Vec<WatchMessage> {
        let of_one = |(&id, tree): (&u64, &WatchedTree)| {
            let watch = WatchMessage::Watch { id, attempt: tree.attempt };
            let started = tree.leader.clone().map(|identity| WatchMessage::Started { id, identity });
            std::iter::once(watch).chain(started)
        };
        self.0.iter().flat_map(of_one).collect()
    }
}

impl WatchMessage {
    pub(super) fn to_line(&self) -> serde_json::Result<Vec<u8>> {
        let mut line = serde_json::to_vec(self)?;
        line.push(b'\n');
        Ok(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watch(id: u64) -> WatchMessage {
        WatchMessage::Watch { id, attempt: AttemptId::from_bits(id) }
    }

    fn started(id: u64) -> WatchMessage {
        let identity = ProcessIdentity { pid: 7, started: Some(9), boot_id: None, guard: None, group: None };
        WatchMessage::Started { id, identity }
    }

    #[test]
    fn a_released_tree_is_forgotten_and_one_that_never_began_is_not_invented() {
        let mut trees = WatchedTrees::default();
        for message in [watch(1), started(1), watch(2), WatchMessage::Release { id: 1 }, started(3)] {
            trees.apply(&message);
        }
        assert_eq!(trees.into_trees(), [WatchedTree { attempt: AttemptId::from_bits(2), leader: None }]);
    }

    #[test]
    fn a_replay_and_a_trip_through_the_pipe_give_the_same_set() {
        let mut trees = WatchedTrees::default();
        for message in [watch(1), started(1), watch(2)] {
            trees.apply(&message);
        }
        let mut copy = WatchedTrees::default();
        for message in trees.replay() {
            let line = message.to_line().unwrap();
            assert_eq!(line.last(), Some(&b'\n'));
            copy.apply(&serde_json::from_slice(&line).unwrap());
        }
        assert_eq!(copy, trees);
    }
}

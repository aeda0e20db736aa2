//! How many set-ups of a project run at once, so that one that hangs does not keep every place of this machine.
//!
//! Until a set-up of a project has succeeded here, one attempt of it tries; from then on they may take half of the places.
//! Others wait a moment for their turn, and then go back to the queue, so that other projects get their places.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use baton_core::base::id::ProjectId;
use baton_core::base::task_type::TaskType;
use baton_core::task::Task;

use tokio::sync::watch;
use tokio::time::timeout;

use crate::projects::Projects;

/// Most set-ups are over by then; an attempt that waits so long needs not be started again.
const PATIENCE: Duration = Duration::from_secs(5);

/// The set-ups that run now, by project; None is work without a project. Cheap to clone; clones share it.
#[derive(Clone, Default)]
pub struct SetupTurns(Arc<SetupState>);

#[derive(Default)]
struct SetupState {
    projects: Mutex<BTreeMap<Option<ProjectId>, ProjectSetups>>,
    /// Counts up whenever one ends.
    ended: watch::Sender<u64>,
}

#[derive(Default)]
struct ProjectSetups {
    under_way: u32,
    at_once_max: u32,
    /// The last one that ended has succeeded.
    has_succeeded: bool,
}

impl ProjectSetups {
    fn has_turn(&self) -> bool {
        let at_once_max = if self.has_succeeded { self.at_once_max } else { 1 };
        self.under_way < at_once_max
    }
}

impl SetupTurns {
    /// A turn for a set-up of this project; None when there is none for a while.
    pub(crate) async fn take(&self, project: Option<ProjectId>, places: u32) -> Option<SetupTurn> {
        let mut ended = self.0.ended.subscribe();
        timeout(PATIENCE, async {
            loop {
                ended.mark_unchanged();
                if let Some(turn) = self.try_take(project, places) {
                    return Some(turn);
                }
                ended.changed().await.ok()?;
            }
        })
        .await
        .ok()
        .flatten()
    }

    /// The same for an attempt that must not go back to the queue.
    pub(crate) async fn wait_for(&self, project: Option<ProjectId>, places: u32) -> SetupTurn {
        loop {
            if let Some(turn) = self.take(project, places).await {
                return turn;
            }
        }
    }

    fn try_take(&self, project: Option<ProjectId>, places: u32) -> Option<SetupTurn> {
        let mut projects = self.projects();
        let setups = projects.entry(project).or_default();
        setups.at_once_max = places.div_ceil(2).max(1);
        if !setups.has_turn() {
            return None;
        }
        setups.under_way += 1;
        Some(SetupTurn { turns: self.clone(), project, has_succeeded: false })
    }

    /// The projects that no further attempt could set up now.
    pub fn busy(&self) -> BTreeSet<Option<ProjectId>> {
        let projects = self.projects();
        projects.iter().filter(|(_, setups)| !setups.has_turn()).map(|(project, _)| *project).collect()
    }

    /// Changes whenever a set-up has ended.
    pub fn ends(&self) -> watch::Receiver<u64> {
        self.0.ended.subscribe()
    }

    fn projects(&self) -> MutexGuard<'_, BTreeMap<Option<ProjectId>, ProjectSetups>> {
        self.0.projects.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Projects {
    /// A turn for the set-up of this task's worktree. None when the attempt is to go back to the queue: others of its project
    /// are at their set-up for some time.
    pub(crate) async fn setup_turn(&self, task: &Task) -> Option<SetupTurn> {
        let (project, places) = (task.spec().project_id, self.serving.max_agents);
        // Taken from its attempt, it would ask whether it may run again.
        if task.spec().task_type == TaskType::DangerousOp {
            return Some(self.setups.wait_for(project, places).await);
        }
        self.setups.take(project, places).await
    }
}

/// Held while a set-up runs. Dropping it, however that comes about, gives the turn to the next.
pub(crate) struct SetupTurn {
    turns: SetupTurns,
    project: Option<ProjectId>,
    has_succeeded: bool,
}

impl SetupTurn {
    pub(crate) fn succeeded(mut self) {
        self.has_succeeded = true;
    }
}

impl Drop for SetupTurn {
    fn drop(&mut self) {
        if let Some(setups) = self.turns.projects().get_mut(&self.project) {
            setups.under_way = setups.under_way.saturating_sub(1);
            setups.has_succeeded = self.has_succeeded;
        }
        self.turns.0.ended.send_modify(|count| *count += 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACES: u32 = 4;

    #[test]
    fn one_attempt_tries_until_a_set_up_has_succeeded_and_then_half_of_the_places_may() {
        let turns = SetupTurns::default();
        let project = Some(ProjectId::from_bits(1));
        let first = turns.try_take(project, PLACES).unwrap();
        assert!(turns.try_take(project, PLACES).is_none());
        assert_eq!(turns.busy(), BTreeSet::from([project]));
        let other = turns.try_take(None, PLACES).unwrap();
        assert_eq!(turns.busy(), BTreeSet::from([None, project]));
        drop(other);

        first.succeeded();
        assert_eq!(turns.busy(), BTreeSet::new());
        let two = [1, 2].map(|_| turns.try_take(project, PLACES).unwrap());
        assert!(turns.try_take(project, PLACES).is_none());
        assert_eq!(turns.busy(), BTreeSet::from([project]));
        drop(two);
        // They have failed: one tries again.
        let _one = turns.try_take(project, PLACES).unwrap();
        assert!(turns.try_take(project, PLACES).is_none());
    }

    #[test]
    fn a_machine_with_one_place_sets_up_too() {
        for places in [0, 1] {
            let turns = SetupTurns::default();
            turns.try_take(None, places).unwrap().succeeded();
            assert!(turns.try_take(None, places).is_some());
        }
    }

    #[tokio::test]
    async fn who_waits_gets_the_turn_that_ends() {
        let turns = SetupTurns::default();
        let first = turns.take(None, PLACES).await.unwrap();
        let waits = tokio::spawn({
            let turns = turns.clone();
            async move { turns.take(None, PLACES).await.is_some() }
        });
        tokio::task::yield_now().await;
        first.succeeded();
        assert!(waits.await.unwrap());
    }
}

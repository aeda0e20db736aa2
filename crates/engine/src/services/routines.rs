//! Runs routines when they are due: on the leader, after every change that concerns them and when the next moment comes.

use std::time::Duration;

use tokio::time::Instant;

use crate::base::supervisor::{Item, ItemKind, Items, Round, Service, ServiceError, ServiceName};
use crate::cluster::leader::Leadership;
use crate::runs::routines::Routines;
use crate::services::workspace::Workspace;

/// The longest sleep; later moments are looked at again in between, because clocks may jump.
const LONGEST_WAIT: Duration = Duration::from_mins(1);

pub(super) struct RoutineService {
    workspace: Workspace,
    routines: Routines,
    leadership: Leadership,
    items: Items,
}

impl RoutineService {
    pub(super) fn new(workspace: Workspace, leadership: Leadership) -> Self {
        let items = workspace.items(ServiceName::Routines);
        Self { routines: Routines::new(&workspace.projects), workspace, leadership, items }
    }
}

impl Service for RoutineService {
    async fn run_once(&mut self) -> Result<Round, ServiceError> {
        if !self.leadership.is_held() {
            return Ok(Round::default());
        }
        let active = self.routines.list().await?.into_iter().filter(baton_core::routine::Routine::is_active);
        let ids: Vec<_> = active.map(|routine| routine.id).collect();
        for id in ids {
            let item = Item::new(ItemKind::Routine, &id);
            self.items.attempt(&item, self.routines.fire(id)).await?;
        }
        let now = self.workspace.tasks.store.now().await?;
        // One that is full goes on after the end of a task, which is a change.
        let open = self.routines.list().await?.into_iter().filter(|routine| !routine.is_full());
        let next = open.filter_map(|routine| routine.next_at).min();
        let wait = next.map(|next| {
            let ms = u64::try_from(next.ms_since(now)).unwrap_or(0);
            Duration::from_millis(ms).min(LONGEST_WAIT)
        });
        let mut round = self.items.end_round();
        if let Some(wait) = wait {
            let at = Instant::now() + wait;
            round.again_at = Some(round.again_at.map_or(at, |known| known.min(at)));
        }
        Ok(round)
    }
}

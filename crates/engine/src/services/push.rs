//! Retries pushes that failed.

use crate::base::supervisor::{Item, ItemKind, Items, Round, Service, ServiceError, ServiceName};
use crate::services::workspace::Workspace;

pub(super) struct PushService {
    workspace: Workspace,
    items: Items,
}

impl PushService {
    pub(super) fn new(workspace: Workspace) -> Self {
        let items = workspace.items(ServiceName::Push);
        Self { workspace, items }
    }
}

impl Service for PushService {
    async fn run_once(&mut self) -> Result<Round, ServiceError> {
        for what in self.workspace.projects.unpushed().all() {
            // A running attempt pushes its own work.
            if self.workspace.running.ids().contains(&what.attempt) {
                continue;
            }
            let item = Item::new(ItemKind::Push, &what.attempt).for_task(what.task);
            self.items.attempt(&item, self.workspace.projects.push_again(&what)).await?;
        }
        Ok(self.items.end_round())
    }
}

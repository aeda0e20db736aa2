//! Ends runs whose task ended without them.

use crate::base::supervisor::{Item, ItemKind, Items, Round, Service, ServiceError, ServiceName};
use crate::cluster::leader::Leadership;
use crate::runs::Runs;
use crate::services::workspace::Workspace;
use crate::tasks::service::TaskService;

pub(super) struct RunCleanup {
    tasks: TaskService,
    runs: Runs,
    leadership: Leadership,
    items: Items,
}

impl RunCleanup {
    pub(super) fn new(workspace: &Workspace, leadership: Leadership) -> Self {
        let items = workspace.items(ServiceName::Runs);
        Self { tasks: workspace.tasks.clone(), runs: Runs::new(&workspace.tasks), leadership, items }
    }
}

impl Service for RunCleanup {
    async fn run_once(&mut self) -> Result<Round, ServiceError> {
        if !self.leadership.is_held() {
            return Ok(Round::default());
        }
        for open in self.tasks.store.open_runs().await? {
            let item = Item::new(ItemKind::Run, &open.value.id()).for_session(open.value.session().clone());
            let item = Item { task: open.value.task(), ..item };
            self.items.attempt(&item, self.runs.end_run_without_work(open)).await?;
        }
        Ok(self.items.end_round())
    }
}

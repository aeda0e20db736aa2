//! Ends runs whose task came to an end without them.

use crate::cluster::leader::Leadership;
use crate::supervisor::{Item, ItemKind, Items, Round, Service, ServiceError, ServiceName};
use crate::tasks::service::TaskService;
use crate::workshop::Workshop;

pub(super) struct RunCleanup {
    tasks: TaskService,
    leadership: Leadership,
    items: Items,
}

impl RunCleanup {
    pub(super) fn new(shop: &Workshop, leadership: Leadership) -> Self {
        let items = shop.services.items(ServiceName::Runs, &shop.tasks.store);
        Self { tasks: shop.tasks.clone(), leadership, items }
    }
}

impl Service for RunCleanup {
    async fn run_once(&mut self) -> Result<Round, ServiceError> {
        if !self.leadership.is_held() {
            return Ok(Round::default());
        }
        for open in self.tasks.store.open_runs().await? {
            let item = Item::new(ItemKind::Run, &open.value.id()).of_session(open.value.session().clone());
            let item = Item { task: open.value.task(), ..item };
            self.items.attempt(&item, self.tasks.end_run_without_work(open)).await?;
        }
        Ok(self.items.end_round())
    }
}

//! Pushes what could not be pushed when it was made, until it has arrived.

use crate::supervisor::{Item, ItemKind, Items, Round, Service, ServiceError, ServiceName};
use crate::workshop::Workshop;

pub(super) struct PushService {
    shop: Workshop,
    items: Items,
}

impl PushService {
    pub(super) fn new(shop: Workshop) -> Self {
        let items = shop.services.items(ServiceName::Push, &shop.tasks.store);
        Self { shop, items }
    }
}

impl Service for PushService {
    async fn run_once(&mut self) -> Result<Round, ServiceError> {
        for what in self.shop.unpushed().all() {
            // An attempt that runs here pushes its work itself.
            if self.shop.running.ids().contains(&what.attempt) {
                continue;
            }
            let item = Item::new(ItemKind::Push, &what.attempt).of_task(what.task);
            self.items.attempt(&item, self.shop.push_again(&what)).await?;
        }
        Ok(self.items.end_round())
    }
}

//! Tasks of a page, loaded in one query.

use std::collections::{BTreeMap, BTreeSet};

use baton_core::base::id::TaskId;
use baton_core::task::Task;

use crate::pages::frame::response::PageError;
use crate::state::App;

pub(super) async fn load_tasks(
    app: &App,
    ids: impl IntoIterator<Item = TaskId>,
) -> Result<BTreeMap<TaskId, Task>, PageError> {
    let ids: BTreeSet<TaskId> = ids.into_iter().collect();
    if ids.is_empty() {
        return Ok(BTreeMap::new());
    }
    let ids: Vec<TaskId> = ids.into_iter().collect();
    let found = app.tasks().store.tasks_by_ids(&ids).await?;
    Ok(found.into_iter().map(|stored| (stored.value.id(), stored.value)).collect())
}

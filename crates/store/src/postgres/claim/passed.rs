//! Ready tasks that a claim passes over, because none of its requests may have them: runs work through them, or their
//! agents are on hold.
//!
//! SQL cannot tell them from others. So a look that finds one is repeated without it, until every task it finds is of
//! use or no more are left. However many there are, a free task behind them is found.

use std::collections::BTreeSet;

use baton_core::base::id::TaskId;
use baton_core::base::text::Role;
use baton_core::task::Task;

use crate::model::claim::ClaimRequest;
use crate::postgres::claim::candidates::ClaimView;
use crate::postgres::connect::connector::PgConnection;
use crate::postgres::connect::fault::PostgresFault;

/// Without locks: what nobody may have must not make writers wait.
const FURTHER: &str = "SELECT t.body FROM ready r JOIN tasks t ON t.id = r.id
    WHERE r.role = ANY($1::text[]) AND NOT r.id = ANY($2::text[])
    ORDER BY r.rank + 0, r.created_ms, r.id LIMIT $3";
/// Tasks in the first look ahead; each later one is this many times as long, so that few are needed.
const AHEAD: usize = 16;
const LONGER: usize = 4;

const DOING: &str = "looking past tasks that runs keep";

pub(crate) struct PassedTasks {
    tasks: BTreeSet<TaskId>,
    ahead: usize,
}

impl Default for PassedTasks {
    fn default() -> Self {
        Self { tasks: BTreeSet::new(), ahead: AHEAD }
    }
}

impl PassedTasks {
    pub(crate) fn keys(&self) -> Vec<String> {
        self.tasks.iter().map(ToString::to_string).collect()
    }

    /// Adds the tasks that were found and that no request may have. Returns whether there were any.
    pub(crate) fn add_unfit(&mut self, seen: &ClaimView, requests: &[ClaimRequest]) -> bool {
        let before = self.tasks.len();
        self.add(seen.found.values().map(|found| &found.task.value), requests);
        self.tasks.len() > before
    }

    /// Adds such tasks among those that come next in the queue.
    pub(crate) async fn look_further(
        &mut self,
        conn: &PgConnection,
        requests: &[ClaimRequest],
    ) -> Result<(), PostgresFault> {
        let roles: BTreeSet<&Role> = requests.iter().flat_map(|request| request.agents.keys()).collect();
        let roles: Vec<String> = roles.into_iter().map(ToString::to_string).collect();
        let count = i64::try_from(self.ahead).unwrap_or(i64::MAX);
        self.ahead = self.ahead.saturating_mul(LONGER);
        let rows = conn.query(DOING, FURTHER, &[&roles, &self.keys(), &count]).await?;
        // A row that cannot be decoded is reported when a claim comes to it.
        let tasks: Vec<Task> = rows.iter().filter_map(|row| serde_json::from_str(row.get(0)).ok()).collect();
        self.add(tasks.iter(), requests);
        Ok(())
    }

    fn add<'t>(&mut self, tasks: impl Iterator<Item = &'t Task>, requests: &[ClaimRequest]) {
        let is_unfit = |task: &&Task| !requests.iter().any(|request| request.fit.admits(task));
        self.tasks.extend(tasks.filter(is_unfit).map(Task::id));
    }
}

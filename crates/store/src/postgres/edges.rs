//! Edges that touch tasks which were there before: added one change at a time, behind one lock, and searched
//! for circles once they are written. What closes one is undone with the whole change.

use std::collections::{BTreeMap, BTreeSet};

use baton_core::base::id::TaskId;
use baton_core::records::change::EdgeChange;

use super::batch::{Known, TaskFacts};
use super::circle::{Edge, circle, targets};
use super::connect::Link;
use super::fault::Fault;
use super::lock::{task_id, texts};
use crate::commit::Conflict;

const DOING: &str = "changing dependencies";

const DEPENDENTS: &str = "SELECT t.id FROM edges e JOIN tasks t ON t.id = e.task WHERE e.blocker = $1 ORDER BY t.id FOR UPDATE OF t";
const DETACH: &str = "DELETE FROM edges WHERE blocker = $1";
const ATTACH: &str =
    "INSERT INTO edges (task, blocker, is_met) SELECT * FROM unnest($1::text[], $2::text[], $3::boolean[])
    ON CONFLICT (task, blocker) DO NOTHING";
const COUNT: &str = "UPDATE tasks t
    SET open_blockers = (SELECT count(*) FROM edges e WHERE e.task = t.id AND NOT e.is_met) WHERE t.id = ANY($1)";
const LEAVE_READY: &str = "DELETE FROM ready r USING tasks t
    WHERE r.id = ANY($1) AND t.id = r.id AND (t.open_blockers > 0 OR NOT t.is_claimable)";
/// Everything above the given tasks, edge by edge. A circle through one of them leads back to it.
const ABOVE: &str = "WITH RECURSIVE up (task, blocker) AS (
        SELECT task, blocker FROM edges WHERE blocker = ANY($1)
        UNION SELECT e.task, e.blocker FROM up JOIN edges e ON e.blocker = up.task
    ) SELECT task, blocker FROM up";

/// Two changes may each add half of a circle, so those that have to search take turns.
pub(super) fn turn(schema: &str) -> String {
    format!("{schema}:edges")
}

/// Writes the edges of one change. Returns the tasks whose readiness may have changed, or why it may not be.
pub(super) async fn write(
    link: &Link,
    known: &Known,
    changes: &[EdgeChange],
) -> Result<Result<BTreeSet<TaskId>, Conflict>, Fault> {
    let mut added: Vec<Edge> = Vec::new();
    for change in changes {
        let edges = match edges_of(link, known, change).await? {
            Ok(edges) => edges,
            Err(conflict) => return Ok(Err(conflict)),
        };
        added.extend(edges.keys());
        let tasks = texts(edges.keys().map(|(task, _)| task));
        let blockers = texts(edges.keys().map(|(_, on)| on));
        let met: Vec<bool> = edges.values().copied().collect();
        link.query(DOING, ATTACH, &[&tasks, &blockers, &met]).await?;
    }
    let touched: BTreeSet<TaskId> = added.iter().map(|(task, _)| *task).collect();
    let ids = texts(&touched);
    let mut above = Vec::new();
    for row in link.query(DOING, ABOVE, &[&ids]).await? {
        above.push((task_id(row.get(0))?, task_id(row.get(1))?));
    }
    if let Some(path) = circle(&above, &added) {
        return Ok(Err(Conflict::Cycle { path }));
    }
    link.query(DOING, COUNT, &[&ids]).await?;
    link.query(DOING, LEAVE_READY, &[&ids]).await?;
    Ok(Ok(touched))
}

type Edges = BTreeMap<Edge, bool>;

async fn edges_of(link: &Link, known: &Known, change: &EdgeChange) -> Result<Result<Edges, Conflict>, Fault> {
    let facts_of = |task: &TaskId| known.tasks.get(task);
    let is_done = |task: &TaskId| facts_of(task).is_some_and(|facts: &TaskFacts| facts.is_done);
    match change {
        EdgeChange::Add { task, on } => {
            let unknown = Conflict::UnknownDependency { task: *task, on: *on };
            Ok(match targets(*on, facts_of) {
                Some(targets) if known.tasks.contains_key(task) => {
                    Ok(targets.into_iter().map(|target| ((*task, target), is_done(&target))).collect())
                }
                Some(_) | None => Err(unknown),
            })
        }
        EdgeChange::Rewire { from, to } => {
            let rows = link.query(DOING, DEPENDENTS, &[&from.to_string()]).await?;
            let dependents = rows.iter().map(|row| task_id(row.get(0))).collect::<Result<Vec<_>, _>>()?;
            link.query(DOING, DETACH, &[&from.to_string()]).await?;
            let mut edges = Edges::new();
            for on in to {
                let Some(targets) = targets(*on, facts_of) else {
                    return Ok(Err(Conflict::UnknownDependency { task: *from, on: *on }));
                };
                for target in targets {
                    edges.extend(dependents.iter().map(|task| ((*task, target), is_done(&target))));
                }
            }
            Ok(Ok(edges))
        }
    }
}

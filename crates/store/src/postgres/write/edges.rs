//! Edges of existing tasks: added one change at a time under one lock, and searched for cycles after they are
//! written. An edge that closes a cycle rolls back the whole change.

use std::collections::{BTreeMap, BTreeSet};

use baton_core::base::id::TaskId;
use baton_core::records::change::EdgeChange;

use crate::model::commit::Conflict;
use crate::postgres::connect::connector::PgConnection;
use crate::postgres::connect::fault::PostgresFault;
use crate::postgres::decode::{task_id, texts};
use crate::postgres::write::cycle::{EdgeKey, find_cycle, resolve_targets};
use crate::postgres::write::facts::{LockedRows, TaskFacts};

const DOING: &str = "changing dependencies";

const DEPENDENTS: &str = "SELECT t.id FROM edges e JOIN tasks t ON t.id = e.task WHERE e.blocker = $1 ORDER BY t.id FOR UPDATE OF t";
const DETACH: &str = "DELETE FROM edges WHERE blocker = $1";
const DETACH_ONE: &str = "DELETE FROM edges WHERE task = $1 AND blocker = $2";
const ATTACH: &str =
    "INSERT INTO edges (task, blocker, is_met) SELECT * FROM unnest($1::text[], $2::text[], $3::boolean[])
    ON CONFLICT (task, blocker) DO NOTHING";
const COUNT: &str = "UPDATE tasks t
    SET open_blockers = (SELECT count(*) FROM edges e WHERE e.task = t.id AND NOT e.is_met) WHERE t.id = ANY($1)";
const LEAVE_READY: &str = "DELETE FROM ready r USING tasks t
    WHERE r.id = ANY($1) AND t.id = r.id AND (t.open_blockers > 0 OR NOT t.is_claimable)";
/// All edges above the given tasks. A cycle through one of them leads back to it.
const ABOVE: &str = "WITH RECURSIVE up (task, blocker) AS (
        SELECT task, blocker FROM edges WHERE blocker = ANY($1)
        UNION SELECT e.task, e.blocker FROM up JOIN edges e ON e.blocker = up.task
    ) SELECT task, blocker FROM up";

/// Two concurrent changes may each add half of a cycle, so changes that have to search hold this lock.
pub(crate) fn edge_lock_name(schema: &str) -> String {
    format!("{schema}:edges")
}

/// Writes the edges of one change. Returns the tasks whose readiness may have changed, or the conflict.
pub(crate) async fn write(
    conn: &PgConnection,
    known: &LockedRows,
    changes: &[EdgeChange],
) -> Result<Result<BTreeSet<TaskId>, Conflict>, PostgresFault> {
    let mut added: Vec<EdgeKey> = Vec::new();
    let mut touched = BTreeSet::new();
    for change in changes {
        if let EdgeChange::Remove { task, .. } = change {
            touched.insert(*task);
        }
        let edges = match resolve_edges(conn, known, change).await? {
            Ok(edges) => edges,
            Err(conflict) => return Ok(Err(conflict)),
        };
        added.extend(edges.keys());
        let tasks = texts(edges.keys().map(|(task, _)| task));
        let blockers = texts(edges.keys().map(|(_, on)| on));
        let met: Vec<bool> = edges.values().copied().collect();
        conn.query(DOING, ATTACH, &[&tasks, &blockers, &met]).await?;
    }
    touched.extend(added.iter().map(|(task, _)| *task));
    let ids = texts(&touched);
    let mut above = Vec::new();
    for row in conn.query(DOING, ABOVE, &[&ids]).await? {
        above.push((task_id(row.get(0))?, task_id(row.get(1))?));
    }
    if let Some(path) = find_cycle(&above, &added) {
        return Ok(Err(Conflict::Cycle { path }));
    }
    conn.query(DOING, COUNT, &[&ids]).await?;
    conn.query(DOING, LEAVE_READY, &[&ids]).await?;
    Ok(Ok(touched))
}

type NewEdges = BTreeMap<EdgeKey, bool>;

async fn resolve_edges(
    conn: &PgConnection,
    known: &LockedRows,
    change: &EdgeChange,
) -> Result<Result<NewEdges, Conflict>, PostgresFault> {
    let facts_of = |task: &TaskId| known.tasks.get(task);
    let is_done = |task: &TaskId| facts_of(task).is_some_and(|facts: &TaskFacts| facts.is_done);
    match change {
        EdgeChange::Add { task, on } => {
            let unknown = Conflict::UnknownDependency { task: *task, on: *on };
            Ok(match resolve_targets(*on, facts_of) {
                Some(resolve_targets) if known.tasks.contains_key(task) => Ok(resolve_targets
                    .into_iter()
                    .map(|target| ((*task, target), is_done(&target)))
                    .collect()),
                Some(_) | None => Err(unknown),
            })
        }
        EdgeChange::Remove { task, on } => {
            conn.query(DOING, DETACH_ONE, &[&task.to_string(), &on.to_string()]).await?;
            Ok(Ok(NewEdges::new()))
        }
        EdgeChange::Rewire { from, to } => {
            let rows = conn.query(DOING, DEPENDENTS, &[&from.to_string()]).await?;
            let dependents = rows.iter().map(|row| task_id(row.get(0))).collect::<Result<Vec<_>, _>>()?;
            conn.query(DOING, DETACH, &[&from.to_string()]).await?;
            let mut edges = NewEdges::new();
            for on in to {
                let Some(resolve_targets) = resolve_targets(*on, facts_of) else {
                    return Ok(Err(Conflict::UnknownDependency { task: *from, on: *on }));
                };
                for target in resolve_targets {
                    edges.extend(dependents.iter().map(|task| ((*task, target), is_done(&target))));
                }
            }
            Ok(Ok(edges))
        }
    }
}

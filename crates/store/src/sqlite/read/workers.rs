//! Reading the list of workers.

use baton_core::base::time::Timestamp;
use baton_core::schedule::worker::{Worker, WorkerSighting};
use rusqlite::Connection;

use crate::model::record_kind::RecordKind;
use crate::sqlite::fault::SqliteFault;
use crate::sqlite::rows::body;

pub(crate) fn all(conn: &Connection) -> Result<Vec<WorkerSighting>, SqliteFault> {
    let mut statement = conn.prepare_cached("SELECT name, seen_ms, body FROM workers ORDER BY name")?;
    let mut rows = statement.query([])?;
    let mut workers = Vec::new();
    while let Some(row) = rows.next()? {
        let name: String = row.get(0)?;
        let worker: Worker = body(row.get_ref(2)?, RecordKind::Worker, name)?;
        workers.push(WorkerSighting { worker, seen_at: Timestamp::from_ms(row.get(1)?) });
    }
    Ok(workers)
}

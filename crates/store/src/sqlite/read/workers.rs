//! Reading the list of workers.

use baton_core::time::Timestamp;
use baton_core::worker::{Sighting, Worker};
use rusqlite::Connection;

use crate::model::record_kind::RecordKind;
use crate::sqlite::fault::SqliteFault;
use crate::sqlite::rows::body;

pub(crate) fn all(conn: &Connection) -> Result<Vec<Sighting>, SqliteFault> {
    let mut statement = conn.prepare_cached("SELECT name, seen_ms, body FROM workers ORDER BY name")?;
    let mut rows = statement.query([])?;
    let mut workers = Vec::new();
    while let Some(row) = rows.next()? {
        let name: String = row.get(0)?;
        let worker: Worker = body(row.get_ref(2)?, RecordKind::Worker, name)?;
        workers.push(Sighting { worker, seen_at: Timestamp::from_ms(row.get(1)?) });
    }
    Ok(workers)
}

//! Schema migrations, oldest first. Each step is one transaction.

use rusqlite::{Connection, TransactionBehavior};

use crate::error::StoreError;
use crate::sqlite::fault::SqliteFault;

/// Marks a SQLite file as a Baton store ("Batn"). Never changes.
pub(crate) const APPLICATION_ID: u32 = 0x4261_746e;

/// Step `n` migrates schema `n` to `n + 1`. A released step is never edited.
const STEPS: [&str; 11] = [
    include_str!("schema/001.sql"),
    include_str!("schema/002.sql"),
    include_str!("schema/003.sql"),
    include_str!("schema/004.sql"),
    include_str!("schema/005.sql"),
    include_str!("schema/006.sql"),
    include_str!("schema/007.sql"),
    include_str!("schema/008.sql"),
    include_str!("schema/009.sql"),
    include_str!("schema/010.sql"),
    include_str!("schema/011.sql"),
];

/// The newest schema this program knows.
pub(crate) fn known() -> i64 {
    i64::try_from(STEPS.len()).unwrap_or(i64::MAX)
}

/// Migrates the file to the newest schema; fails if the file is newer.
pub(crate) fn migrate(conn: &mut Connection, place: &str) -> Result<(), SqliteFault> {
    loop {
        let transaction = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Read inside the transaction: another process may have taken this step while we waited.
        let found: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
        if found > known() {
            return Err(StoreError::Newer { place: place.to_owned(), found, known: known() }.into());
        }
        let Some(step) = usize::try_from(found).ok().and_then(|step| STEPS.get(step)) else { return Ok(()) };
        transaction.execute_batch(step)?;
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", found + 1)?;
        transaction.commit()?;
    }
}

/// The schema version of an open file.
pub(crate) fn version(conn: &Connection) -> rusqlite::Result<i64> {
    conn.pragma_query_value(None, "user_version", |row| row.get(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(conn: &Connection) -> Vec<String> {
        let sql = "SELECT coalesce(sql, name) FROM sqlite_master ORDER BY name";
        conn.prepare(sql).unwrap().query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    }

    #[test]
    fn every_earlier_schema_migrates_to_the_newest() {
        let mut newest = Connection::open_in_memory().unwrap();
        migrate(&mut newest, "memory").unwrap();
        assert_eq!(version(&newest).unwrap(), known());
        for earlier in 0..STEPS.len() {
            let mut conn = Connection::open_in_memory().unwrap();
            STEPS[..earlier].iter().for_each(|step| conn.execute_batch(step).unwrap());
            conn.pragma_update(None, "user_version", i64::try_from(earlier).unwrap()).unwrap();
            migrate(&mut conn, "memory").unwrap();
            assert_eq!(schema(&conn), schema(&newest), "from schema {earlier}");
        }
    }
}

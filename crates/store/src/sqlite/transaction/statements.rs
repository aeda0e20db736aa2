//! The writer's prepared statements, kept while its connection is open.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use rusqlite::{Connection, PrepFlags, Statement};

/// Keyed by the address of the SQL text, since every text is a constant. rusqlite's own cache hashes the text, which
/// took a tenth of the writer's time.
pub(crate) struct StatementCache<'c> {
    conn: &'c Connection,
    prepared: BTreeMap<SqlAddress, Statement<'c>>,
}

/// Start and length: one constant may be a part of another.
type SqlAddress = (usize, usize);

impl<'c> StatementCache<'c> {
    pub(crate) fn new(conn: &'c Connection) -> Self {
        Self { conn, prepared: BTreeMap::new() }
    }

    pub(crate) fn get(&mut self, sql: &'static str) -> rusqlite::Result<&mut Statement<'c>> {
        match self.prepared.entry((sql.as_ptr().addr(), sql.len())) {
            Entry::Occupied(found) => Ok(found.into_mut()),
            Entry::Vacant(free) => {
                let statement = self.conn.prepare_with_flags(sql, PrepFlags::SQLITE_PREPARE_PERSISTENT)?;
                Ok(free.insert(statement))
            }
        }
    }
}

//! The writer's statements, each prepared once for as long as its connection is open.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use rusqlite::{Connection, PrepFlags, Statement};

/// Found by where their text lies in the program, not by reading it: every one is a constant, so its place names
/// it. rusqlite's own cache compares the texts, and that took a tenth of the writer's time; there are some forty, which
/// a tree of numbers finds sooner than a hash that is made to withstand strangers.
pub(crate) struct StatementCache<'c> {
    conn: &'c Connection,
    prepared: BTreeMap<SqlAddress, Statement<'c>>,
}

/// Where a text begins, and how long it is: one constant may lie inside another.
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

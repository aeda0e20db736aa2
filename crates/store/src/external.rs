//! Read-only access to the SQLite database of another program.
//!
//! It is here because only this crate contains SQL. The caller knows what the tables mean: it names a table and gets
//! its rows as JSON.

use std::path::{Path, PathBuf};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use serde_json::{Map, Value};

use crate::error::StoreError;

/// One row: values by column name.
pub type ExternalRow = Map<String, Value>;

/// The most rows read from one table, which bounds the cost of an unexpected file.
const ROWS_MAX: usize = 1_000_000;

pub struct ExternalDatabase {
    connection: Connection,
    path: PathBuf,
}

impl ExternalDatabase {
    /// Opens an existing file without changing it.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection =
            Connection::open_with_flags(path, flags).map_err(|error| unreadable(path, &error))?;
        Ok(Self { connection, path: path.to_owned() })
    }

    pub fn has_table(&self, table: &str) -> Result<bool, StoreError> {
        let sql = "SELECT count(*) FROM sqlite_schema WHERE type IN ('table', 'view') AND name = ?1";
        let count: i64 =
            self.connection.query_row(sql, [table], |row| row.get(0)).map_err(|error| self.fault(&error))?;
        Ok(count > 0)
    }

    /// Every row of a table; none if the table does not exist.
    pub fn rows(&self, table: &str) -> Result<Vec<ExternalRow>, StoreError> {
        if !self.has_table(table)? {
            return Ok(Vec::new());
        }
        // A table name cannot be a bound parameter; quoted like this it cannot be anything but a name.
        let sql = format!("SELECT * FROM \"{}\" LIMIT {ROWS_MAX}", table.replace('"', "\"\""));
        let mut statement = self.connection.prepare(&sql).map_err(|error| self.fault(&error))?;
        let names: Vec<String> = statement.column_names().map(ToOwned::to_owned).collect();
        let mut found = statement.query([]).map_err(|error| self.fault(&error))?;
        let mut rows = Vec::new();
        while let Some(row) = found.next().map_err(|error| self.fault(&error))? {
            let mut columns = ExternalRow::new();
            for (index, name) in names.iter().enumerate() {
                let value = row.get_ref(index).map_err(|error| self.fault(&error))?;
                columns.insert(name.clone(), as_json(value));
            }
            rows.push(columns);
        }
        Ok(rows)
    }

    fn fault(&self, error: &rusqlite::Error) -> StoreError {
        unreadable(&self.path, error)
    }
}

/// Creates a database as another program would have, for tests of importers.
#[doc(hidden)]
pub fn fixture(path: &Path, sql: &str) -> Result<(), StoreError> {
    let made = Connection::open(path).map_err(|error| unreadable(path, &error))?;
    made.execute_batch(sql).map_err(|error| unreadable(path, &error))
}

/// Blobs become hexadecimal, the usual way to show and compare binary ids.
fn as_json(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => number.into(),
        ValueRef::Real(number) => number.into(),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned().into(),
        ValueRef::Blob(bytes) => {
            let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
            digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect::<String>().into()
        }
    }
}

fn unreadable(path: &Path, error: &rusqlite::Error) -> StoreError {
    StoreError::Unreadable { path: path.to_owned(), detail: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn rows_are_read_and_nothing_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("other.db");
        fixture(
            &path,
            "CREATE TABLE \"odd \"\" name\" (id BLOB, n INTEGER, x REAL, t TEXT, gone TEXT);
             INSERT INTO \"odd \"\" name\" VALUES (x'00ff', 7, 0.5, 'text', NULL);",
        )
        .unwrap();
        let before = std::fs::read(&path).unwrap();
        let file = ExternalDatabase::open(&path).unwrap();
        let rows = file.rows("odd \" name").unwrap();
        assert_eq!(json!(rows), json!([{ "id": "00ff", "n": 7, "x": 0.5, "t": "text", "gone": null }]));
        assert_eq!(file.rows("missing").unwrap(), Vec::<ExternalRow>::new());
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }

    #[test]
    fn a_missing_or_invalid_database_is_named_in_the_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.db");
        assert!(ExternalDatabase::open(&path).is_err());
        std::fs::write(&path, "this is a text, and a rather long one at that").unwrap();
        let refused = ExternalDatabase::open(&path).and_then(|file| file.rows("tasks")).unwrap_err();
        assert!(refused.to_string().contains("notes.db"), "{refused}");
    }
}

//! What one cycle through the store leaves in its rows, for those who write the same by hand.

use std::path::Path;

use baton_store::{Backend, SqliteOptions, SqliteStore};
use rusqlite::Connection;

use crate::work;

pub(crate) struct Bodies {
    pub(crate) claimed: Step,
    pub(crate) settled: Step,
}

/// The rows of one commit.
pub(crate) struct Step {
    pub(crate) task: String,
    pub(crate) attempt: String,
    pub(crate) events: Vec<String>,
    pub(crate) effects: Vec<String>,
}

impl Bodies {
    /// Takes one task through a new store at `path`, and copies what is written on the way.
    pub(crate) async fn of_one_cycle(path: &Path) -> Self {
        let store = SqliteStore::open(path, SqliteOptions::default()).unwrap();
        // Its number has as many digits as most.
        work::fill(&store, 12_345, 1, &[]).await;
        let conn = Connection::open(path).unwrap();
        let (events, effects) = (texts(&conn, EVENTS).len(), texts(&conn, EFFECTS).len());
        let one = store.claim(work::request(1)).await.unwrap().remove(0);
        let claimed = Step::after(&conn, events, effects);
        work::write(&store, work::settled(&one)).await;
        let settled = Step::after(&conn, events + claimed.events.len(), effects + claimed.effects.len());
        store.close().await.unwrap();
        Self { claimed, settled }
    }
}

const EVENTS: &str = "SELECT body FROM events ORDER BY seq";
const EFFECTS: &str = "SELECT body FROM outbox ORDER BY id";

impl Step {
    /// As the rows are now; of events and effects those after the first so many.
    fn after(conn: &Connection, events: usize, effects: usize) -> Self {
        Self {
            task: texts(conn, "SELECT body FROM tasks").remove(0),
            attempt: texts(conn, "SELECT body FROM attempts").remove(0),
            events: texts(conn, EVENTS).split_off(events),
            effects: texts(conn, EFFECTS).split_off(effects),
        }
    }
}

fn texts(conn: &Connection, sql: &str) -> Vec<String> {
    conn.prepare(sql).unwrap().query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

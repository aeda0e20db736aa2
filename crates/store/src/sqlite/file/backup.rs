//! A consistent copy of the file while it is in use.

use std::fs;
use std::path::Path;

use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};

use crate::model::progress::{ProgressListener, ProgressStage};
use crate::sqlite::fault::{SqliteFault, io_error};
use crate::sqlite::file::lock::{parent_dir, sibling};
use crate::sqlite::file::open::rename_durably;

/// Pages copied per step (4 MiB).
const STEP_PAGES: i32 = 1_000;

/// `conn` is inside a read transaction, so every step copies the same snapshot, whatever is written meanwhile. The
/// copy gets its final name once it is complete and on disk.
pub(crate) fn backup(conn: &Connection, to: &Path, progress: &ProgressListener) -> Result<(), SqliteFault> {
    if let Some(folder) = parent_dir(to) {
        fs::create_dir_all(folder)
            .map_err(|error| io_error(&error, folder, "creating the backup's directory"))?;
    }
    let making = sibling(to, ".making");
    // Left over from an interrupted backup.
    let _ = fs::remove_file(&making);
    let copied = copy(conn, &making, progress).and_then(|()| Ok(rename_durably(&making, to)?));
    if copied.is_err() {
        let _ = fs::remove_file(&making);
    }
    copied
}

fn copy(conn: &Connection, to: &Path, progress: &ProgressListener) -> Result<(), SqliteFault> {
    // A transaction has no snapshot until its first read.
    conn.query_row("SELECT one FROM counters", [], |_| Ok(()))?;
    let mut copy = Connection::open(to)?;
    let backup = Backup::new(conn, &mut copy)?;
    // Any other result means there is more to copy.
    while backup.step(STEP_PAGES)? != StepResult::Done {
        let done = backup.progress();
        let count = |pages: i32| u64::try_from(pages).unwrap_or_default();
        let (left, total) = (count(done.remaining), count(done.pagecount));
        progress.report(ProgressStage::Copying { pages: total.saturating_sub(left), total });
    }
    drop(backup);
    copy.close().map_err(|(_, error)| error)?;
    Ok(())
}

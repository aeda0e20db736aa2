//! A consistent copy of the file while others read and write it.

use std::fs;
use std::path::Path;

use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};

use crate::model::progress::{ProgressListener, ProgressStage};
use crate::sqlite::fault::{SqliteFault, io_error};
use crate::sqlite::file::lock::{parent_dir, sibling};
use crate::sqlite::file::open::put_in_place;

/// Pages copied between two looks at whether anything went wrong (4 MiB).
const STEP_PAGES: i32 = 1_000;

/// `conn` is inside a read transaction: every step copies the same moment, however much is written meanwhile.
/// The copy has its name only once it is whole and on the disk.
pub(crate) fn backup(conn: &Connection, to: &Path, progress: &ProgressListener) -> Result<(), SqliteFault> {
    if let Some(folder) = parent_dir(to) {
        fs::create_dir_all(folder).map_err(|error| io_error(&error, folder, "making the backup's folder"))?;
    }
    let making = sibling(to, ".making");
    // An earlier backup that was cut off.
    let _ = fs::remove_file(&making);
    let copied = copy(conn, &making, progress).and_then(|()| Ok(put_in_place(&making, to)?));
    if copied.is_err() {
        let _ = fs::remove_file(&making);
    }
    copied
}

fn copy(conn: &Connection, to: &Path, progress: &ProgressListener) -> Result<(), SqliteFault> {
    // The transaction has no view of the file before it has read something.
    conn.query_row("SELECT one FROM counters", [], |_| Ok(()))?;
    let mut copy = Connection::open(to)?;
    let backup = Backup::new(conn, &mut copy)?;
    // Anything else means that there is more to copy.
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

//! A consistent copy of the file while others read and write it.

use std::fs;
use std::path::Path;

use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};

use crate::model::progress::{Onlooker, Stage};
use crate::sqlite::fault::{Fault, io_error};
use crate::sqlite::file::lock::{beside, folder_of};
use crate::sqlite::file::open::put_in_place;

/// Pages copied between two looks at whether anything went wrong (4 MiB).
const STEP_PAGES: i32 = 1_000;

/// `conn` is inside a read transaction: every step copies the same moment, however much is written meanwhile.
/// The copy has its name only once it is whole and on the disk.
pub(crate) fn backup(conn: &Connection, to: &Path, onlooker: &Onlooker) -> Result<(), Fault> {
    if let Some(folder) = folder_of(to) {
        fs::create_dir_all(folder).map_err(|error| io_error(&error, folder, "making the backup's folder"))?;
    }
    let making = beside(to, ".making");
    // An earlier backup that was cut off.
    let _ = fs::remove_file(&making);
    let copied = copy(conn, &making, onlooker).and_then(|()| Ok(put_in_place(&making, to)?));
    if copied.is_err() {
        let _ = fs::remove_file(&making);
    }
    copied
}

fn copy(conn: &Connection, to: &Path, onlooker: &Onlooker) -> Result<(), Fault> {
    // The transaction has no view of the file before it has read something.
    conn.query_row("SELECT one FROM counters", [], |_| Ok(()))?;
    let mut copy = Connection::open(to)?;
    let backup = Backup::new(conn, &mut copy)?;
    // Anything else means that there is more to copy.
    while backup.step(STEP_PAGES)? != StepResult::Done {
        let progress = backup.progress();
        let count = |pages: i32| u64::try_from(pages).unwrap_or_default();
        let (left, total) = (count(progress.remaining), count(progress.pagecount));
        onlooker.tell(Stage::Copying { pages: total.saturating_sub(left), total });
    }
    drop(backup);
    copy.close().map_err(|(_, error)| error)?;
    Ok(())
}

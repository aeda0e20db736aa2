//! Opening the file. It is inspected before anything is written, and refused if it is not a store.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::error::StoreError;
use crate::model::progress::{ProgressListener, ProgressStage};
use crate::sqlite::fault::{BUSY_MS_MAX, SqliteFault, io_error, sqlite_error};
use crate::sqlite::file::lock::{StoreLock, parent_dir, sibling};
use crate::sqlite::file::migrate::{self, APPLICATION_ID};

/// SQLite's file header.
const HEADER_BYTES: usize = 100;
const MAGIC: &[u8] = b"SQLite format 3\0";

/// Between retries of a lock another process holds. SQLite's own busy handler waits up to 100 ms, which starves a
/// process that competes with a busy one.
const BUSY_PAUSE: Duration = Duration::from_millis(1);

/// The first retries are closer together: most transactions are over by then.
const BUSY_PAUSE_AT_FIRST: Duration = Duration::from_micros(100);
const BUSY_TRIES_AT_FIRST: i32 = 20;

/// Prepared statements cached per connection; more than there are.
const STATEMENTS_MAX: usize = 128;

/// Pages the write-ahead log may reach before the writer itself checkpoints (16 MiB). The poller usually does so
/// earlier.
const LOG_PAGES_MAX: u32 = 4_000;

/// Finds or creates the store at `path` and leaves it ready for connections.
pub(crate) fn prepare(path: &Path, progress: &ProgressListener) -> Result<StoreLock, StoreError> {
    refuse_read_only(path)?;
    let lock = StoreLock::acquire(path)?;
    match fs::exists(path) {
        Ok(true) => {}
        Ok(false) if lock.is_first => create(path)?,
        Ok(false) => {
            let detail = "the file was deleted while another program has it open".to_owned();
            return Err(StoreError::Damaged { path: path.to_owned(), detail });
        }
        Err(error) => return Err(io_error(&error, path, "looking for the store")),
    }
    check_header(path)?;
    // The last process to close removes the log. If the first to open finds one, nobody closed.
    let was_unclean = lock.is_first && log_len(path) > 0;
    let mut conn = connect(path)?;
    let failed = |fault: SqliteFault| fault.into_error(path, "opening the store");
    let place = path.display().to_string();
    let found = migrate::version(&conn).map_err(|error| failed(error.into()))?;
    if found > migrate::known() {
        return Err(StoreError::Newer { place, found, known: migrate::known() });
    }
    if was_unclean {
        progress.report(ProgressStage::Checking);
        check_pages(&conn, path)?;
    }
    if found < migrate::known() {
        progress.report(ProgressStage::Upgrading { from: found, to: migrate::known() });
    }
    migrate::migrate(&mut conn, &place).map_err(failed)?;
    if lock.is_first {
        lock.share(path)?;
    }
    Ok(lock)
}

/// Opens a connection and applies all settings that are not stored in the file.
pub(crate) fn connect(path: &Path) -> Result<Connection, StoreError> {
    let failed = |error: &_| sqlite_error(error, path, "opening the store");
    // Without CREATE: a file that was deleted meanwhile must not come back empty.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut conn = Connection::open_with_flags(path, flags).map_err(|error| failed(&error))?;
    conn.busy_handler(Some(wait_for_lock)).map_err(|error| failed(&error))?;
    conn.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
    // Plans that do not depend on parameter values; otherwise some statements are replanned for every value.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(|error| failed(&error))?;
    let settings = format!(
        "PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY; PRAGMA wal_autocheckpoint = {LOG_PAGES_MAX};"
    );
    conn.execute_batch(&settings).map_err(|error| failed(&error))?;
    Ok(conn)
}

fn wait_for_lock(tries: i32) -> bool {
    thread::sleep(if tries < BUSY_TRIES_AT_FIRST { BUSY_PAUSE_AT_FIRST } else { BUSY_PAUSE });
    u64::try_from(tries).is_ok_and(|tries| tries < BUSY_MS_MAX)
}

/// Creates the file under a temporary name, so that a crash leaves nothing that looks like an empty store.
fn create(path: &Path) -> Result<(), StoreError> {
    let making = sibling(path, ".making");
    for leftover in [making.clone(), sibling(&making, "-wal"), sibling(&making, "-shm")] {
        // Usually there is none.
        let _ = fs::remove_file(leftover);
    }
    let failed = |fault: SqliteFault| fault.into_error(path, "creating the store");
    let mut conn = Connection::open(&making).map_err(|error| failed(error.into()))?;
    conn.pragma_update(None, "journal_mode", "wal").map_err(|error| failed(error.into()))?;
    migrate::migrate(&mut conn, &path.display().to_string()).map_err(failed)?;
    conn.close().map_err(|(_, error)| failed(error.into()))?;
    rename_durably(&making, path)
}

/// Durably renames a finished file.
pub(crate) fn rename_durably(from: &Path, to: &Path) -> Result<(), StoreError> {
    let failed = |error: &_| io_error(error, to, "writing the store");
    File::open(from).and_then(|file| file.sync_all()).map_err(|error| failed(&error))?;
    fs::rename(from, to).map_err(|error| failed(&error))?;
    let folder = parent_dir(to).map_or_else(|| PathBuf::from("."), Path::to_owned);
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(|error| failed(&error))
}

/// Checks every page of a copy, and that this program can open it. `named` is the path to use in errors.
pub(crate) fn check_whole(copy: &Path, named: &Path) -> Result<(), StoreError> {
    let checked = check_header(copy).and_then(|()| {
        let conn = connect(copy)?;
        let found = migrate::version(&conn)
            .map_err(|error| SqliteFault::from(error).into_error(copy, "reading the copy"))?;
        if found > migrate::known() {
            let place = named.display().to_string();
            return Err(StoreError::Newer { place, found, known: migrate::known() });
        }
        check_pages(&conn, copy)
    });
    checked.map_err(|error| error.with_path(named))
}

fn refuse_read_only(path: &Path) -> Result<(), StoreError> {
    for place in [parent_dir(path), Some(path)].into_iter().flatten() {
        if fs::metadata(place).is_ok_and(|found| found.permissions().readonly()) {
            let detail = format!("{} is read-only", place.display());
            return Err(StoreError::ReadOnly { path: path.to_owned(), detail });
        }
    }
    Ok(())
}

fn check_header(path: &Path) -> Result<(), StoreError> {
    let failed = |error: &_| io_error(error, path, "reading the store");
    let damaged = |detail: String| StoreError::Damaged { path: path.to_owned(), detail };
    let file = File::open(path).map_err(|error| failed(&error))?;
    let len = file.metadata().map_err(|error| failed(&error))?.len();
    if len == 0 {
        return Err(damaged("it is empty".to_owned()));
    }
    let mut header = Vec::with_capacity(HEADER_BYTES);
    file.take(HEADER_BYTES as u64).read_to_end(&mut header).map_err(|error| failed(&error))?;
    if header.get(..MAGIC.len()) != Some(MAGIC) {
        let detail = "it is not a SQLite file".to_owned();
        return Err(StoreError::NotAStore { path: path.to_owned(), detail });
    }
    let number = |at: usize| {
        let bytes = header.get(at..at + 4).and_then(|bytes| <[u8; 4]>::try_from(bytes).ok());
        bytes.map(u32::from_be_bytes).ok_or_else(|| damaged("its header is truncated".to_owned()))
    };
    if number(68)? != APPLICATION_ID {
        let detail = "it is a SQLite file of another program".to_owned();
        return Err(StoreError::NotAStore { path: path.to_owned(), detail });
    }
    // The size in the header is valid only without a write-ahead log.
    let page_bytes = u64::from(number(16)? >> 16);
    let wanted = u64::from(number(28)?) * if page_bytes == 1 { 65_536 } else { page_bytes };
    if log_len(path) == 0 && len < wanted {
        return Err(damaged(format!("it has {len} of {wanted} bytes")));
    }
    Ok(())
}

fn log_len(path: &Path) -> u64 {
    fs::metadata(sibling(path, "-wal")).map_or(0, |log| log.len())
}

/// Checks every page and index.
fn check_pages(conn: &Connection, path: &Path) -> Result<(), StoreError> {
    let found: String = conn
        .query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))
        .map_err(|error| sqlite_error(&error, path, "checking the store"))?;
    if found == "ok" { Ok(()) } else { Err(StoreError::Damaged { path: path.to_owned(), detail: found }) }
}

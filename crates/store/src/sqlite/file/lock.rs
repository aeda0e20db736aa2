//! A shared lock every process holds on a file beside the store while it has the store open.
//!
//! It answers one question SQLite does not: whether another process has the store open. The first process to open a
//! store that still has a write-ahead log knows that the last one did not shut down cleanly. It protects no rows;
//! SQLite's own locks do.

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};

use crate::error::StoreError;
use crate::sqlite::fault::io_error;

/// Released when dropped.
pub(crate) struct StoreLock {
    file: File,
    /// No other process had the store open.
    pub(crate) is_first: bool,
}

impl StoreLock {
    /// Waits while the first process is still checking the file.
    pub(crate) fn acquire(path: &Path) -> Result<Self, StoreError> {
        if let Some(folder) = parent_dir(path) {
            fs::create_dir_all(folder)
                .map_err(|error| io_error(&error, folder, "creating the store's directory"))?;
        }
        let sibling = sibling(path, "-lock");
        let failed = |error: &_| io_error(error, path, "locking the store");
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&sibling)
            .map_err(|error| failed(&error))?;
        let is_first = file.try_lock().is_ok();
        if !is_first {
            file.lock_shared().map_err(|error| failed(&error))?;
        }
        Ok(Self { file, is_first })
    }

    /// Lets other processes in, once the first one has checked the file.
    pub(crate) fn share(&self, path: &Path) -> Result<(), StoreError> {
        self.file.lock_shared().map_err(|error| io_error(&error, path, "locking the store"))
    }
}

pub(crate) fn parent_dir(path: &Path) -> Option<&Path> {
    path.parent().filter(|folder| !folder.as_os_str().is_empty())
}

/// The same path with a suffix.
pub(crate) fn sibling(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

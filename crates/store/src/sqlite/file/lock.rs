//! The hold every program has on a store it has open: a shared lock on a file beside it.
//!
//! It says one thing SQLite does not: whether anybody else is there. Who comes first and finds a log that was
//! not put away knows that the last one stopped uncleanly. It guards no row; SQLite's own locks do that.

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};

use crate::error::StoreError;
use crate::sqlite::fault::io_error;

/// Lets go when dropped.
pub(crate) struct StoreLock {
    file: File,
    /// Nobody else had the store open when we came.
    pub(crate) is_first: bool,
}

impl StoreLock {
    /// Waits while another program is the first one and still looking the file over.
    pub(crate) fn acquire(path: &Path) -> Result<Self, StoreError> {
        if let Some(folder) = parent_dir(path) {
            fs::create_dir_all(folder)
                .map_err(|error| io_error(&error, folder, "making the store's folder"))?;
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

    /// The first one has looked the file over; others may come in.
    pub(crate) fn share(&self, path: &Path) -> Result<(), StoreError> {
        self.file.lock_shared().map_err(|error| io_error(&error, path, "locking the store"))
    }
}

pub(crate) fn parent_dir(path: &Path) -> Option<&Path> {
    path.parent().filter(|folder| !folder.as_os_str().is_empty())
}

/// The file that has the same name and something more.
pub(crate) fn sibling(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

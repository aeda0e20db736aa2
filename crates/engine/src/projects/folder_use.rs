//! Marks the folder of an attempt as in use by a hook, for every Baton on this machine.
//!
//! The hook after an attempt runs when the attempt is settled, so neither its lease nor its state says that something still
//! works in the folder. The mark is a lock on a file, which the system lets go of however its holder ends.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use baton_core::base::id::AttemptId;
use tokio::time::{Instant, sleep};

use crate::base::error::{EngineError, FolderError};
use crate::projects::Projects;

const FILE: &str = "hook.lock";
/// Nobody is told when another process lets go of a lock.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Dropped, the folder is free.
#[derive(Debug)]
pub(crate) struct FolderUse {
    _lock: File,
}

impl Projects {
    /// Marks the folder of this attempt as in use.
    pub(crate) fn use_folder(&self, attempt: AttemptId) -> Result<FolderUse, EngineError> {
        let path = self.use_file(attempt);
        let failed = |error: io::Error| FolderError { path: path.clone(), detail: error.to_string() };
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        let lock = File::options().create(true).append(true).open(&path).map_err(failed)?;
        lock.lock_shared().map_err(failed)?;
        Ok(FolderUse { _lock: lock })
    }

    /// Whether a hook of this attempt may still work in its folder.
    pub(crate) fn is_folder_used(&self, attempt: AttemptId) -> Result<bool, EngineError> {
        let path = self.use_file(attempt);
        let failed = |error: io::Error| FolderError { path: path.clone(), detail: error.to_string() };
        match File::options().append(true).open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(failed(error).into()),
            Ok(file) => match file.try_lock() {
                Ok(()) => Ok(false),
                Err(TryLockError::WouldBlock) => Ok(true),
                Err(TryLockError::Error(error)) => Err(failed(error).into()),
            },
        }
    }

    /// Waits until no hook of this attempt works in its folder, but not longer than a hook may take.
    pub(crate) async fn wait_for_folder(&self, attempt: AttemptId) -> Result<(), EngineError> {
        let until = Instant::now() + self.settings.hooks.timeout();
        while self.is_folder_used(attempt)? && Instant::now() < until {
            sleep(LOOK_EVERY).await;
        }
        Ok(())
    }

    fn use_file(&self, attempt: AttemptId) -> PathBuf {
        self.place.attempt_folder(attempt).join(FILE)
    }
}

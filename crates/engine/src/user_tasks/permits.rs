//! How many checks and heavy user tasks run at once on this machine, over every Baton on it.
//!
//! A permit is a lock on a file, which the system lets go of however its holder ends.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::sleep;

use crate::user_tasks::UserTaskError;

/// Nobody is told when another process lets go of a lock.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// The permits of this machine, and which user tasks need one.
#[derive(Debug, Clone, Default)]
pub struct HeavyPermits {
    /// None where nothing is limited.
    slots: Option<(PathBuf, u32)>,
    heavy: Vec<String>,
}

/// Set for whatever runs with a permit, so that a heavy task which it starts by Baton does not wait for a second one.
const HELD: &str = "BATON_PERMIT_HELD";

/// Dropped, it is free for others.
#[derive(Debug)]
pub struct HeavyPermit {
    lock: Option<File>,
}

impl HeavyPermit {
    /// For what runs without one.
    pub const fn none() -> Self {
        Self { lock: None }
    }

    /// The variables of commands that run with it.
    pub(crate) fn marks(&self) -> Vec<(String, String)> {
        self.lock.iter().map(|_| (HELD.to_owned(), "1".to_owned())).collect()
    }
}

impl HeavyPermits {
    /// `folder` is the same for every Baton that shares them.
    pub fn new(folder: &Path, at_once: Option<u32>, heavy: Vec<String>) -> Self {
        Self { slots: at_once.map(|at_once| (folder.join("permits"), at_once.max(1))), heavy }
    }

    /// For a user task; at once if it is not heavy, or if what calls this runs with a permit.
    pub(crate) async fn take_for(&self, name: &str) -> Result<HeavyPermit, UserTaskError> {
        let is_heavy = self.heavy.iter().any(|heavy| heavy == name);
        if is_heavy && std::env::var_os(HELD).is_none() {
            return self.take().await;
        }
        Ok(HeavyPermit::none())
    }

    /// Waits until one is free.
    pub(crate) async fn take(&self) -> Result<HeavyPermit, UserTaskError> {
        let Some((folder, at_once)) = &self.slots else { return Ok(HeavyPermit::none()) };
        loop {
            if let Some(lock) = try_all(folder, *at_once)? {
                return Ok(HeavyPermit { lock: Some(lock) });
            }
            sleep(LOOK_EVERY).await;
        }
    }
}

fn try_all(folder: &Path, at_once: u32) -> Result<Option<File>, UserTaskError> {
    let failed = |error: std::io::Error| UserTaskError::Folder {
        path: folder.display().to_string(),
        detail: error.to_string(),
    };
    fs::create_dir_all(folder).map_err(failed)?;
    for number in 0..at_once {
        let path = folder.join(number.to_string());
        let file = File::options().create(true).append(true).open(path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => return Ok(Some(file)),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn as_many_as_allowed_hold_a_permit_and_the_next_waits_for_one_of_them() {
        let home = tempfile::tempdir().unwrap();
        let permits = HeavyPermits::new(home.path(), Some(2), vec!["build".to_owned()]);
        let (one, _other) = (permits.take().await.unwrap(), permits.take_for("build").await.unwrap());
        assert!(try_all(&home.path().join("permits"), 2).unwrap().is_none(), "both are taken");
        // What is not heavy does not wait.
        permits.take_for("lint").await.unwrap();
        drop(one);
        permits.take().await.unwrap();
        HeavyPermits::default().take().await.unwrap();
    }
}

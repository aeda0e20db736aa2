//! One writer per repository, across tasks and processes.
//!
//! Git's own lock files make the second writer fail; this one makes it wait. The system lets go of it when
//! its holder dies, so a file left behind locks nothing.

use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use crate::git::error::GitError;

/// Longer than any one change of a repository takes; who waits this long waits for something stuck.
const WAIT_MAX: Duration = Duration::from_mins(5);

pub(crate) struct RepositoryLock {
    /// Held, not used: closing it is letting go.
    _file: File,
}

impl RepositoryLock {
    pub(crate) async fn take(state_dir: &Path, repository: &Path) -> Result<Self, GitError> {
        let folder = state_dir.join("locks");
        let path = folder.join(format!("repository-{:016x}.lock", fingerprint(repository)));
        let failed = |source| GitError::File { tried: "lock", path: path.clone(), source };
        fs::create_dir_all(&folder).map_err(failed)?;
        let file = File::options().create(true).append(true).open(&path).map_err(failed)?;
        // Waited for on a thread of its own. Should we stop waiting, the lock it may still get is let go
        // with the file.
        let waiting = tokio::task::spawn_blocking(move || file.lock().map(|()| file));
        match tokio::time::timeout(WAIT_MAX, waiting).await {
            Ok(Ok(Ok(file))) => Ok(Self { _file: file }),
            Ok(Ok(Err(source))) => Err(failed(source)),
            Ok(Err(join)) => Err(failed(join.into())),
            Err(_) => Err(GitError::Busy { path, after: WAIT_MAX }),
        }
    }
}

/// FNV-1a: the same in every build of Baton, so that two of them meet at the same file.
pub(crate) fn fingerprint(path: &Path) -> u64 {
    path.as_os_str()
        .as_bytes()
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

//! A gate at which a script waits until the test opens it.

use std::fs::File;
use std::path::PathBuf;

/// A locked file: `flock` in the script returns as soon as the test gives up the lock. A test that fails drops its gate,
/// which opens it.
pub(crate) struct Gate {
    path: PathBuf,
    file: File,
}

impl Gate {
    pub(crate) fn closed(path: PathBuf) -> Self {
        let file = File::create(&path).unwrap();
        file.lock().unwrap();
        Self { path, file }
    }

    /// The shell command that waits for it.
    pub(crate) fn wait(&self) -> String {
        format!("flock --shared '{}' true", self.path.display())
    }

    pub(crate) fn open(self) {
        self.file.unlock().unwrap();
    }
}

//! A gate at which a script waits until the test opens it.

use std::fs::File;
use std::path::PathBuf;

/// A locked file: `flock` in the script returns as soon as the test gives up the lock. A test that fails drops its gate,
/// which opens it.
pub struct Gate {
    path: PathBuf,
    file: File,
}

impl Gate {
    pub fn closed(path: PathBuf) -> Self {
        let file = File::create(&path).unwrap();
        file.lock().unwrap();
        Self { path, file }
    }

    /// The shell command that waits for it.
    pub fn wait(&self) -> String {
        format!("flock --shared '{}' true", self.path.display())
    }

    pub fn open(self) {
        self.file.unlock().unwrap();
    }
}

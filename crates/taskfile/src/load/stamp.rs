//! What a file looked like when it was read, to know whether it has changed.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A file's path, size and time of change; a file that is not there has neither.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileStamp {
    pub path: PathBuf,
    seen: Option<(u64, SystemTime)>,
}

impl FileStamp {
    pub fn read(path: &Path) -> FileStamp {
        let seen = path.metadata().ok().and_then(|m| Some((m.len(), m.modified().ok()?)));
        FileStamp { path: path.to_owned(), seen }
    }

    /// Whether the file still looks the same.
    pub fn is_current(&self) -> bool {
        FileStamp::read(&self.path) == *self
    }
}

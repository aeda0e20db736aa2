//! Detects whether a file changed since it was read.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A file's path, size and modification time; a missing file has neither of the latter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileStamp {
    pub path: PathBuf,
    seen: Option<(u64, SystemTime)>,
}

impl FileStamp {
    pub(crate) fn read(path: &Path) -> FileStamp {
        let seen = path.metadata().ok().and_then(|m| Some((m.len(), m.modified().ok()?)));
        FileStamp { path: path.to_owned(), seen }
    }

    /// Whether the file is unchanged.
    pub(crate) fn is_current(&self) -> bool {
        FileStamp::read(&self.path) == *self
    }
}

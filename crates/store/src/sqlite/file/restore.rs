//! Restoring a backup. The previous store is kept beside it, and nothing is changed before the backup has been
//! checked.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::StoreError;
use crate::model::progress::{ProgressListener, ProgressStage};
use crate::sqlite::fault::io_error;
use crate::sqlite::file::lock::{StoreLock, sibling};
use crate::sqlite::file::open;

/// Puts `copy` at `path` and returns where the previous store went. Fails while any process has the store open.
pub fn restore(copy: &Path, path: &Path, progress: &ProgressListener) -> Result<Option<PathBuf>, StoreError> {
    let lock = StoreLock::acquire(path)?;
    if !lock.is_first {
        return Err(StoreError::InUse { path: path.to_owned() });
    }
    let making = sibling(path, ".making");
    // Left over from an interrupted restore.
    let _ = fs::remove_file(&making);
    // The system copies faster than we could, but reports no progress.
    progress.report(ProgressStage::Copying { pages: 0, total: 0 });
    fs::copy(copy, &making).map_err(|error| io_error(&error, copy, "reading the copy"))?;
    progress.report(ProgressStage::Checking);
    let looked_over = open::check_whole(&making, copy);
    for leftover in ["-wal", "-shm"] {
        // Checking may have created them; the copy itself has neither.
        let _ = fs::remove_file(sibling(&making, leftover));
    }
    if let Err(error) = looked_over {
        let _ = fs::remove_file(&making);
        return Err(error);
    }
    let before = path.exists().then(|| free_name(path));
    if let Some(before) = &before {
        for part in ["", "-wal", "-shm"] {
            let (old, kept) = (sibling(path, part), sibling(before, part));
            if old.exists() {
                fs::rename(&old, &kept).map_err(|error| io_error(&error, &old, "keeping the old store"))?;
            }
        }
    }
    open::rename_durably(&making, path)?;
    Ok(before)
}

/// The first free name among `….before`, `….before-2` and so on.
fn free_name(path: &Path) -> PathBuf {
    let first = sibling(path, ".before");
    let later = (2u32..).map(|number| sibling(path, &format!(".before-{number}")));
    std::iter::once(first.clone()).chain(later).find(|name| !name.exists()).unwrap_or(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Backend;
    use crate::sqlite::{SqliteOptions, SqliteStore};

    fn put_back(copy: &Path, path: &Path) -> Result<Option<PathBuf>, StoreError> {
        restore(copy, path, &ProgressListener::default())
    }

    #[tokio::test]
    async fn restoring_keeps_the_previous_store() {
        let folder = tempfile::tempdir().unwrap();
        let (path, copy) = (folder.path().join("a.db"), folder.path().join("copy.db"));
        let store = SqliteStore::open(&path, SqliteOptions::default()).unwrap();
        store.backup(&copy).await.unwrap();
        let refused = put_back(&copy, &path).unwrap_err();
        assert!(matches!(refused, StoreError::InUse { .. }), "{refused}");
        store.close().await.unwrap();
        drop(store);
        assert_eq!(put_back(&copy, &path).unwrap(), Some(folder.path().join("a.db.before")));
        assert_eq!(put_back(&copy, &path).unwrap(), Some(folder.path().join("a.db.before-2")));
        let store = SqliteStore::open(&path, SqliteOptions::default()).unwrap();
        assert_eq!(store.events_after(0, 1).await.unwrap(), []);
    }

    #[test]
    fn restoring_a_file_that_is_not_a_store_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let (path, copy) = (folder.path().join("a.db"), folder.path().join("copy.db"));
        fs::write(&path, "precious").unwrap();
        fs::write(&copy, "a text that is no database at all").unwrap();
        let refused = put_back(&copy, &path).unwrap_err();
        assert!(refused.to_string().contains("copy.db"), "{refused}");
        assert!(put_back(&folder.path().join("none.db"), &path).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
    }
}

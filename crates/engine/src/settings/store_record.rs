//! Remembers beside the repository's own data that a store was made.
//!
//! `git clean -fdx` removes the state folder. An empty store in its place would look as if all work were done (I5).

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use baton_store::StoreError;
use sha2::{Digest, Sha256};

use crate::base::error::{EngineError, FolderError};

/// A file in `.git` for each store of the repository.
pub(super) struct StoreRecord {
    file: PathBuf,
    store: PathBuf,
}

impl StoreRecord {
    /// None outside a repository.
    pub(super) fn of(root: &Path, store: &Path) -> Option<Self> {
        let digest = Sha256::digest(store.as_os_str().as_encoded_bytes());
        let name = digest.iter().take(8).fold(String::new(), |mut hex, byte| {
            // Writing to a String cannot fail.
            let _ = write!(hex, "{byte:02x}");
            hex
        });
        let file = git_dir(root)?.join("baton").join("stores").join(name);
        Some(Self { file, store: store.to_owned() })
    }

    /// Fails if the store was made before and is not there any more.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        if self.store.exists() || !self.file.exists() {
            return Ok(());
        }
        Err(StoreError::Missing { path: self.store.clone(), record: self.file.clone() })
    }

    /// Remembers that the store exists.
    pub(super) fn write(&self) -> Result<(), EngineError> {
        if self.file.exists() {
            return Ok(());
        }
        let failed = |error: std::io::Error| FolderError::new(&self.file, &error);
        if let Some(folder) = self.file.parent() {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        fs::write(&self.file, format!("{}\n", self.store.display())).map_err(failed)?;
        Ok(())
    }
}

/// The folder with the repository's data; a `.git` file leads to it.
fn git_dir(root: &Path) -> Option<PathBuf> {
    let git = root.join(".git");
    if git.is_dir() {
        return Some(git);
    }
    let text = fs::read_to_string(&git).ok()?;
    let leads_to = root.join(text.trim().strip_prefix("gitdir:")?.trim());
    leads_to.is_dir().then_some(leads_to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_that_was_made_is_missed() {
        let folder = tempfile::tempdir().unwrap();
        let (root, store) = (folder.path(), folder.path().join("a.db"));
        assert!(StoreRecord::of(root, &store).is_none(), "no repository");
        fs::create_dir(root.join(".git")).unwrap();
        let record = StoreRecord::of(root, &store).unwrap();
        record.check().unwrap();
        fs::write(&store, "").unwrap();
        record.write().unwrap();
        record.check().unwrap();
        fs::remove_file(&store).unwrap();
        assert!(matches!(record.check(), Err(StoreError::Missing { .. })));
        let other = StoreRecord::of(root, &folder.path().join("b.db")).unwrap();
        other.check().unwrap();
    }

    #[test]
    fn a_git_file_leads_to_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let tree = folder.path().join("tree");
        fs::create_dir_all(folder.path().join("main/.git/worktrees/tree")).unwrap();
        fs::create_dir(&tree).unwrap();
        fs::write(tree.join(".git"), "gitdir: ../main/.git/worktrees/tree\n").unwrap();
        assert_eq!(git_dir(&tree), Some(tree.join("../main/.git/worktrees/tree")));
    }
}

//! The settings files as they were when Baton started. It goes on by these until it is started again, and says so.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::settings::layers::{read_settings_file, user_file};
use crate::settings::location::settings_path;

/// Cheap to clone.
#[derive(Debug, Clone)]
pub struct SettingsFiles(Arc<[(PathBuf, Option<Vec<u8>>)]>);

impl SettingsFiles {
    /// As they are now: the file of the repository, and the user's own.
    pub fn look(root: &Path) -> Self {
        let paths = [Some(settings_path(root)), user_file()].into_iter().flatten();
        Self(paths.map(|path| (path.clone(), digest(&path))).collect())
    }

    /// Those that differ from what Baton works by.
    pub fn changed(&self) -> Vec<&Path> {
        let differs = |(path, before): &&(PathBuf, Option<Vec<u8>>)| digest(path) != *before;
        self.0.iter().filter(differs).map(|(path, _)| path.as_path()).collect()
    }
}

/// None where there is no file, or none that can be read.
fn digest(path: &Path) -> Option<Vec<u8>> {
    read_settings_file(path).ok().map(|text| Sha256::digest(text).to_vec())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_that_was_changed_added_or_removed_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = settings_path(folder.path());
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let absent = SettingsFiles::look(folder.path());
        assert_eq!(absent.changed(), Vec::<&Path>::new());
        fs::write(&path, "max_agents = 1").unwrap();
        assert_eq!(absent.changed(), [path.as_path()]);
        let known = SettingsFiles::look(folder.path());
        fs::write(&path, "max_agents = 2").unwrap();
        assert_eq!(known.changed(), [path.as_path()]);
        fs::write(&path, "max_agents = 1").unwrap();
        assert_eq!(known.changed(), Vec::<&Path>::new());
        fs::remove_file(&path).unwrap();
        assert_eq!(known.changed(), [path.as_path()]);
    }
}

//! What a person has said may run: the digest of a Taskfile with everything it includes.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use baton_taskfile::Taskfile;
use sha2::{Digest, Sha256};

use crate::user_tasks::UserTaskError;

/// Digests by the path of the Taskfile, in one file of the state folder.
pub struct Trusted {
    path: PathBuf,
}

impl Trusted {
    pub fn in_folder(folder: &Path) -> Self {
        Self { path: folder.join("trusted.json") }
    }

    /// Whether exactly this was trusted. A file that changed while it was looked at is not what was read.
    pub fn holds(&self, taskfile: &Taskfile) -> Result<bool, UserTaskError> {
        let known = self.read()?;
        let digest = Self::digest(taskfile)?;
        let is_known = known.get(&key(taskfile)).is_some_and(|trusted| *trusted == digest);
        Ok(is_known && taskfile.is_current())
    }

    pub fn add(&self, taskfile: &Taskfile) -> Result<(), UserTaskError> {
        let mut known = self.read()?;
        known.insert(key(taskfile), Self::digest(taskfile)?);
        let text = serde_json::to_string_pretty(&known).map_err(|error| self.unusable(&error.to_string()))?;
        let folder = self.path.parent().unwrap_or(&self.path);
        let draft = self.path.with_extension("new");
        fs::create_dir_all(folder)
            .and_then(|()| fs::write(&draft, text))
            .and_then(|()| fs::rename(&draft, &self.path))
            .map_err(|error| self.unusable(&error.to_string()))
    }

    /// Of every file's path and contents, each with its length before it, so that nothing can move between them.
    pub fn digest(taskfile: &Taskfile) -> Result<String, UserTaskError> {
        let mut sum = Sha256::new();
        for path in taskfile.files() {
            let contents = fs::read(path).map_err(|error| UserTaskError::Folder {
                path: path.display().to_string(),
                detail: error.to_string(),
            })?;
            for part in [path.as_os_str().as_encoded_bytes(), &contents] {
                sum.update((part.len() as u64).to_be_bytes());
                sum.update(part);
            }
        }
        let mut text = String::new();
        for byte in sum.finalize() {
            let _ = write!(text, "{byte:02x}");
        }
        Ok(text)
    }

    fn read(&self) -> Result<BTreeMap<String, String>, UserTaskError> {
        match fs::read_to_string(&self.path) {
            Ok(text) => serde_json::from_str(&text).map_err(|error| self.unusable(&error.to_string())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(BTreeMap::new()),
            Err(error) => Err(self.unusable(&error.to_string())),
        }
    }

    fn unusable(&self, detail: &str) -> UserTaskError {
        UserTaskError::Folder { path: self.path.display().to_string(), detail: detail.to_owned() }
    }
}

fn key(taskfile: &Taskfile) -> String {
    taskfile.path().display().to_string()
}

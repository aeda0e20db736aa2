//! What a person has said may run: the digest of a Taskfile with everything it includes.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use baton_taskfile::Taskfile;
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::user_tasks::{Site, UserTaskError};

/// Versions of one Taskfile that stay trusted: that of the checkout, and those that branches still have.
const VERSIONS_MAX: usize = 8;

/// Digests by the path of the Taskfile, in one file of the state folder.
pub(super) struct Trusted {
    path: PathBuf,
}

/// As it is stored: one digest alone, or several, newest last.
#[derive(Deserialize)]
#[serde(untagged)]
enum Digests {
    One(String),
    Several(Vec<String>),
}

impl Digests {
    fn into_list(self) -> Vec<String> {
        match self {
            Self::One(digest) => vec![digest],
            Self::Several(digests) => digests,
        }
    }
}

impl Trusted {
    pub(super) fn in_folder(folder: &Path) -> Self {
        Self { path: folder.join("trusted.json") }
    }

    /// Whether exactly this was trusted. A file that changed while it was looked at is not what was read.
    pub(super) fn holds(&self, site: &Site, taskfile: &Taskfile) -> Result<bool, UserTaskError> {
        let known = self.read()?;
        let digest = Self::digest(site, taskfile)?;
        let is_known = known.get(&key(site, taskfile)).is_some_and(|trusted| trusted.contains(&digest));
        Ok(is_known && taskfile.is_current())
    }

    pub(super) fn add(&self, site: &Site, taskfile: &Taskfile) -> Result<(), UserTaskError> {
        let mut known = self.read()?;
        let (versions, digest) =
            (known.entry(key(site, taskfile)).or_default(), Self::digest(site, taskfile)?);
        versions.retain(|version| *version != digest);
        versions.push(digest);
        versions.drain(..versions.len().saturating_sub(VERSIONS_MAX));
        let text = serde_json::to_string_pretty(&known).map_err(|error| self.unusable(&error.to_string()))?;
        let folder = self.path.parent().unwrap_or(&self.path);
        let draft = self.path.with_extension("new");
        fs::create_dir_all(folder)
            .and_then(|()| fs::write(&draft, text))
            .and_then(|()| fs::rename(&draft, &self.path))
            .map_err(|error| self.unusable(&error.to_string()))
    }

    /// Of every file's path and contents, each with its length before it, so that nothing can move between them.
    pub(super) fn digest(site: &Site, taskfile: &Taskfile) -> Result<String, UserTaskError> {
        digest_by(taskfile, |path| site.place_of(path))
    }

    /// The same wherever the folder of the definitions is.
    pub(super) fn portable_digest(site: &Site, taskfile: &Taskfile) -> Result<String, UserTaskError> {
        digest_by(taskfile, |path| path.strip_prefix(&site.root).unwrap_or(path).to_owned())
    }

    fn read(&self) -> Result<BTreeMap<String, Vec<String>>, UserTaskError> {
        let text = match fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
            Err(error) => return Err(self.unusable(&error.to_string())),
        };
        let known: BTreeMap<String, Digests> =
            serde_json::from_str(&text).map_err(|error| self.unusable(&error.to_string()))?;
        Ok(known.into_iter().map(|(path, digests)| (path, digests.into_list())).collect())
    }

    fn unusable(&self, detail: &str) -> UserTaskError {
        UserTaskError::Folder { path: self.path.display().to_string(), detail: detail.to_owned() }
    }
}

fn digest_by(taskfile: &Taskfile, name: impl Fn(&Path) -> PathBuf) -> Result<String, UserTaskError> {
    let mut sum = Sha256::new();
    for path in taskfile.files() {
        // What may be included is looked for even where it is not.
        let contents = if path.is_file() { fs::read(path) } else { Ok(Vec::new()) };
        let contents = contents.map_err(|error| UserTaskError::Folder {
            path: path.display().to_string(),
            detail: error.to_string(),
        })?;
        for part in [name(path).as_os_str().as_encoded_bytes(), &contents] {
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

fn key(site: &Site, taskfile: &Taskfile) -> String {
    site.place_of(taskfile.path()).display().to_string()
}

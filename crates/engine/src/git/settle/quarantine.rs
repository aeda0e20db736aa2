//! The objects of a clone, set apart: regular files only, without the clone's own alternates, within limits.
//!
//! Git reads objects from here while it decides what is new. Nothing is trusted before it was unpacked and checked.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::git::clone::files::is_real_dir;
use crate::git::error::GitError;

/// All objects of a clone together. A clone borrows the person's, so this is what one attempt added.
pub(crate) const OBJECT_BYTES_MAX: u64 = 8 << 30;
pub(crate) const OBJECT_FILES_MAX: u64 = 500_000;

pub(crate) struct Quarantine {
    scratch: TempDir,
    pub is_empty: bool,
}

/// Why objects were not taken.
#[derive(Debug)]
pub(crate) enum QuarantineError {
    TooLarge,
    Io(io::Error),
}

impl Quarantine {
    /// Links or copies the objects of a clone into a scratch folder.
    pub(crate) fn fill(scratch: TempDir, clone_objects: &Path) -> Result<Self, QuarantineError> {
        let mut quarantine = Self { scratch, is_empty: true };
        let (mut bytes, mut files) = (0_u64, 0_u64);
        for folder in object_folders(clone_objects).map_err(QuarantineError::Io)? {
            for entry in fs::read_dir(&folder).map_err(QuarantineError::Io)?.flatten() {
                let Ok(found) = entry.metadata() else { continue };
                if !found.is_file() {
                    continue;
                }
                bytes = bytes.saturating_add(found.len());
                files += 1;
                if bytes > OBJECT_BYTES_MAX || files > OBJECT_FILES_MAX {
                    return Err(QuarantineError::TooLarge);
                }
                let to = quarantine.objects().join(folder.file_name().unwrap_or_default());
                take(&entry.path(), &to).map_err(QuarantineError::Io)?;
                quarantine.is_empty = false;
            }
        }
        Ok(quarantine)
    }

    pub(crate) fn objects(&self) -> PathBuf {
        self.scratch.path().join("objects")
    }

    /// A file beside the objects.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }
}

impl QuarantineError {
    pub(crate) fn into_git_error(self, path: &Path) -> GitError {
        let source = match self {
            Self::TooLarge => io::Error::other("its objects are too large"),
            Self::Io(error) => error,
        };
        GitError::File { tried: "read the objects of", path: path.to_owned(), source }
    }
}

/// `pack`, and the folders of two hex digits.
fn object_folders(objects: &Path) -> io::Result<Vec<PathBuf>> {
    let is_objects = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let is_fan_out = name.len() == 2 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        (is_fan_out || name == "pack") && is_real_dir(path)
    };
    Ok(fs::read_dir(objects)?.flatten().map(|entry| entry.path()).filter(is_objects).collect())
}

fn take(from: &Path, folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let to = folder.join(from.file_name().unwrap_or_default());
    fs::hard_link(from, &to).or_else(|_| fs::copy(from, &to).map(drop))
}

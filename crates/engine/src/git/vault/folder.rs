//! A folder as it lies on disk: every file, link and folder below it, without asking git.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    File {
        executable: bool,
    },
    /// What a symbolic link says; where it leads is not followed.
    Link {
        target: PathBuf,
    },
    Folder,
    /// A pipe, a socket, a device: it holds no bytes.
    Special,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Below the folder that was listed.
    pub path: PathBuf,
    pub kind: Kind,
    pub bytes: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Listing {
    /// A folder comes before what is in it.
    pub entries: Vec<Entry>,
    pub unreadable: Vec<(PathBuf, String)>,
    /// Changes when anything listed does.
    pub fingerprint: u64,
}

/// Lists a folder, without the paths in `skipped` and whatever is below them.
pub(crate) fn list(root: &Path, skipped: &BTreeSet<PathBuf>) -> io::Result<Listing> {
    let mut listing = Listing::default();
    let mut hasher = DefaultHasher::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let names = match names_in(&root.join(&folder)) {
            Ok(names) => names,
            Err(error) if folder.as_os_str().is_empty() => return Err(error),
            Err(error) => {
                listing.unreadable.push((folder, error.to_string()));
                continue;
            }
        };
        for name in names {
            let path = folder.join(name);
            if skipped.contains(&path) {
                continue;
            }
            match look(root, &path, &mut hasher) {
                Ok(entry) => {
                    if entry.kind == Kind::Folder {
                        folders.push(path);
                    }
                    listing.entries.push(entry);
                }
                Err(error) => listing.unreadable.push((path, error.to_string())),
            }
        }
    }
    listing.fingerprint = hasher.finish();
    Ok(listing)
}

fn names_in(folder: &Path) -> io::Result<Vec<std::ffi::OsString>> {
    let mut names = fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.file_name()))
        .collect::<io::Result<Vec<_>>>()?;
    names.sort();
    Ok(names)
}

fn look(root: &Path, path: &Path, hasher: &mut DefaultHasher) -> io::Result<Entry> {
    let full = root.join(path);
    let found = fs::symlink_metadata(&full)?;
    let kind = if found.is_dir() {
        Kind::Folder
    } else if found.is_symlink() {
        Kind::Link { target: fs::read_link(&full)? }
    } else if found.is_file() {
        // Opened now, so that one that cannot be read is named instead of ending the whole.
        File::open(&full)?;
        Kind::File { executable: found.permissions().mode() & 0o100 != 0 }
    } else {
        Kind::Special
    };
    path.hash(hasher);
    (found.mode(), found.len(), found.ino()).hash(hasher);
    // Reading a folder can touch its times on some file systems; its names are hashed one by one.
    if kind != Kind::Folder {
        (found.mtime(), found.mtime_nsec(), found.ctime(), found.ctime_nsec()).hash(hasher);
    }
    Ok(Entry { path: path.to_owned(), kind, bytes: found.len() })
}

/// Bytes and files below a path, counted until one of the limits is passed.
pub(crate) fn size(path: &Path, bytes_max: u64, files_max: u64) -> (u64, u64) {
    let (mut bytes, mut files) = (0_u64, 0_u64);
    let mut open = vec![path.to_owned()];
    while let Some(path) = open.pop() {
        let Ok(found) = fs::symlink_metadata(&path) else { continue };
        if found.is_dir() {
            // What cannot be listed is reported when the files themselves are read.
            open.extend(fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
        } else {
            bytes = bytes.saturating_add(found.len());
        }
        files += 1;
        if bytes > bytes_max || files > files_max {
            break;
        }
    }
    (bytes, files)
}

/// Bytes below a path, counted until they are more than `bytes_max`.
pub(crate) async fn folder_bytes(path: &Path, bytes_max: u64) -> u64 {
    let path = path.to_owned();
    let count = tokio::task::spawn_blocking(move || size(&path, bytes_max, u64::MAX).0);
    // Nothing can be counted while the runtime shuts down, and nobody asks any more.
    count.await.unwrap_or_default()
}

/// Deletes a folder and everything in it, also where an agent took away the right to.
pub(crate) fn delete(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            open_up(folder);
            fs::remove_dir_all(folder)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

fn open_up(folder: &Path) {
    let mut open = vec![folder.to_owned()];
    while let Some(path) = open.pop() {
        if fs::symlink_metadata(&path).is_ok_and(|found| found.is_dir()) {
            // Best effort: what still cannot be deleted fails in the delete that follows.
            let _ = fs::set_permissions(&path, fs::Permissions::from_mode(0o700));
            open.extend(fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
        }
    }
}

//! Reads and writes files in a folder that an agent could change: no symbolic link is followed, no pipe is opened, and
//! nothing longer than expected is read. The agent's processes have ended by then.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

use tempfile::NamedTempFile;

pub(crate) fn is_real_dir(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

pub(crate) fn is_real_file(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_file())
}

/// The bytes of a regular file. A longer one than `bytes_max` is an error.
pub(crate) fn read(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    if !fs::symlink_metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > bytes_max) {
        return Err(io::Error::other("it is too long"));
    }
    Ok(bytes)
}

/// Replaces a file below `root` in one step. The folders on the way must be real ones; missing ones are made.
pub(crate) fn replace(root: &Path, below: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut folder = root.to_owned();
    let mut parts: Vec<&OsStr> = below.iter().collect();
    let name = parts.pop().unwrap_or_default();
    for part in parts {
        folder.push(part);
        if fs::symlink_metadata(&folder).is_err() {
            fs::create_dir(&folder)?;
        }
        if !is_real_dir(&folder) {
            return Err(io::Error::other("a folder was replaced"));
        }
    }
    let mut new = NamedTempFile::new_in(root)?;
    new.write_all(bytes)?;
    new.persist(folder.join(name)).map(drop).map_err(|error| error.error)
}

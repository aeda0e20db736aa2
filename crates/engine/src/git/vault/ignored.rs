//! Ignored files, and how many of them the vault takes.
//!
//! The law is that every byte is recoverable; but what a build made can be made again, and a vault that
//! swallows `node_modules` for each attempt fills the disk. So: ignored files are kept, smallest first, up to
//! [`IGNORED_BYTES_MAX`]. Beyond that, folders known to be rebuildable are left out, and listed. Anything else
//! that is too large is a fault: it is not kept, and therefore the worktree is not removed.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::git::vault::folder;

/// All ignored files of one vault together.
pub const IGNORED_BYTES_MAX: u64 = 64 << 20;
/// The same by number: each file is an object in the repository.
pub const IGNORED_FILES_MAX: u64 = 20_000;

/// Folders that package managers and compilers fill. One with a `CACHEDIR.TAG` (Cargo's `target`, and many
/// more) counts as well, whatever its name.
const REBUILDABLE: [&str; 28] = [
    ".bundle",
    ".cache",
    ".dart_tool",
    ".eggs",
    ".gradle",
    ".mypy_cache",
    ".next",
    ".nuxt",
    ".parcel-cache",
    ".pytest_cache",
    ".ruff_cache",
    ".stack-work",
    ".svelte-kit",
    ".terraform",
    ".tox",
    ".turbo",
    ".venv",
    "DerivedData",
    "Pods",
    "__pycache__",
    "_build",
    "bower_components",
    "build",
    "dist",
    "dist-newstyle",
    "node_modules",
    "target",
    "venv",
];

/// A rebuildable folder that was not kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    pub path: PathBuf,
    /// Counted up to the limit only.
    pub bytes_at_least: u64,
}

/// What became of the ignored files.
#[derive(Debug, Default)]
pub(crate) struct Sorted {
    pub left_out: Vec<LeftOut>,
    pub too_large: Vec<PathBuf>,
}

impl Sorted {
    pub(crate) fn skipped(&self) -> BTreeSet<PathBuf> {
        self.left_out.iter().map(|left| left.path.clone()).chain(self.too_large.iter().cloned()).collect()
    }
}

/// Decides over the ignored paths git listed, NUL after each, a slash at the end of a folder. What was reused from the person's
/// checkout is there as well, so it can be left out.
pub(crate) fn sort(root: &Path, listed: &[u8], reused: &[PathBuf]) -> Sorted {
    let mut sized: Vec<(u64, u64, PathBuf)> = outermost(listed)
        .into_iter()
        .map(|path| {
            let (bytes, files) = folder::size(&root.join(&path), IGNORED_BYTES_MAX, IGNORED_FILES_MAX);
            (bytes, files, path)
        })
        .collect();
    sized.sort();
    let mut sorted = Sorted::default();
    let (mut bytes_kept, mut files_kept) = (0, 0);
    for (bytes, files, path) in sized {
        if bytes_kept + bytes <= IGNORED_BYTES_MAX && files_kept + files <= IGNORED_FILES_MAX {
            bytes_kept += bytes;
            files_kept += files;
        } else if reused.contains(&path) || is_rebuildable(&root.join(&path)) {
            sorted.left_out.push(LeftOut { path, bytes_at_least: bytes });
        } else {
            sorted.too_large.push(path);
        }
    }
    sorted
}

/// Git lists some folders together with a file inside; the folder alone says it.
fn outermost(listed: &[u8]) -> Vec<PathBuf> {
    let paths: BTreeSet<PathBuf> = listed
        .split(|byte| *byte == 0)
        .filter(|path| !path.is_empty())
        .map(|path| PathBuf::from(OsStr::from_bytes(path.strip_suffix(b"/").unwrap_or(path))))
        .collect();
    let is_inner = |path: &PathBuf| path.ancestors().skip(1).any(|above| paths.contains(above));
    paths.iter().filter(|path| !is_inner(path)).cloned().collect()
}

fn is_rebuildable(folder: &Path) -> bool {
    let name = folder.file_name().and_then(OsStr::to_str);
    let is_known = name.is_some_and(|name| REBUILDABLE.contains(&name));
    folder.is_dir() && (is_known || folder.join("CACHEDIR.TAG").is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_listed_with_its_file_counts_once() {
        let paths = outermost(b"ig/\0un/sub/\0un/sub/x.log\0a.log\0");
        assert_eq!(paths, ["a.log", "ig", "un/sub"].map(PathBuf::from));
    }
}

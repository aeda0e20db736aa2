//! Finding the Taskfile.

use std::path::{Path, PathBuf};

use crate::go::path::join;

use super::error::LoadError;

/// The names a Taskfile may have; the first one found wins.
#[rustfmt::skip]
const NAMES: [&str; 8] = [
    "Taskfile.yml", "taskfile.yml", "Taskfile.yaml", "taskfile.yaml", "Taskfile.dist.yml",
    "taskfile.dist.yml", "Taskfile.dist.yaml", "taskfile.dist.yaml",
];

/// A Taskfile and the directory its tasks run in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FoundTaskfile {
    pub taskfile: PathBuf,
    pub dir: PathBuf,
}

/// Finds the Taskfile for a command line: the given file, else one in the given (or current) directory or above it.
/// Tasks run in the given directory if a file was given too, else beside the file.
pub(crate) fn find_taskfile(
    current: &Path,
    dir: Option<&str>,
    taskfile: Option<&str>,
) -> Result<FoundTaskfile, LoadError> {
    if let Some(given) = taskfile {
        let taskfile = resolve_taskfile(&join(current, given)).ok_or_else(|| LoadError::NotFound {
            uri: given.to_owned(),
            searched_above: false,
            at_root: true,
        })?;
        let dir = match dir {
            Some(dir) => join(current, dir),
            None => parent(&taskfile),
        };
        return Ok(FoundTaskfile { taskfile, dir });
    }
    let start = dir.map_or_else(|| current.to_owned(), |d| join(current, d));
    let taskfile = start
        .ancestors()
        .filter(|_| start.exists())
        .find_map(resolve_taskfile)
        .ok_or_else(|| LoadError::NotFound { uri: String::new(), searched_above: true, at_root: true })?;
    Ok(FoundTaskfile { dir: parent(&taskfile), taskfile })
}

/// The path itself if it is a file, or the Taskfile in it if it is a directory.
pub(super) fn resolve_taskfile(path: &Path) -> Option<PathBuf> {
    let metadata = path.metadata().ok()?;
    if !metadata.is_dir() {
        return Some(path.to_owned());
    }
    NAMES.iter().map(|name| path.join(name)).find(|p| p.is_file())
}

fn parent(path: &Path) -> PathBuf {
    path.parent().unwrap_or(Path::new("/")).to_owned()
}

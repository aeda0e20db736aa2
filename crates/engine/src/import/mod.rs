//! Imports tasks of other tools with their text, state and dependencies.
//!
//! Each tool has a reader that turns its files into [`ExternalTask`]s. One importer writes them in batches, each with a
//! receipt under its original name, so that an import can be repeated without duplicates.

mod backlog;
mod beads;
mod error;
mod explained;
mod github;
mod importer;
mod item;
mod order;
mod task_master;
#[cfg(test)]
mod tests;
mod vibe_kanban;

use std::path::{Path, PathBuf};

pub use error::ImportError;
pub use importer::{Import, Imported};
pub use item::{ExternalTask, ExternalTasks};
pub use order::{DropReason, DroppedEdge};

/// A tool whose tasks can be imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportTool {
    Beads,
    TaskMaster,
    Backlog,
    VibeKanban,
    Github,
}

impl ImportTool {
    pub const ALL: [Self; 5] = [Self::Beads, Self::TaskMaster, Self::Backlog, Self::VibeKanban, Self::Github];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Beads => "beads",
            Self::TaskMaster => "task-master",
            Self::Backlog => "backlog",
            Self::VibeKanban => "vibe-kanban",
            Self::Github => "github",
        }
    }

    /// Reads all tasks at `path`. Writes nothing.
    pub fn read(self, path: &Path) -> Result<ExternalTasks, ImportError> {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let path = path.canonicalize().map_err(|error| ImportError::unreadable(&path, &error))?;
        let mut found = match self {
            Self::Beads => beads::read(&path)?,
            Self::TaskMaster => task_master::read(&path)?,
            Self::Backlog => backlog::read(&path)?,
            Self::VibeKanban => vibe_kanban::read(&path)?,
            Self::Github => github::read(&path)?,
        };
        // Independent of the file, so that a database and its export have the same origin.
        found.origin = format!("{}:{}", self.as_str(), found.origin);
        Ok(found)
    }
}

/// Larger files are refused.
const FILE_BYTES_MAX: u64 = 512 * 1024 * 1024;

fn read_text(path: &Path) -> Result<String, ImportError> {
    let size = std::fs::metadata(path).map_err(|error| ImportError::unreadable(path, &error))?.len();
    if size > FILE_BYTES_MAX {
        return Err(ImportError::TooLarge { path: path.to_owned(), bytes_max: FILE_BYTES_MAX });
    }
    std::fs::read_to_string(path).map_err(|error| ImportError::unreadable(path, &error))
}

/// The first candidate that exists in the folder, or `path` itself if it is a file.
fn find(path: &Path, candidates: &[&str]) -> Result<PathBuf, ImportError> {
    if path.is_file() {
        return Ok(path.to_owned());
    }
    let found = candidates.iter().map(|name| path.join(name)).find(|file| file.is_file());
    found.ok_or_else(|| ImportError::NothingFound {
        path: path.to_owned(),
        wanted: candidates.iter().map(ToString::to_string).collect(),
    })
}

/// The file's folder, which is the origin of the receipts.
fn parent_folder(file: &Path) -> String {
    file.parent().unwrap_or(file).display().to_string()
}

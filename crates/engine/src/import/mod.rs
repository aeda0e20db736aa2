//! Tasks of other tools, taken over with their text, their state and what they wait on.
//!
//! Each tool has a reader that knows its files and nothing of Baton; what it finds is a list of [`Item`]s. One
//! importer writes them, a piece at a time, each with a receipt under the name it had over there: run twice, or
//! broken off and run again, nothing is there twice.

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
pub use item::{Found, Item};
pub use order::{Dropped, Why};

/// Whose tasks they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    Beads,
    TaskMaster,
    Backlog,
    VibeKanban,
    Github,
}

impl Source {
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

    /// Reads everything that is there, and names what could not be understood. Nothing is written anywhere.
    pub fn read(self, path: &Path) -> Result<Found, ImportError> {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let path = path.canonicalize().map_err(|error| ImportError::unreadable(&path, &error))?;
        let mut found = match self {
            Self::Beads => beads::read(&path)?,
            Self::TaskMaster => task_master::read(&path)?,
            Self::Backlog => backlog::read(&path)?,
            Self::VibeKanban => vibe_kanban::read(&path)?,
            Self::Github => github::read(&path)?,
        };
        // The same tasks are the same tasks whether they are read from the database or from its export beside it.
        found.origin = format!("{}:{}", self.as_str(), found.origin);
        Ok(found)
    }
}

/// Largest file that is read whole.
const FILE_BYTES_MAX: u64 = 512 * 1024 * 1024;

fn read_text(path: &Path) -> Result<String, ImportError> {
    let size = std::fs::metadata(path).map_err(|error| ImportError::unreadable(path, &error))?.len();
    if size > FILE_BYTES_MAX {
        return Err(ImportError::TooLarge { path: path.to_owned(), bytes_max: FILE_BYTES_MAX });
    }
    std::fs::read_to_string(path).map_err(|error| ImportError::unreadable(path, &error))
}

/// The first of these that is there, below a folder; a path that is a file is taken as it is.
fn find(path: &Path, candidates: &[&str]) -> Result<PathBuf, ImportError> {
    if path.is_file() {
        return Ok(path.to_owned());
    }
    let found = candidates.iter().map(|name| path.join(name)).find(|file| file.is_file());
    found.ok_or_else(|| ImportError::NothingThere {
        path: path.to_owned(),
        wanted: candidates.iter().map(ToString::to_string).collect(),
    })
}

/// What the receipts are kept under: the folder that holds the file.
fn folder_of(file: &Path) -> String {
    file.parent().unwrap_or(file).display().to_string()
}

//! Errors of imports.

use std::path::{Path, PathBuf};

use crate::base::error::ErrorKind;
use crate::base::refusals::failure;

#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    #[error("cannot read {}: {detail}", path.display())]
    Unreadable { path: PathBuf, detail: String },
    #[error("nothing to import in {}; looked for {}", path.display(), wanted.join(", "))]
    NothingFound { path: PathBuf, wanted: Vec<String> },
    #[error("{}:{line}: {detail}", path.display())]
    Malformed { path: PathBuf, line: usize, detail: String },
    #[error("{} is larger than {} MiB", path.display(), bytes_max / (1024 * 1024))]
    TooLarge { path: PathBuf, bytes_max: u64 },
    #[error("the name \"{name}…\" is too long")]
    NameTooLong { name: String },
    #[error(transparent)]
    Database(#[from] baton_store::StoreError),
}

impl ImportError {
    pub(super) fn unreadable(path: &Path, error: &std::io::Error) -> Self {
        Self::Unreadable { path: path.to_owned(), detail: error.to_string() }
    }

    pub(super) fn malformed(path: &Path, line: usize, detail: impl Into<String>) -> Self {
        Self::Malformed { path: path.to_owned(), line, detail: detail.into() }
    }

    pub fn hint(&self) -> String {
        match self {
            Self::Unreadable { .. } => "check the path and its permissions".to_owned(),
            Self::NothingFound { .. } => {
                "name the folder of the repository, or the file itself; baton import --help lists the files of each tool"
                    .to_owned()
            }
            Self::Malformed { .. } => "correct the file, or export it again; nothing was imported".to_owned(),
            Self::TooLarge { .. } => "split the file; tasks already imported are not imported again".to_owned(),
            Self::NameTooLong { .. } => "shorten it in the other tool; nothing was imported".to_owned(),
            Self::Database(error) => error.hint(),
        }
    }
}

failure! {
    ImportError { |it|
        kind: match it {
            Self::Database(_) => ErrorKind::Storage,
            _ => ErrorKind::InvalidInput,
        },
        hint: it.hint(),
        explained: it.explained(),
    }
}

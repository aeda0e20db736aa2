//! Whether a task is up to date: its sources compared with their last recorded state.
//!
//! `status:` commands are not run here; see `run`.

mod checksum;
mod gitignore;
mod glob;
mod timestamp;

use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::ast::Glob;
use crate::go::Value;
use crate::shell::CancelScope;

/// Why the fingerprint could not be computed or stored.
#[derive(Debug, Error)]
pub enum FingerprintError {
    #[error("task: invalid method {0:?}")]
    Method(String),
    #[error("task: cannot read {path}: {source}", path = path.display())]
    Read { path: PathBuf, source: std::io::Error },
    #[error("task: cannot store the state of a task in {path}: {source}", path = path.display())]
    Keep { path: PathBuf, source: std::io::Error },
    #[error("task: the pattern {pattern:?} visits more than {limit} files")]
    TooMany { pattern: String, limit: usize },
    #[error("task: stopped while looking at the files of {pattern:?}")]
    Stopped { pattern: String },
}

/// A task's source and generated files, and where state between runs is stored.
pub(crate) struct FingerprintInput<'s> {
    pub task: &'s str,
    pub label: &'s str,
    pub dir: &'s Path,
    /// The project's directory, the topmost whose `.gitignore` applies.
    pub root: &'s Path,
    pub state: PathBuf,
    pub sources: &'s [Glob],
    pub generates: &'s [Glob],
    pub gitignore: bool,
    pub dry: bool,
    pub lookup: &'s dyn Fn(&str) -> Option<String>,
    /// When to stop looking.
    pub scope: &'s CancelScope,
}

/// How sources are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FingerprintMethod {
    Checksum,
    Timestamp,
    None,
}

impl FingerprintMethod {
    pub(crate) fn parse(name: &str) -> Result<FingerprintMethod, FingerprintError> {
        match name {
            "checksum" => Ok(FingerprintMethod::Checksum),
            "timestamp" => Ok(FingerprintMethod::Timestamp),
            "none" => Ok(FingerprintMethod::None),
            other => Err(FingerprintError::Method(other.to_owned())),
        }
    }
}

impl FingerprintInput<'_> {
    /// Whether the sources are unchanged; records their new state, except in a dry run.
    pub(crate) fn is_up_to_date(&self, method: FingerprintMethod) -> Result<bool, FingerprintError> {
        match method {
            FingerprintMethod::Checksum => checksum::is_up_to_date(self),
            FingerprintMethod::Timestamp => timestamp::is_up_to_date(self),
            FingerprintMethod::None => Ok(false),
        }
    }

    /// The variable that templates see: name and value.
    pub(crate) fn value(&self, timestamp: bool) -> Result<(&'static str, Value), FingerprintError> {
        if timestamp {
            timestamp::value(self)
        } else {
            Ok(("CHECKSUM", Value::Str(checksum::compute(self)?)))
        }
    }

    /// Discards the recorded state, so that a failed task runs again.
    pub(crate) fn forget(&self, method: FingerprintMethod) {
        if method == FingerprintMethod::Checksum && !self.sources.is_empty() {
            checksum::forget(self);
        }
    }

    pub(crate) fn source_files(&self) -> Result<Vec<PathBuf>, FingerprintError> {
        self.files(self.sources)
    }

    pub(crate) fn generated_files(&self) -> Result<Vec<PathBuf>, FingerprintError> {
        self.files(self.generates)
    }

    /// The sorted files of some patterns; a later pattern may exclude what an earlier one included.
    fn files(&self, globs: &[Glob]) -> Result<Vec<PathBuf>, FingerprintError> {
        let mut files = std::collections::BTreeMap::new();
        for glob in globs {
            for file in self.expand(&glob.pattern)? {
                files.insert(file, !glob.exclude);
            }
        }
        let mut files: Vec<PathBuf> =
            files.into_iter().filter(|(_, wanted)| *wanted).map(|(file, _)| file).collect();
        if self.gitignore {
            gitignore::retain(&mut files, self.root);
        }
        Ok(files)
    }

    fn expand(&self, pattern: &str) -> Result<Vec<PathBuf>, FingerprintError> {
        let mut found = Vec::new();
        for pattern in crate::shell::expand_fields(pattern, self.lookup) {
            glob::find(self.dir, &pattern, self.scope, &mut found)?;
        }
        Ok(found)
    }
}

/// Turns a name into a file name: everything but letters and digits becomes a dash.
fn file_name(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || "[\\]^_`".contains(c) { c } else { '-' }).collect()
}

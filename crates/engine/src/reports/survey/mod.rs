//! Finds the commands of a repository and the installed agents, and proposes the files of `baton init`. Writes nothing.

pub mod agents;
pub mod assumed;
mod cargo;
mod go;
mod makefile;
mod package_json;
mod python;
mod set_up;
#[cfg(test)]
mod tests;

use std::path::Path;

pub use set_up::InitFiles;

/// A command that the repository's own tools offer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion {
    pub name: String,
    pub description: String,
    pub command: String,
    /// The file in which it was found.
    pub from: &'static str,
}

/// The commands of a repository.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Survey {
    pub suggestions: Vec<Suggestion>,
}

/// A longer list would not be read.
const SUGGESTIONS_MAX: usize = 40;
/// Larger files are ignored.
const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;

impl Survey {
    /// Ignores files that cannot be read or parsed; their own tools report that.
    pub fn scan(root: &Path) -> Self {
        let mut suggestions: Vec<Suggestion> = Vec::new();
        let finders = [cargo::find, go::find, python::find, package_json::find, makefile::find];
        for mut suggestion in finders.iter().flat_map(|find| find(root)) {
            let is_taken = |name: &str| suggestions.iter().any(|known| known.name == name);
            if is_taken(&suggestion.name) {
                // For example, two tools have a `test`; the second gets a prefix.
                suggestion.name = format!("{}-{}", prefix(suggestion.from), suggestion.name);
            }
            if !is_taken(&suggestion.name) && suggestions.len() < SUGGESTIONS_MAX {
                suggestions.push(suggestion);
            }
        }
        Self { suggestions }
    }

    pub fn has(&self, name: &str) -> bool {
        self.suggestions.iter().any(|suggestion| suggestion.name == name)
    }

    /// The files in which commands were found.
    pub fn sources(&self) -> Vec<&'static str> {
        let mut sources: Vec<&'static str> = self.suggestions.iter().map(|each| each.from).collect();
        sources.dedup();
        sources
    }
}

fn prefix(file: &'static str) -> &'static str {
    match file {
        "Cargo.toml" => "cargo",
        "go.mod" => "go",
        "package.json" => "npm",
        "Makefile" => "make",
        _ => "py",
    }
}

fn suggestion(name: &str, description: &str, command: &str, from: &'static str) -> Suggestion {
    Suggestion {
        name: name.to_owned(),
        description: description.to_owned(),
        command: command.to_owned(),
        from,
    }
}

fn read(root: &Path, name: &str) -> Option<String> {
    let path = root.join(name);
    let is_small =
        std::fs::metadata(&path).is_ok_and(|about| about.is_file() && about.len() <= FILE_BYTES_MAX);
    if is_small { std::fs::read_to_string(path).ok() } else { None }
}

/// Whether a name needs no quotes in a command line and in a Taskfile.
fn is_plain(name: &str) -> bool {
    let first = name.chars().next();
    first.is_some_and(|c| c.is_ascii_alphanumeric())
        && name.len() <= 64
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.:".contains(c))
}

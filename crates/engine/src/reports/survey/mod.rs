//! A look at a repository that has no set-up yet: which commands its own tools offer, which agents are installed,
//! and the two files that make them Baton's. It reads; the caller writes.

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

pub use set_up::SetUp;

/// A command the repository has already, under a name of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion {
    pub name: String,
    pub description: String,
    pub command: String,
    /// The file that says so.
    pub from: &'static str,
}

/// What kind of repository it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Survey {
    pub suggestions: Vec<Suggestion>,
}

/// More would be a list nobody reads; the file says where the rest is.
const SUGGESTIONS_MAX: usize = 40;
/// Largest file that is looked into.
const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;

impl Survey {
    /// A file that cannot be read or understood is the same as none: its owner will hear of it from its own tool.
    pub fn of(root: &Path) -> Self {
        let mut suggestions: Vec<Suggestion> = Vec::new();
        let found = [cargo::look, go::look, python::look, package_json::look, makefile::look];
        for mut suggestion in found.iter().flat_map(|look| look(root)) {
            let is_taken = |name: &str| suggestions.iter().any(|known| known.name == name);
            if is_taken(&suggestion.name) {
                // Two tools have a `test`; the second one's says whose it is.
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

    /// The files that were understood, each once.
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

/// A name that is safe in a command line and in a Taskfile as it stands.
fn is_plain(name: &str) -> bool {
    let first = name.chars().next();
    first.is_some_and(|c| c.is_ascii_alphanumeric())
        && name.len() <= 64
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.:".contains(c))
}

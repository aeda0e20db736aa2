//! Finds the folders that programs on `PATH` need, where they are not the system's.

use std::path::{Path, PathBuf};

/// A folder of programs with its libraries beside it: `PREFIX/bin`.
const PROGRAM_FOLDERS: [&str; 3] = ["bin", "sbin", "shims"];

/// The folders to make readable for the search path and the agent's program. `is_visible` says what already is.
pub(super) fn folders(
    search_path: &[PathBuf],
    program: Option<&Path>,
    home: &Path,
    is_visible: impl Fn(&Path) -> bool,
) -> Vec<PathBuf> {
    let of_path = search_path.iter().map(|folder| with_prefix(folder, home));
    // A link on PATH may lead to a versioned folder elsewhere.
    let of_program = program.into_iter().flat_map(|program| {
        let real = std::fs::canonicalize(program).unwrap_or_else(|_| program.to_owned());
        [package(program, home), package(&real, home)]
    });
    let mut found: Vec<PathBuf> = of_path.chain(of_program).filter(|path| !is_visible(path)).collect();
    found.sort();
    found.dedup();
    found
}

/// The folder above `bin`, unless it holds more than programs.
fn with_prefix(folder: &Path, home: &Path) -> PathBuf {
    let is_programs =
        folder.file_name().is_some_and(|name| PROGRAM_FOLDERS.iter().any(|known| name == *known));
    match folder.parent() {
        Some(prefix) if is_programs && !is_too_wide(prefix, home) => prefix.to_owned(),
        _ => folder.to_owned(),
    }
}

/// The folder that a program file needs: its `node_modules`, the prefix of its `bin`, or the file alone.
fn package(program: &Path, home: &Path) -> PathBuf {
    let modules = program.ancestors().filter(|folder| folder.ends_with("node_modules")).last();
    if let Some(modules) = modules {
        return modules.to_owned();
    }
    match program.parent() {
        Some(folder) if !is_too_wide(folder, home) => {
            let wider = with_prefix(folder, home);
            if wider == folder { program.to_owned() } else { wider }
        }
        _ => program.to_owned(),
    }
}

/// A home, a root or a shared temporary folder holds far more than one program's files.
fn is_too_wide(folder: &Path, home: &Path) -> bool {
    home.starts_with(folder)
        || folder == home.join(".local")
        || folder == Path::new("/tmp")
        || folder == Path::new("/var/tmp")
        || folder.components().count() <= 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_folder_brings_its_prefix_but_never_the_home() {
        let home = Path::new("/home/mia");
        let prefix = |folder: &str| with_prefix(Path::new(folder), home).display().to_string();
        assert_eq!(prefix("/home/mia/.nvm/versions/node/v22/bin"), "/home/mia/.nvm/versions/node/v22");
        assert_eq!(prefix("/home/mia/.local/bin"), "/home/mia/.local/bin");
        assert_eq!(prefix("/home/mia/bin"), "/home/mia/bin");
        assert_eq!(prefix("/home/mia/.pyenv/shims"), "/home/mia/.pyenv");
        assert_eq!(prefix("/srv/bin"), "/srv/bin");
        let package = |file: &str| package(Path::new(file), home).display().to_string();
        assert_eq!(package("/opt/n/lib/node_modules/x/node_modules/y/cli.js"), "/opt/n/lib/node_modules");
        assert_eq!(package("/home/mia/agent"), "/home/mia/agent");
        assert_eq!(package("/data/goose/goose"), "/data/goose/goose");
    }
}

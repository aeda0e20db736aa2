//! Opens text in the editor of the user.

use std::env;
use std::io::{ErrorKind, IsTerminal, stdin, stdout};
use std::path::Path;
use std::process::Command;

use crate::error::CliError;

/// Used if neither VISUAL nor EDITOR is set.
const DEFAULT: &str = "vi";

/// Opens the file, waits for the editor to exit and returns the text. `instead` is the hint if there is no terminal.
pub(crate) fn edit(path: &Path, instead: &str) -> Result<String, CliError> {
    if !(stdin().is_terminal() && stdout().is_terminal()) {
        return Err(CliError::usage("there is no terminal to open an editor in", instead));
    }
    let set = |name: &&str| env::var(name).ok().filter(|command| !command.trim().is_empty());
    let chosen = ["VISUAL", "EDITOR"].iter().find_map(set).unwrap_or_else(|| DEFAULT.to_owned());
    // `code --wait` is a program and an argument; no shell is involved.
    let mut words = chosen.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or(DEFAULT));
    let hint = format!("set EDITOR to a working editor; the text is in {}", path.display());
    match command.args(words).arg(path).status() {
        Ok(status) if status.success() => std::fs::read_to_string(path)
            .map_err(|error| CliError::failed(format!("cannot read {}: {error}", path.display()), hint)),
        Ok(status) => Err(CliError::failed(format!("the editor `{chosen}` failed ({status})"), hint)),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Err(CliError::usage(format!("editor `{chosen}` not found"), hint))
        }
        Err(error) => Err(CliError::failed(format!("cannot start the editor `{chosen}`: {error}"), hint)),
    }
}

/// Writes the text to the file that this edit and the next one open.
pub(crate) fn save(path: &Path, text: &str) -> Result<(), CliError> {
    let folder = path.parent().unwrap_or(path);
    std::fs::create_dir_all(folder).and_then(|()| std::fs::write(path, text)).map_err(|error| {
        CliError::unreachable(format!("cannot write {}: {error}", path.display()), "check the permissions")
    })
}

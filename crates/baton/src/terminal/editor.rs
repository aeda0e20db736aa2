//! The person's own editor, for what is better written there than on a command line.

use std::env;
use std::io::{ErrorKind, IsTerminal, stdin, stdout};
use std::path::Path;
use std::process::Command;

use crate::error::{CliError, FAILED, UNREACHABLE};

/// What is there where nobody chose.
const USUAL: &str = "vi";

/// Opens the file and waits until the person is done with it; returns what it says then. `instead` is what to do
/// where there is no terminal.
pub fn edit(path: &Path, instead: &str) -> Result<String, CliError> {
    if !(stdin().is_terminal() && stdout().is_terminal()) {
        return Err(CliError::usage("there is no terminal to open an editor in", instead));
    }
    let set = |name: &&str| env::var(name).ok().filter(|command| !command.trim().is_empty());
    let chosen = ["VISUAL", "EDITOR"].iter().find_map(set).unwrap_or_else(|| USUAL.to_owned());
    // `code --wait` is a program and an argument; nothing of it passes a shell.
    let mut words = chosen.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or(USUAL));
    let hint = format!("set EDITOR to one that works; what was written is in {}", path.display());
    match command.args(words).arg(path).status() {
        Ok(status) if status.success() => std::fs::read_to_string(path).map_err(|error| CliError {
            message: format!("{} cannot be read: {error}", path.display()),
            hint,
            code: FAILED,
        }),
        Ok(status) => {
            Err(CliError { message: format!("the editor `{chosen}` gave up ({status})"), hint, code: FAILED })
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Err(CliError::usage(format!("there is no editor `{chosen}`"), hint))
        }
        Err(error) => Err(CliError {
            message: format!("the editor `{chosen}` did not start: {error}"),
            hint,
            code: FAILED,
        }),
    }
}

/// Puts a text where the editor, and the next edit, find it.
pub fn keep(path: &Path, text: &str) -> Result<(), CliError> {
    let folder = path.parent().unwrap_or(path);
    std::fs::create_dir_all(folder).and_then(|()| std::fs::write(path, text)).map_err(|error| CliError {
        message: format!("{} cannot be written: {error}", path.display()),
        hint: "check that you may write there".to_owned(),
        code: UNREACHABLE,
    })
}

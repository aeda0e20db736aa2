//! `baton completions`, `baton man`: Baton in the shell.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::CommandFactory;
use clap_complete::env::Shells;

use crate::cli::Cli;
use crate::cli::shell::{CompletionsArgs, ManArgs, Shell};
use crate::error::{CliError, FAILED};

/// The variable by which the shell asks this program what to offer.
pub const ASKED_BY: &str = "COMPLETE";

pub fn completions(asked: &CompletionsArgs) -> Result<String, CliError> {
    let shell = match asked.shell {
        Some(shell) => shell,
        None => own_shell(std::env::var_os("SHELL").as_deref().map(Path::new))?,
    };
    if asked.install { install(shell) } else { registration(shell) }
}

/// The person's own, as their login says.
fn own_shell(program: Option<&Path>) -> Result<Shell, CliError> {
    let name = program.and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    let found = Shell::ALL.into_iter().find(|shell| name.as_deref() == Some(shell.name()));
    found.ok_or_else(|| {
        let told = name.map_or_else(
            || "SHELL is not set".to_owned(),
            |name| format!("{name} is not a shell Baton knows"),
        );
        CliError::usage(told, "name one: baton completions bash --install (or zsh, fish, elvish)")
    })
}

/// What the shell has to run so that it asks us behind Tab.
fn registration(shell: Shell) -> Result<String, CliError> {
    let shells = Shells::builtins();
    let known = shells.completer(shell.name()).ok_or_else(|| {
        CliError::usage(format!("{} is not known here", shell.name()), "choose bash, zsh, fish or elvish")
    })?;
    let mut script = Vec::new();
    known
        .write_registration(ASKED_BY, "baton", "baton", "baton", &mut script)
        .map_err(|error| failed(&error))?;
    Ok(String::from_utf8_lossy(&script).into_owned())
}

/// Puts one line where the shell looks by itself. It asks the program anew each time, so it is never out of date.
fn install(shell: Shell) -> Result<String, CliError> {
    let home = std::env::var_os("HOME").map(PathBuf::from).ok_or_else(|| {
        CliError::usage(
            "HOME is not set".to_owned(),
            "set it, or put the output of baton completions SHELL where it belongs",
        )
    })?;
    let data = std::env::var_os("XDG_DATA_HOME").map_or_else(|| home.join(".local/share"), PathBuf::from);
    let config = std::env::var_os("XDG_CONFIG_HOME").map_or_else(|| home.join(".config"), PathBuf::from);
    let (file, line) = match shell {
        Shell::Bash => (data.join("bash-completion/completions/baton"), "source <(COMPLETE=bash baton)"),
        Shell::Fish => (config.join("fish/completions/baton.fish"), "COMPLETE=fish baton | source"),
        Shell::Zsh => (home.join(".zshrc"), "source <(COMPLETE=zsh baton)"),
        Shell::Elvish => (config.join("elvish/rc.elv"), "eval (E:COMPLETE=elvish baton | slurp)"),
    };
    let is_there = fs::read_to_string(&file).is_ok_and(|text| text.lines().any(|known| known.trim() == line));
    if is_there {
        return Ok(format!("{} has them already.\n", file.display()));
    }
    append(&file, line).map_err(|error| failed(&error))?;
    Ok(format!("{} now offers Baton's words; open a new shell to have them.\n", file.display()))
}

fn append(file: &Path, line: &str) -> std::io::Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut open = fs::OpenOptions::new().create(true).append(true).open(file)?;
    writeln!(open, "{line}")
}

/// One page to standard output, or a page for every command into a folder.
pub fn man(asked: &ManArgs) -> Result<String, CliError> {
    let program = Cli::command();
    match &asked.into {
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(program).render(&mut page).map_err(|error| failed(&error))?;
            Ok(String::from_utf8_lossy(&page).into_owned())
        }
        Some(folder) => {
            fs::create_dir_all(folder).map_err(|error| failed(&error))?;
            clap_mangen::generate_to(program, folder).map_err(|error| failed(&error))?;
            let count = fs::read_dir(folder).map_or(0, Iterator::count);
            Ok(format!("{count} pages are in {}.\n", folder.display()))
        }
    }
}

fn failed(error: &std::io::Error) -> CliError {
    CliError {
        message: error.to_string(),
        hint: "check that you may write there, and that there is room".to_owned(),
        code: FAILED,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_persons_own_shell_is_known_by_its_name() {
        assert_eq!(own_shell(Some(Path::new("/usr/bin/zsh"))).ok(), Some(Shell::Zsh));
        assert!(own_shell(Some(Path::new("/bin/nologin"))).unwrap_err().message.contains("nologin"));
        assert!(own_shell(None).is_err());
    }
}

//! `baton completions`, `baton man`

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::CommandFactory;
use clap_complete::env::Shells;

use crate::cli::Cli;
use crate::cli::shell::{CompletionsArgs, ManArgs, Shell};
use crate::error::CliError;

/// The variable that a shell sets to ask for completions.
pub(crate) const COMPLETE_VARIABLE: &str = "COMPLETE";

pub(crate) fn completions(args: &CompletionsArgs) -> Result<String, CliError> {
    let shell = match args.shell {
        Some(shell) => shell,
        None => login_shell(std::env::var_os("SHELL").as_deref().map(Path::new))?,
    };
    if args.install { install(shell) } else { registration(shell) }
}

/// The login shell.
fn login_shell(program: Option<&Path>) -> Result<Shell, CliError> {
    let name = program.and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    let found = Shell::ALL.into_iter().find(|shell| name.as_deref() == Some(shell.name()));
    found.ok_or_else(|| {
        let message = name
            .map_or_else(|| "SHELL is not set".to_owned(), |name| format!("{name} is not a supported shell"));
        CliError::usage(message, "name one: baton completions bash --install (or zsh, fish, elvish)")
    })
}

/// The script that registers Baton for completion.
fn registration(shell: Shell) -> Result<String, CliError> {
    let shells = Shells::builtins();
    let known = shells.completer(shell.name()).ok_or_else(|| {
        CliError::usage(format!("no completions for {}", shell.name()), "choose bash, zsh, fish or elvish")
    })?;
    let mut script = Vec::new();
    known
        .write_registration(COMPLETE_VARIABLE, "baton", "baton", "baton", &mut script)
        .map_err(|error| failed(&error))?;
    Ok(String::from_utf8_lossy(&script).into_owned())
}

/// Adds one line to the shell's startup files. It calls Baton on every start, so it never goes stale.
fn install(shell: Shell) -> Result<String, CliError> {
    let home = std::env::var_os("HOME").map(PathBuf::from).ok_or_else(|| {
        CliError::usage(
            "HOME is not set".to_owned(),
            "set it, or install the output of baton completions SHELL yourself",
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
        return Ok(format!("Completions are already installed in {}.\n", file.display()));
    }
    append(&file, line).map_err(|error| failed(&error))?;
    Ok(format!("Installed completions in {}. Open a new shell to use them.\n", file.display()))
}

fn append(file: &Path, line: &str) -> std::io::Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut open = fs::OpenOptions::new().create(true).append(true).open(file)?;
    writeln!(open, "{line}")
}

/// Prints the main page, or writes one page per command into a directory.
pub(crate) fn man(args: &ManArgs) -> Result<String, CliError> {
    let program = Cli::command();
    match &args.into {
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(program).render(&mut page).map_err(|error| failed(&error))?;
            Ok(String::from_utf8_lossy(&page).into_owned())
        }
        Some(folder) => {
            fs::create_dir_all(folder).map_err(|error| failed(&error))?;
            clap_mangen::generate_to(program, folder).map_err(|error| failed(&error))?;
            let count = fs::read_dir(folder).map_or(0, Iterator::count);
            Ok(format!("Wrote {count} pages to {}.\n", folder.display()))
        }
    }
}

fn failed(error: &std::io::Error) -> CliError {
    CliError::failed(error.to_string(), "check permissions and free space")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_login_shell_is_known_by_its_name() {
        assert_eq!(login_shell(Some(Path::new("/usr/bin/zsh"))).ok(), Some(Shell::Zsh));
        assert!(login_shell(Some(Path::new("/bin/nologin"))).unwrap_err().message.contains("nologin"));
        assert!(login_shell(None).is_err());
    }
}

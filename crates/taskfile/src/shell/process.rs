//! Starts a command and waits for it.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::OnceLock;

use thiserror::Error;

use crate::go::path::join;
use crate::output::CommandSink;

use super::cancel::{CancelReason, CancelScope};
use super::data::reveal;
use super::evaluation::check_evaluation;
use super::insert::insert_data;
use super::wait::RunningCommand;
use super::words::{PlainCommand, parse_plain};

/// A command to run.
#[derive(Clone, Copy)]
pub(crate) struct CommandRequest<'r> {
    pub command: &'r str,
    pub dir: &'r Path,
    /// The whole environment, or `None` for the process's own.
    pub environment: Option<&'r [(String, String)]>,
    /// Additional variables; their values may have data in them.
    pub additions: &'r [(String, OsString)],
    /// Variables that nothing overrides.
    pub marks: &'r [(String, String)],
    pub set: &'r [String],
    pub shopt: &'r [String],
    /// Whether the command inherits standard input; otherwise it reads `/dev/null`.
    pub stdin: bool,
    /// Whether the command leads its own process group.
    pub own_group: bool,
}

/// Why a command failed.
#[derive(Debug, Error)]
pub enum CommandError {
    #[error("exit status {0}")]
    Exit(i32),
    /// A syntax error with its position.
    #[error("{0}")]
    Syntax(String),
    #[error("context canceled")]
    Cancelled,
    #[error("context deadline exceeded")]
    DeadlinePassed,
    #[error("cannot run {command:?} in {dir}: {source}", dir = dir.display())]
    Start { command: String, dir: PathBuf, source: std::io::Error },
}

/// The exit code of a command that does not exist or is not executable; go-task's shell has one for both.
const NOT_RUN: i32 = 127;

/// Runs a command to completion.
pub(crate) fn run(
    request: &CommandRequest<'_>,
    scope: &CancelScope,
    sink: CommandSink<'_>,
) -> Result<(), CommandError> {
    match scope.cancel_reason() {
        Some(CancelReason::Cancelled) => return Err(CommandError::Cancelled),
        Some(CancelReason::DeadlinePassed) => return Err(CommandError::DeadlinePassed),
        None => {}
    }
    check_evaluation(request.command, request.additions).map_err(CommandError::Syntax)?;
    let prepared = insert_data(request.command, &variable_prefix()).transpose();
    let prepared = prepared.map_err(CommandError::Syntax)?;
    let command = prepared.as_ref().map_or(request.command, |prepared| prepared.text.as_str());
    let mut additions: Vec<_> = request.additions.iter().map(reveal_variable).collect();
    let variables = prepared.iter().flat_map(|prepared| &prepared.variables);
    additions.extend(variables.map(|(name, value)| (name.clone(), value.into())));
    run_prepared(&CommandRequest { command, additions: &additions, ..*request }, scope, sink)
}

/// A variable whose value may have data in it, as the command gets it.
fn reveal_variable((name, value): &(String, OsString)) -> (String, OsString) {
    let value = value.to_str().map_or_else(|| value.clone(), |text| reveal(text).into_owned().into());
    (name.clone(), value)
}

/// The names of variables with data cannot be guessed, since arithmetic would evaluate what they contain.
fn variable_prefix() -> String {
    // Without randomness no name is safe, but then nothing else is either.
    format!("TASK_DATA_{:016x}_", getrandom::u64().unwrap_or_default())
}

/// Runs a command without data in its text.
fn run_prepared(
    request: &CommandRequest<'_>,
    scope: &CancelScope,
    mut sink: CommandSink<'_>,
) -> Result<(), CommandError> {
    let needs_shell = request.set.iter().any(|o| !HARMLESS_OPTIONS.contains(&o.as_str()));
    match parse_plain(request.command).filter(|_| !needs_shell) {
        Some(PlainCommand::Exit(0)) => Ok(()),
        Some(PlainCommand::Exit(code)) => Err(CommandError::Exit(code)),
        Some(PlainCommand::Echo(text)) if request.dir.is_dir() => {
            sink.print(&text);
            Ok(())
        }
        Some(PlainCommand::Program(words)) => run_program(request, &words, scope, sink),
        _ => match super::syntax::find_syntax_error(request.command) {
            Some(error) => Err(CommandError::Syntax(error)),
            None => spawn_and_wait(request, shell_command(request), scope, sink),
        },
    }
}

/// Shell options that make no difference for a single program without expansions.
const HARMLESS_OPTIONS: &[&str] = &["e", "errexit", "u", "nounset", "f", "noglob", "pipefail"];

/// Starts a program without a shell, with go-task's messages if it cannot be found.
fn run_program(
    request: &CommandRequest<'_>,
    words: &[String],
    scope: &CancelScope,
    mut sink: CommandSink<'_>,
) -> Result<(), CommandError> {
    let name = words.first().map_or("", String::as_str);
    let program = match find_program(request, name) {
        Ok(program) => program,
        Err(message) => {
            sink.write_error(&message);
            return Err(CommandError::Exit(NOT_RUN));
        }
    };
    if is_script_without_shebang(&program) {
        return spawn_and_wait(request, shell_command(request), scope, sink);
    }
    let mut command = Command::new(program);
    command.arg0(name).args(&words[1..]);
    spawn_and_wait(request, command, scope, sink)
}

/// Finds a program on the command's `PATH`, or by its path.
fn find_program(request: &CommandRequest<'_>, name: &str) -> Result<PathBuf, String> {
    let executable =
        |path: &Path| rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok() && path.is_file();
    if name.contains('/') {
        let path = join(request.dir, name);
        return match () {
            () if executable(&path) => Ok(path),
            () if path.exists() => Err("permission denied\n".to_owned()),
            () => Err(format!("stat {}: no such file or directory\n", path.display())),
        };
    }
    let search = request.additions.iter().find(|(k, _)| k == "PATH").map(|(_, v)| v.clone());
    let search = search.or_else(|| match request.environment {
        Some(all) => all.iter().find(|(k, _)| k == "PATH").map(|(_, v)| OsString::from(v)),
        None => std::env::var_os("PATH"),
    });
    let search = search.unwrap_or_default();
    std::env::split_paths(&search)
        .map(|dir| request.dir.join(dir).join(name))
        .find(|p| executable(p))
        .ok_or_else(|| format!("{name:?}: executable file not found in $PATH\n"))
}

/// An executable text file that needs a shell to run.
fn is_script_without_shebang(program: &Path) -> bool {
    use std::io::Read;
    let mut start = [0_u8; 4];
    let Ok(mut file) = std::fs::File::open(program) else { return false };
    let Ok(read) = file.read(&mut start) else { return false };
    !start[..read].starts_with(b"#!")
        && !start[..read].starts_with(b"\x7fELF")
        && !start[..read].starts_with(&[0xcf, 0xfa, 0xed, 0xfe])
}

/// The command in bash, or in sh where there is no bash.
fn shell_command(request: &CommandRequest<'_>) -> Command {
    static BASH: OnceLock<Option<PathBuf>> = OnceLock::new();
    let bash = BASH.get_or_init(|| {
        let search = std::env::var_os("PATH").unwrap_or_default();
        let places = ["/bin/bash".into(), "/usr/bin/bash".into()].into_iter();
        places
            .chain(std::env::split_paths(&search).map(|dir| dir.join("bash")))
            .find(|p: &PathBuf| p.is_file())
    });
    let mut command = match bash {
        Some(bash) => {
            let mut command = Command::new(bash);
            command.arg0("bash").args(["--norc", "--noprofile"]);
            for option in request.shopt {
                command.args(["-O", option]);
            }
            command
        }
        None => Command::new("/bin/sh"),
    };
    command.arg("-e");
    for option in request.set {
        if option.chars().count() == 1 {
            command.arg(format!("-{option}"));
        } else {
            command.args(["-o", option]);
        }
    }
    command.args(["-c", request.command]);
    command
}

/// Sets up the command's environment and streams, starts it and waits for it.
fn spawn_and_wait(
    request: &CommandRequest<'_>,
    mut command: Command,
    scope: &CancelScope,
    sink: CommandSink<'_>,
) -> Result<(), CommandError> {
    let failed = |source| CommandError::Start {
        command: request.command.to_owned(),
        dir: request.dir.to_owned(),
        source,
    };
    if let Some(all) = request.environment {
        command.env_clear().envs(all.iter().map(|(k, v)| (k, v)));
    }
    command.envs(request.additions.iter().map(|(k, v)| (k, v)));
    command.envs(request.marks.iter().map(|(k, v)| (k, v)));
    command.env("PWD", request.dir).current_dir(request.dir);
    command.stdin(if request.stdin { Stdio::inherit() } else { Stdio::null() });
    if request.own_group {
        command.process_group(0);
    }
    let pipes = sink.connect(&mut command).map_err(failed)?;
    let child = command.spawn().map_err(|source| match source.kind() {
        ErrorKind::NotFound if !request.dir.is_dir() => {
            failed(std::io::Error::new(ErrorKind::NotFound, "no such directory"))
        }
        _ => failed(source),
    })?;
    // `command` holds the write ends, and the pipes end only when it is dropped.
    drop(command);
    let running = RunningCommand { child, pipes, leads_group: request.own_group };
    let (status, ended) = running.wait(scope).map_err(failed)?;
    match ended {
        Some(CancelReason::Cancelled) => Err(CommandError::Cancelled),
        Some(CancelReason::DeadlinePassed) => Err(CommandError::DeadlinePassed),
        None => match exit_code(status) {
            0 => Ok(()),
            code => Err(CommandError::Exit(code)),
        },
    }
}

/// The exit code; 128 plus the signal for a killed process, as in a shell.
fn exit_code(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}

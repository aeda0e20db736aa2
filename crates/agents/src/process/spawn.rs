//! Starts a process in its own group and owns its tree until nothing of it is left.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;
use tracing::{debug, warn};

use baton_core::base::id::AttemptId;

use crate::fence::Fence;
use crate::process::cgroup::{self, GroupLimits};
use crate::process::environment::AgentEnvironment;
use crate::process::identity::{ProcessIdentity, TreeGuard};
use crate::process::keeper;
use crate::process::tree::{LeftoverProcesses, ProcessTree};
use crate::process::watchdog::{self, Watch};

/// How long the exit status may take once the tree is ended.
const STATUS_PATIENCE: Duration = Duration::from_secs(1);

/// Why a process did not start.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    #[error("the command is empty; set `command` in its settings")]
    NoCommand,
    #[error("cannot start `{program}` in {}: no such folder", worktree.display())]
    NoWorktree { program: String, worktree: PathBuf },
    #[error("cannot start `{program}`: no such program on PATH ({path})")]
    NotOnPath { program: String, path: String },
    #[error("cannot start `{program}`: no such file, or the interpreter in its first line is missing")]
    NotFound { program: String },
    #[error("cannot start `{program}`: it is not an executable file")]
    NotExecutable { program: String },
    #[error("cannot start `{program}`: {source}")]
    System { program: String, source: io::Error },
}

/// What to start.
#[derive(Clone, Copy)]
pub(crate) struct ProcessSpec<'a> {
    pub attempt: AttemptId,
    pub command: &'a [String],
    pub folder: &'a Path,
    pub environment: &'a AgentEnvironment,
    /// The fence it runs in, if any.
    pub fence: Option<&'a Fence>,
    /// The variable that carries the id: the attempt's, or that of a run beside its agent.
    pub mark: &'static str,
    /// The limits of its own control group; none where it needs no group.
    pub group: Option<GroupLimits>,
}

/// A running process and its tree. Dropping it kills the tree, unless it was ended.
pub(crate) struct Process {
    child: Child,
    identity: ProcessIdentity,
    tree: ProcessTree,
    is_ended: bool,
    /// Dropped last: the watchdog watches until the tree is gone.
    _watch: Watch,
}

/// Baton's ends of the process's standard streams.
pub(crate) struct ProcessPipes {
    pub stdin: ChildStdin,
    pub stdout: ChildStdout,
    pub stderr: ChildStderr,
}

impl Process {
    /// Starts the program in its folder with exactly the given environment.
    pub(crate) fn start<'a>(what: impl Into<ProcessSpec<'a>>) -> Result<(Self, ProcessPipes), StartError> {
        let start = what.into();
        let program = start.command.first().ok_or(StartError::NoCommand)?;
        let group = start.group.and_then(|limits| cgroup::create(start.attempt, limits));
        let (words, guard) = command_line(&start, group.as_deref());
        let abandon = |error| {
            group.as_deref().map(cgroup::remove);
            error
        };
        if guard.is_some() {
            // Whatever runs the program would find out too late to say it well.
            check_program(program, &start).map_err(abandon)?;
        }
        let (first, arguments) = words.split_first().ok_or(StartError::NoCommand)?;
        // Before the spawn, so that there is no unwatched moment.
        let watch = watchdog::watch(start.attempt);
        let removed = start.fence.map_or(&[][..], Fence::removed_variables);
        let loads = |name: &OsStr| start.fence.is_some() && is_read_by_loader(name);
        let added = start.fence.map_or(&[][..], Fence::variables);
        let mut child = Command::new(first)
            .args(arguments)
            .current_dir(start.folder)
            .env_clear()
            .envs(
                start
                    .environment
                    .iter()
                    .filter(|(name, _)| !removed.iter().any(|removed| name == removed) && !loads(name)),
            )
            .envs(added.iter().map(|(name, value)| (name, value)))
            // Last, so that nothing overrides it: the tree is found by it.
            .env(start.mark, start.attempt.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(|error| abandon(explain(error, program, &start)))?;
        let pipes = child.stdin.take().zip(child.stdout.take()).zip(child.stderr.take());
        let (Some(pid), Some(((stdin, stdout), stderr))) = (child.id(), pipes) else {
            // Unreachable: all three were requested, and the child is not reaped yet.
            let source = io::Error::other("the system gave no pipes");
            return Err(StartError::System { program: program.clone(), source });
        };
        // The child is not reaped before `wait`, so the pid is still its own.
        let identity = ProcessIdentity { guard, group, ..ProcessIdentity::from_pid(pid) };
        watch.started(&identity);
        debug!(attempt = %start.attempt, pid, program, "started process");
        let tree = ProcessTree::new(start.attempt, Some(identity.clone()));
        Ok((
            Self { child, identity, tree, is_ended: false, _watch: watch },
            ProcessPipes { stdin, stdout, stderr },
        ))
    }

    pub(crate) fn tree(&self) -> &ProcessTree {
        &self.tree
    }

    pub(crate) fn identity(&self) -> &ProcessIdentity {
        &self.identity
    }

    /// Waits for the process itself; others of its tree may still run. Cancel-safe.
    pub(crate) async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.child.wait().await.map(|status| self.translate(status))
    }

    /// A guard passes the signal that ended the agent on as an exit code.
    fn translate(&self, status: ExitStatus) -> ExitStatus {
        let signal = status.code().map_or(0, |code| code - keeper::SIGNAL_CODE);
        if self.identity.guard.is_some() && (1..32).contains(&signal) {
            ExitStatus::from_raw(signal)
        } else {
            status
        }
    }

    /// Ends the whole tree. The status is None when the process hangs in the kernel.
    pub(crate) async fn end(
        &mut self,
        grace: Duration,
    ) -> (Option<ExitStatus>, Result<(), LeftoverProcesses>) {
        let ended = if self.identity.started.is_some() {
            self.tree.end(grace).await
        } else {
            // Without a process table an unreaped group looks like a running one.
            tokio::join!(self.tree.end(grace), self.child.wait()).0
        };
        self.is_ended = ended.is_ok();
        let status = timeout(STATUS_PATIENCE, self.child.wait()).await;
        let status = status.ok().and_then(Result::ok).map(|status| self.translate(status));
        match &ended {
            Ok(()) => debug!(pid = self.identity.pid, status = ?status, "process tree ended"),
            Err(leftover) => {
                warn!(pid = self.identity.pid, leftover = ?leftover.pids, "processes could not be ended");
            }
        }
        (status, ended)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if !self.is_ended {
            self.tree.kill_now();
            self.tree.remove_groups();
        }
    }
}

/// Writes the prompt and closes the pipe. The agent need not read all of it.
pub(crate) async fn feed(mut stdin: ChildStdin, prompt: String) {
    let _ = stdin.write_all(prompt.as_bytes()).await;
    let _ = stdin.shutdown().await;
}

fn explain(error: io::Error, program: &str, start: &ProcessSpec<'_>) -> StartError {
    let program = program.to_owned();
    match error.kind() {
        _ if !start.folder.is_dir() => StartError::NoWorktree { program, worktree: start.folder.to_owned() },
        io::ErrorKind::NotFound if is_looked_up(&program) => {
            let path = start.environment.get("PATH").unwrap_or_default().to_string_lossy().into_owned();
            StartError::NotOnPath { program, path }
        }
        io::ErrorKind::NotFound => StartError::NotFound { program },
        io::ErrorKind::PermissionDenied => StartError::NotExecutable { program },
        _ => StartError::System { program, source: error },
    }
}

/// What is really started, and what then stands around the agent.
fn command_line(start: &ProcessSpec<'_>, group: Option<&Path>) -> (Vec<OsString>, Option<TreeGuard>) {
    let fenced = match start.fence {
        Some(fence) => fence.command(&with_loader_variables(start), start.folder),
        None => start.command.iter().map(OsString::from).collect(),
    };
    if start.fence.is_some_and(Fence::owns_processes) {
        let placed = if start.group.is_some() { cgroup::words(group) } else { Vec::new() };
        return (placed.into_iter().chain(fenced).collect(), Some(TreeGuard::Namespace));
    }
    match keeper::command() {
        Some(words) => {
            let words = words.iter().cloned().chain([cgroup::word(group)]).chain(fenced);
            (words.collect(), Some(TreeGuard::Keeper))
        }
        None => (fenced, None),
    }
}

/// Variables that make the loader run code of somebody's choice in any program that is started with them: also in the one that
/// builds the fence, before there is any. They are set inside instead.
fn is_read_by_loader(name: &OsStr) -> bool {
    let name = name.as_bytes();
    name.starts_with(b"LD_") || name.starts_with(b"DYLD_") || name.starts_with(b"GLIBC_")
}

/// The command, with the variables that must not reach what builds the fence.
fn with_loader_variables(start: &ProcessSpec<'_>) -> Vec<String> {
    let variables = start.environment.iter().filter(|(name, _)| is_read_by_loader(name));
    let assigned: Vec<String> = variables
        .map(|(name, value)| format!("{}={}", name.to_string_lossy(), value.to_string_lossy()))
        .collect();
    let head = (!assigned.is_empty()).then(|| "env".to_owned());
    head.into_iter().chain(assigned).chain(start.command.iter().cloned()).collect()
}

/// Whether the program is there and can be executed.
fn check_program(program: &str, start: &ProcessSpec<'_>) -> Result<(), StartError> {
    let is_executable = |file: &Path| {
        std::fs::metadata(file).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    let path = start.environment.get("PATH").unwrap_or_default();
    let file = if is_looked_up(program) {
        std::env::split_paths(path).map(|folder| folder.join(program)).find(|file| file.is_file())
    } else {
        Some(start.folder.join(program)).filter(|file| file.is_file())
    };
    let missing = || explain(io::ErrorKind::NotFound.into(), program, start);
    let file = file.ok_or_else(missing)?;
    if !start.folder.is_dir() {
        return Err(missing());
    }
    if is_executable(&file) { Ok(()) } else { Err(StartError::NotExecutable { program: program.to_owned() }) }
}

/// A name without a slash is looked up on PATH.
fn is_looked_up(program: &str) -> bool {
    Path::new(program).components().count() == 1 && !program.contains('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_loader_reads_is_set_inside_the_fence_only() {
        let mut environment = AgentEnvironment::allowed([], &[]);
        for (name, value) in [("LD_PRELOAD", "evil.so"), ("PORT", "3000"), ("GLIBC_TUNABLES", "x")] {
            environment.set(name, value);
        }
        let command = ["agent".to_owned(), "--all".to_owned()];
        let spec = ProcessSpec {
            attempt: AttemptId::from_bits(1),
            command: &command,
            folder: Path::new("/"),
            environment: &environment,
            fence: None,
            mark: "MARK",
            group: None,
        };
        let words = with_loader_variables(&spec);
        assert_eq!(words, ["env", "GLIBC_TUNABLES=x", "LD_PRELOAD=evil.so", "agent", "--all"]);
    }
}

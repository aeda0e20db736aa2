//! Starts a process in its own group and owns its tree until nothing of it is left.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;
use tracing::{debug, warn};

use baton_core::base::id::AttemptId;

use crate::process::environment::{ATTEMPT_ID, AgentEnvironment};
use crate::process::identity::ProcessIdentity;
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
        let (program, arguments) = start.command.split_first().ok_or(StartError::NoCommand)?;
        // Before the spawn, so that there is no unwatched moment.
        let watch = watchdog::watch(start.attempt);
        let mut child = Command::new(program)
            .args(arguments)
            .current_dir(start.folder)
            .env_clear()
            .envs(start.environment.iter())
            // Last, so that nothing overrides it: the tree is found by it.
            .env(ATTEMPT_ID, start.attempt.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(|error| explain(error, program, &start))?;
        let pipes = child.stdin.take().zip(child.stdout.take()).zip(child.stderr.take());
        let (Some(pid), Some(((stdin, stdout), stderr))) = (child.id(), pipes) else {
            // Unreachable: all three were requested, and the child is not reaped yet.
            let source = io::Error::other("the system gave no pipes");
            return Err(StartError::System { program: program.clone(), source });
        };
        // The child is not reaped before `wait`, so the pid is still its own.
        let identity = ProcessIdentity::from_pid(pid);
        watch.started(&identity);
        debug!(attempt = %start.attempt, pid, program, "started process");
        let tree = ProcessTree::new(start.attempt, Some(identity.clone()));
        Ok((
            Self { child, identity, tree, is_ended: false, _watch: watch },
            ProcessPipes { stdin, stdout, stderr },
        ))
    }

    pub(crate) fn identity(&self) -> &ProcessIdentity {
        &self.identity
    }

    /// Waits for the process itself; others of its tree may still run. Cancel-safe.
    pub(crate) async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.child.wait().await
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
        let status = status.ok().and_then(Result::ok);
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

/// A name without a slash is looked up on PATH.
fn is_looked_up(program: &str) -> bool {
    Path::new(program).components().count() == 1 && !program.contains('/')
}

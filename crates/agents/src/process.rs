//! One agent process: started in a group of its own, and owned until nothing of it is left.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

use baton_core::base::id::AttemptId;

use crate::driver::Launch;
use crate::environment::{ATTEMPT_ID, Environment};
use crate::identity::ProcessIdentity;
use crate::tree::{Leftover, Tree};

/// How long the status of a process may take once its tree is ended.
const STATUS_PATIENCE: Duration = Duration::from_secs(1);

/// Why an agent did not start: what was tried, and what is wrong with it.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("the command is empty; set `command` in its settings")]
    NoCommand,
    #[error("cannot start `{program}` in {}: there is no such folder", worktree.display())]
    NoWorktree { program: String, worktree: PathBuf },
    #[error("cannot start `{program}`: there is no such program on PATH ({path})")]
    NotOnPath { program: String, path: String },
    #[error(
        "cannot start `{program}`: there is no such file, or the interpreter in its first line is missing"
    )]
    NotFound { program: String },
    #[error("cannot start `{program}`: it is not an executable file")]
    NotExecutable { program: String },
    #[error("cannot start `{program}`: {source}")]
    System { program: String, source: io::Error },
}

/// What a process is started with. Its prompt, its limits and its log are its driver's business.
#[derive(Clone, Copy)]
pub struct Start<'a> {
    pub attempt: AttemptId,
    pub command: &'a [String],
    pub folder: &'a Path,
    pub environment: &'a Environment,
}

impl<'a> From<&'a Launch> for Start<'a> {
    fn from(launch: &'a Launch) -> Self {
        Self {
            attempt: launch.attempt,
            command: &launch.command,
            folder: &launch.worktree,
            environment: &launch.environment,
        }
    }
}

/// A running agent and its whole tree. Dropped before it was ended, it takes the tree with it.
pub struct Process {
    child: Child,
    identity: ProcessIdentity,
    tree: Tree,
    is_ended: bool,
}

/// The ends of the agent's pipes that are ours.
pub struct Pipes {
    pub stdin: ChildStdin,
    pub stdout: ChildStdout,
    pub stderr: ChildStderr,
}

impl Process {
    /// Starts the program in its folder, with the environment it was given and nothing else of ours.
    pub fn start<'a>(what: impl Into<Start<'a>>) -> Result<(Self, Pipes), StartError> {
        let start = what.into();
        let (program, arguments) = start.command.split_first().ok_or(StartError::NoCommand)?;
        let mut child = Command::new(program)
            .args(arguments)
            .current_dir(start.folder)
            .env_clear()
            .envs(start.environment.iter())
            // Last, because the tree is found by it.
            .env(ATTEMPT_ID, start.attempt.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(|error| explain(error, program, &start))?;
        let pipes = child.stdin.take().zip(child.stdout.take()).zip(child.stderr.take());
        let (Some(pid), Some(((stdin, stdout), stderr))) = (child.id(), pipes) else {
            // All three were asked for and nobody waited yet, so this is not reached.
            let source = io::Error::other("the system gave no pipes");
            return Err(StartError::System { program: program.clone(), source });
        };
        // The child is not reaped before somebody waits for it, so its pid is still its own here.
        let identity = ProcessIdentity::of(pid);
        let tree = Tree::new(start.attempt, Some(identity.clone()));
        Ok((Self { child, identity, tree, is_ended: false }, Pipes { stdin, stdout, stderr }))
    }

    pub fn identity(&self) -> &ProcessIdentity {
        &self.identity
    }

    /// Waits for the agent's own process; others of its tree may still run. Safe to drop half-way.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.child.wait().await
    }

    /// Ends all of the tree. The status is none when the process hangs inside the system.
    pub async fn end(&mut self, grace: Duration) -> (Option<ExitStatus>, Result<(), Leftover>) {
        let ended = if self.identity.started.is_some() {
            self.tree.end(grace).await
        } else {
            // Without a process table a group that only waits to be reaped looks like one that runs.
            tokio::join!(self.tree.end(grace), self.child.wait()).0
        };
        self.is_ended = ended.is_ok();
        let status = timeout(STATUS_PATIENCE, self.child.wait()).await;
        (status.ok().and_then(Result::ok), ended)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if !self.is_ended {
            self.tree.kill_at_once();
        }
    }
}

/// Writes the prompt, then closes the pipe. An agent that does not want to read it all is free not to.
pub async fn feed(mut stdin: ChildStdin, prompt: String) {
    let _ = stdin.write_all(prompt.as_bytes()).await;
    let _ = stdin.shutdown().await;
}

fn explain(error: io::Error, program: &str, start: &Start<'_>) -> StartError {
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

/// A name without a slash is looked for on PATH.
fn is_looked_up(program: &str) -> bool {
    Path::new(program).components().count() == 1 && !program.contains('/')
}

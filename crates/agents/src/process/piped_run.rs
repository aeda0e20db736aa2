//! Runs a program of Baton's own beside an agent, and passes on what it prints line by line.
//!
//! It carries the id of the run, so that ending it ends nothing else of the attempt, and the attempt's id as its environment
//! has it. However it ends, nothing of its tree is left.

use std::path::PathBuf;
use std::time::Duration;

use baton_core::base::id::AttemptId;
use tokio::process::{ChildStderr, ChildStdout};
use tokio::time::{sleep, timeout};

use crate::fence::Fence;
use crate::output::excerpt::TextExcerpt;
use crate::output::lines::LineSplitter;
use crate::process::environment::{AgentEnvironment, RUN_ID};
use crate::process::exit::ProcessExit;
use crate::process::memory_limit::{MemoryExcess, wait_for_excess_of};
use crate::process::pipe::{DRAIN_PATIENCE, PipeReader};
use crate::process::spawn::{Process, ProcessPipes, ProcessSpec, feed};

/// Between TERM and KILL.
const GRACE: Duration = Duration::from_secs(2);
/// What is kept of the errors of the program itself.
const ERRORS_BYTES_MAX: usize = 8_000;

/// The program to run, and its limits.
#[derive(Debug, Clone)]
pub struct PipedRun {
    /// Used for nothing else.
    pub id: AttemptId,
    /// Program and arguments; no shell is involved.
    pub command: Vec<String>,
    pub folder: PathBuf,
    pub environment: AgentEnvironment,
    pub fence: Option<Fence>,
    /// Written to standard input, which is then closed.
    pub input: String,
    pub timeout: Duration,
    /// What its processes may use together; without it, as much as they like.
    pub memory_bytes_max: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PipedResult {
    pub end: PipedEnd,
    /// The beginning and the end of its standard error.
    pub errors: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PipedEnd {
    Exited(ProcessExit),
    /// Its exit status is unknown: it hangs in the kernel.
    Unseen,
    TimedOut,
    OutOfMemory(MemoryExcess),
    /// The reason, as a sentence.
    NotStarted(String),
}

impl<'a> From<&'a PipedRun> for ProcessSpec<'a> {
    fn from(run: &'a PipedRun) -> Self {
        Self {
            attempt: run.id,
            command: &run.command,
            folder: &run.folder,
            environment: &run.environment,
            fence: run.fence.as_ref(),
            mark: RUN_ID,
            group: None,
        }
    }
}

impl PipedRun {
    /// Runs it to its end. Dropping the future kills its tree at once.
    pub async fn run(&self, each_line: impl FnMut(&str)) -> PipedResult {
        let (mut process, ProcessPipes { stdin, stdout, stderr }) = match Process::start(self) {
            Ok(started) => started,
            Err(error) => {
                return PipedResult { end: PipedEnd::NotStarted(error.to_string()), errors: String::new() };
            }
        };
        let mut streams = RunStreams {
            stdout: PipeReader::new(stdout),
            stderr: PipeReader::new(stderr),
            lines: LineSplitter::default(),
            errors: TextExcerpt::new(ERRORS_BYTES_MAX),
            each_line,
        };
        let tree = process.tree().clone();
        let cut_short = tokio::select! {
            () = sleep(self.timeout) => Some(PipedEnd::TimedOut),
            excess = wait_for_excess_of(&tree, self.memory_bytes_max) => Some(PipedEnd::OutOfMemory(excess)),
            // Ignored here: `end` returns the status.
            _ = process.wait() => None,
            _ = async { tokio::join!(feed(stdin, self.input.clone()), streams.read_forever()) } => None,
        };
        if let Some(PipedEnd::OutOfMemory(_)) = &cut_short {
            // At once, since it would go on taking memory. What is left of it is ended below.
            let _ = tree.kill().await;
        }
        let (status, _) = tokio::select! {
            ended = process.end(GRACE) => ended,
            () = streams.read_forever() => (None, Ok(())),
        };
        // A process that still holds a pipe cannot be found; its output is not the program's.
        let _ = timeout(DRAIN_PATIENCE, streams.read_to_end()).await;
        let RunStreams { mut lines, errors, mut each_line, .. } = streams;
        lines.finish(|line| each_line(&line.text));
        let exited = status.map_or(PipedEnd::Unseen, |status| PipedEnd::Exited(ProcessExit::from(status)));
        PipedResult { end: cut_short.unwrap_or(exited), errors: errors.into_text() }
    }
}

struct RunStreams<F> {
    stdout: PipeReader<ChildStdout>,
    stderr: PipeReader<ChildStderr>,
    lines: LineSplitter,
    errors: TextExcerpt,
    each_line: F,
}

impl<F: FnMut(&str)> RunStreams<F> {
    /// Reads until both streams end.
    async fn read_to_end(&mut self) {
        let Self { stdout, stderr, lines, errors, each_line } = self;
        while stdout.is_open() || stderr.is_open() {
            tokio::select! {
                chunk = stdout.next() => lines.push(chunk, |line| each_line(&line.text)),
                chunk = stderr.next() => errors.push(&String::from_utf8_lossy(chunk)),
            }
        }
    }

    /// Reads until dropped.
    async fn read_forever(&mut self) {
        self.read_to_end().await;
        std::future::pending::<()>().await;
    }
}

//! Runs one command of the user to its end, isolated like an agent: checks and notifications.
//!
//! It has its own process group, only the given variables and input, a time limit and bounded output. However it ends,
//! nothing of its tree is left. It carries the attempt id like the agent, so the watchdog and recovery find it too.

use std::path::PathBuf;
use std::time::Duration;

use baton_core::base::id::AttemptId;
use tokio::process::{ChildStderr, ChildStdout};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::fence::Fence;
use crate::output::excerpt::TextExcerpt;
use crate::output::lines::{LineSplitter, OutputLine};
use crate::output::live::LiveOutput;
use crate::process::environment::{ATTEMPT_ID, AgentEnvironment};
use crate::process::exit::ProcessExit;
use crate::process::memory_limit::{MemoryExcess, wait_for_excess_of};
use crate::process::pipe::{DRAIN_PATIENCE, PipeReader};
use crate::process::spawn::{Process, ProcessPipes, ProcessSpec, feed};
use crate::process::waiting::cancelled;

/// Between TERM and KILL.
const GRACE: Duration = Duration::from_secs(2);

/// The command to run, and its limits.
#[derive(Debug, Clone)]
pub struct OneShot {
    pub attempt: AttemptId,
    /// Program and arguments; no shell is involved.
    pub command: Vec<String>,
    pub folder: PathBuf,
    pub environment: AgentEnvironment,
    /// The fence it runs in, if any.
    pub fence: Option<Fence>,
    /// Written to standard input, which is then closed.
    pub input: String,
    pub timeout: Duration,
    /// What its processes may use together; without it, as much as they like.
    pub memory_bytes_max: Option<u64>,
    /// Limit for both streams together; the beginning and the end are kept.
    pub output_bytes_max: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OneShotResult {
    pub end: OneShotEnd,
    /// Both streams, interleaved line by line.
    pub output: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OneShotEnd {
    Exited(ProcessExit),
    /// Its exit status is unknown: it hangs in the kernel.
    Unseen,
    TimedOut,
    OutOfMemory(MemoryExcess),
    /// The caller stopped it.
    Stopped,
    /// The reason, as a sentence.
    NotStarted(String),
}

impl<'a> From<&'a OneShot> for ProcessSpec<'a> {
    fn from(one_shot: &'a OneShot) -> Self {
        Self {
            attempt: one_shot.attempt,
            command: &one_shot.command,
            folder: &one_shot.folder,
            environment: &one_shot.environment,
            fence: one_shot.fence.as_ref(),
            mark: ATTEMPT_ID,
            group: None,
        }
    }
}

/// Runs the command to its end. Setting `stop` to true ends it early; dropping the future kills its tree at once.
pub async fn run(one_shot: &OneShot, stop: &mut watch::Receiver<bool>) -> OneShotResult {
    run_watched(one_shot, stop, None).await
}

/// The same, while its output can be watched.
pub async fn run_watched(
    one_shot: &OneShot,
    stop: &mut watch::Receiver<bool>,
    live: Option<&LiveOutput>,
) -> OneShotResult {
    let (mut process, ProcessPipes { stdin, stdout, stderr }) = match Process::start(one_shot) {
        Ok(started) => started,
        Err(error) => {
            return OneShotResult { end: OneShotEnd::NotStarted(error.to_string()), output: String::new() };
        }
    };
    let tree = process.tree().clone();
    let mut streams = OneShotOutput::new(stdout, stderr, one_shot.output_bytes_max, live);
    let cut_short = tokio::select! {
        () = cancelled(stop) => Some(OneShotEnd::Stopped),
        () = sleep(one_shot.timeout) => Some(OneShotEnd::TimedOut),
        excess = wait_for_excess_of(&tree, one_shot.memory_bytes_max) => Some(OneShotEnd::OutOfMemory(excess)),
        // Ignored here: `end` returns the status.
        _ = process.wait() => None,
        _ = async { tokio::join!(feed(stdin, one_shot.input.clone()), streams.read_forever()) } => None,
    };
    if let Some(OneShotEnd::OutOfMemory(_)) = &cut_short {
        // At once, since it would go on taking memory. What is left of it is reported below.
        let _ = tree.kill().await;
    }
    let ended = tokio::select! {
        ended = process.end(GRACE) => ended,
        () = streams.read_forever() => (None, Ok(())),
    };
    // A process that still holds a pipe cannot be found; its output is not the command's.
    let _ = timeout(DRAIN_PATIENCE, streams.read_to_end()).await;
    let mut output = streams.into_text();
    if let Err(leftover) = ended.1 {
        output.push_str(&leftover.to_string());
    }
    let exited = ended.0.map_or(OneShotEnd::Unseen, |status| OneShotEnd::Exited(ProcessExit::from(status)));
    OneShotResult { end: cut_short.unwrap_or(exited), output }
}

/// Both streams of a command, and the output kept.
struct OneShotOutput {
    stdout: PipeReader<ChildStdout>,
    stderr: PipeReader<ChildStderr>,
    from_stdout: LineSplitter,
    from_stderr: LineSplitter,
    kept: KeptOutput,
}

/// What is kept of the output, and where it is shown.
struct KeptOutput {
    text: TextExcerpt,
    live: Option<LiveOutput>,
}

impl OneShotOutput {
    fn new(stdout: ChildStdout, stderr: ChildStderr, bytes_max: usize, live: Option<&LiveOutput>) -> Self {
        Self {
            stdout: PipeReader::new(stdout),
            stderr: PipeReader::new(stderr),
            from_stdout: LineSplitter::default(),
            from_stderr: LineSplitter::default(),
            kept: KeptOutput { text: TextExcerpt::new(bytes_max), live: live.cloned() },
        }
    }

    /// Reads until both streams end.
    async fn read_to_end(&mut self) {
        let Self { stdout, stderr, from_stdout, from_stderr, kept } = self;
        while stdout.is_open() || stderr.is_open() {
            tokio::select! {
                chunk = stdout.next() => from_stdout.push(chunk, |line| kept.push(&line)),
                chunk = stderr.next() => from_stderr.push(chunk, |line| kept.push(&line)),
            }
        }
    }

    /// Reads until dropped.
    async fn read_forever(&mut self) {
        self.read_to_end().await;
        std::future::pending::<()>().await;
    }

    fn into_text(mut self) -> String {
        let kept = &mut self.kept;
        self.from_stdout.finish(|line| kept.push(&line));
        self.from_stderr.finish(|line| kept.push(&line));
        self.kept.text.into_text()
    }
}

impl KeptOutput {
    fn push(&mut self, line: &OutputLine) {
        self.text.push(&line.text);
        if !line.is_piece {
            self.text.push("\n");
        }
        if let Some(live) = &self.live {
            live.line(line);
        }
    }
}

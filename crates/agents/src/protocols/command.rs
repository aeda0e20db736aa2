//! The command agent: any program, driven by its standard streams and exit code.
//!
//! It reads the prompt on standard input and writes text and reports to standard output; the exit code says whether it
//! succeeded. The loop never blocks on a single source: it notices a cancel, a limit or the end of the process whatever
//! the agent, its children and the receiver of events do.

use std::process::ExitStatus;

use tokio::process::{ChildStderr, ChildStdout};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, timeout};
use tracing::debug;

use crate::driver::run_result::{EndReason, ProcessExit, RunResult};
use crate::driver::{AgentEvent, Driver, Launch, Pauses, RunClock, RunFuture, RunLimits};
use crate::process::pipe::{DRAIN_PATIENCE, PipeReader};
use crate::process::spawn::{Process, ProcessPipes, feed};
use crate::process::tree::LeftoverProcesses;
use crate::process::waiting::cancelled;
use crate::run::output_reader::OutputReader;
use crate::run::start::{StartedAgent, start};
use crate::run::summary;

pub struct CommandAgent {
    clock: RunClock,
    pauses: Pauses,
}

impl CommandAgent {
    pub fn new(clock: RunClock) -> Self {
        Self { clock, pauses: Pauses::never() }
    }

    /// The same for a run that may be paused.
    #[must_use]
    pub fn with_pauses(self, pauses: Pauses) -> Self {
        Self { pauses, ..self }
    }
}

impl Driver for CommandAgent {
    fn run(
        &self,
        launch: Launch,
        events: mpsc::Sender<AgentEvent>,
        cancel: watch::Receiver<bool>,
    ) -> RunFuture<'_> {
        Box::pin(run(self.clock.clone(), self.pauses.clone(), launch, events, cancel))
    }
}

async fn run(
    clock: RunClock,
    pauses: Pauses,
    launch: Launch,
    events: mpsc::Sender<AgentEvent>,
    mut cancel: watch::Receiver<bool>,
) -> RunResult {
    let StartedAgent { process, pipes, output } = match start(&launch, clock, events, &cancel).await {
        Ok(started) => started,
        Err(ended) => return *ended,
    };
    let ProcessPipes { stdin, stdout, stderr } = pipes;
    let mut run = CommandRun {
        process,
        output,
        stdout: PipeReader::new(stdout),
        stderr: PipeReader::new(stderr),
        limits: launch.limits,
        pauses,
    };
    let reason = run.run_until_over(feed(stdin, launch.prompt), &mut cancel).await;
    debug!(?reason, "ending the agent");
    run.end(reason).await
}

/// A running command agent.
struct CommandRun {
    process: Process,
    output: OutputReader,
    stdout: PipeReader<ChildStdout>,
    stderr: PipeReader<ChildStderr>,
    limits: RunLimits,
    pauses: Pauses,
}

impl CommandRun {
    /// Runs until something ends the attempt, and returns what did.
    async fn run_until_over(
        &mut self,
        feeding: impl Future<Output = ()>,
        cancel: &mut watch::Receiver<bool>,
    ) -> EndReason {
        let Self { process, output, stdout, stderr, limits, pauses } = self;
        let started = Instant::now();
        let mut last_sign = started;
        let mut is_fed = false;
        tokio::pin!(feeding);
        while output.transcript.over.is_none() {
            let is_reading = !output.events.is_full();
            tokio::select! {
                () = cancelled(cancel) => return EndReason::Cancelled,
                () = pauses.worked(started, limits.timeout) => return EndReason::TimedOut,
                // While Baton does not read, the agent is not idle.
                () = pauses.worked(last_sign, limits.idle_timeout), if is_reading => return EndReason::Idle,
                // Ignored here: `end` returns the status.
                _ = process.wait() => return EndReason::Finished,
                () = &mut feeding, if !is_fed => is_fed = true,
                chunk = stdout.next(), if is_reading => {
                    last_sign = Instant::now();
                    output.read_stdout(chunk);
                }
                chunk = stderr.next(), if is_reading => {
                    last_sign = Instant::now();
                    output.read_stderr(chunk);
                }
                () = output.events.send_next() => {
                    if !is_reading {
                        last_sign = Instant::now();
                    }
                }
            }
        }
        EndReason::Finished
    }

    /// Ends the whole tree, reads what is left in the pipes, and sums up.
    async fn end(mut self, reason: EndReason) -> RunResult {
        let (status, ended) = self.end_tree().await;
        self.drain().await;
        if let Err(leftover) = ended {
            self.output.add_problem(leftover.to_string());
        }
        let reason = self.output.transcript.end_reason(reason);
        let exit = status.map(ProcessExit::from);
        self.output.log_note(&match exit {
            Some(exit) => format!("the agent {exit} ({reason})"),
            None => format!("the agent's exit status is unknown ({reason})"),
        });
        let now = self.output.now();
        summary::from_reports(self.output.finish().await, reason, exit, now)
    }

    /// Keeps reading meanwhile: a full pipe would block a process that is about to exit.
    async fn end_tree(&mut self) -> (Option<ExitStatus>, Result<(), LeftoverProcesses>) {
        let Self { process, output, stdout, stderr, limits, .. } = self;
        let ending = process.end(limits.grace);
        tokio::pin!(ending);
        loop {
            tokio::select! {
                ended = &mut ending => return ended,
                chunk = stdout.next() => output.read_stdout(chunk),
                chunk = stderr.next() => output.read_stderr(chunk),
                () = output.events.send_next() => {}
            }
        }
    }

    async fn drain(&mut self) {
        let Self { output, stdout, stderr, .. } = self;
        let draining = async {
            while stdout.is_open() || stderr.is_open() {
                tokio::select! {
                    chunk = stdout.next() => output.read_stdout(chunk),
                    chunk = stderr.next() => output.read_stderr(chunk),
                }
            }
        };
        if timeout(DRAIN_PATIENCE, draining).await.is_err() {
            // Flush an unfinished last line.
            output.read_stdout(&[]);
            output.read_stderr(&[]);
            output.add_problem("a process outside the tree still holds the agent's output open".to_owned());
        }
    }
}

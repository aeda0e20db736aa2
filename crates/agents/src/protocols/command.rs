//! The command agent: any program, driven through its standard streams and its exit code.
//!
//! The prompt goes in on standard input; text and reports come out on standard output; the exit code says
//! whether it finished. While it runs, nothing here waits for one thing only: a cancel, a limit and the end of
//! the process are each seen whatever the agent, its children or the receiver of events are doing.

use std::process::ExitStatus;

use tokio::process::{ChildStderr, ChildStdout};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, timeout};

use crate::driver::run_result::{Ended, Exit, How};
use crate::driver::{Clock, Driver, Event, Launch, Limits, Running};
use crate::process::pipe::{DRAIN_PATIENCE, Pipe};
use crate::process::spawn::{Pipes, Process, feed};
use crate::process::tree::Leftover;
use crate::process::waiting::{after, cancelled};
use crate::run::output_reader::Hearing;
use crate::run::start::{Started, start};
use crate::run::summary;

pub struct CommandAgent {
    clock: Clock,
}

impl CommandAgent {
    pub fn new(clock: Clock) -> Self {
        Self { clock }
    }
}

impl Driver for CommandAgent {
    fn run(&self, launch: Launch, events: mpsc::Sender<Event>, cancel: watch::Receiver<bool>) -> Running<'_> {
        Box::pin(run(self.clock.clone(), launch, events, cancel))
    }
}

async fn run(
    clock: Clock,
    launch: Launch,
    events: mpsc::Sender<Event>,
    mut cancel: watch::Receiver<bool>,
) -> Ended {
    let Started { process, pipes, hearing } = match start(&launch, clock, events, &cancel).await {
        Ok(started) => started,
        Err(ended) => return *ended,
    };
    let Pipes { stdin, stdout, stderr } = pipes;
    let mut drive = Drive {
        process,
        hearing,
        stdout: Pipe::new(stdout),
        stderr: Pipe::new(stderr),
        limits: launch.limits,
    };
    let how = drive.until_over(feed(stdin, launch.prompt), &mut cancel).await;
    drive.end(how).await
}

/// One agent at work.
struct Drive {
    process: Process,
    hearing: Hearing,
    stdout: Pipe<ChildStdout>,
    stderr: Pipe<ChildStderr>,
    limits: Limits,
}

impl Drive {
    /// Goes on until something ends the attempt, and says what.
    async fn until_over(
        &mut self,
        feeding: impl Future<Output = ()>,
        cancel: &mut watch::Receiver<bool>,
    ) -> How {
        let Self { process, hearing, stdout, stderr, limits } = self;
        let started = Instant::now();
        let mut last_sign = started;
        let mut is_fed = false;
        tokio::pin!(feeding);
        while hearing.heard.over.is_none() {
            let is_reading = !hearing.outbox.is_full();
            tokio::select! {
                () = cancelled(cancel) => return How::Cancelled,
                () = after(started, limits.timeout) => return How::TimedOut,
                // While the agent is not read from, its silence is not its own.
                () = after(last_sign, limits.idle_timeout), if is_reading => return How::Idle,
                // However it went: the status is asked for again at the end.
                _ = process.wait() => return How::Finished,
                () = &mut feeding, if !is_fed => is_fed = true,
                chunk = stdout.next(), if is_reading => {
                    last_sign = Instant::now();
                    hearing.stdout(chunk);
                }
                chunk = stderr.next(), if is_reading => {
                    last_sign = Instant::now();
                    hearing.stderr(chunk);
                }
                () = hearing.outbox.pass_on() => {
                    if !is_reading {
                        last_sign = Instant::now();
                    }
                }
            }
        }
        How::Finished
    }

    /// Ends the whole tree, hears what is still in the pipes, and sums up.
    async fn end(mut self, how: How) -> Ended {
        let (status, ended) = self.end_tree().await;
        self.drain().await;
        if let Err(leftover) = ended {
            self.hearing.problem(leftover.to_string());
        }
        let how = self.hearing.heard.how(how);
        let exit = status.map(Exit::from);
        self.hearing.note(&match exit {
            Some(exit) => format!("the agent {exit} ({how:?})"),
            None => format!("the agent's end was not seen ({how:?})"),
        });
        summary::of_reports(self.hearing.finish().await, how, exit)
    }

    /// Something on its way out may have a last word, and must not be held up by a full pipe: it is heard on.
    async fn end_tree(&mut self) -> (Option<ExitStatus>, Result<(), Leftover>) {
        let Self { process, hearing, stdout, stderr, limits } = self;
        let ending = process.end(limits.grace);
        tokio::pin!(ending);
        loop {
            tokio::select! {
                ended = &mut ending => return ended,
                chunk = stdout.next() => hearing.stdout(chunk),
                chunk = stderr.next() => hearing.stderr(chunk),
                () = hearing.outbox.pass_on() => {}
            }
        }
    }

    async fn drain(&mut self) {
        let Self { hearing, stdout, stderr, .. } = self;
        let draining = async {
            while stdout.is_open() || stderr.is_open() {
                tokio::select! {
                    chunk = stdout.next() => hearing.stdout(chunk),
                    chunk = stderr.next() => hearing.stderr(chunk),
                }
            }
        };
        if timeout(DRAIN_PATIENCE, draining).await.is_err() {
            // Whatever was begun is the end of its stream now.
            hearing.stdout(&[]);
            hearing.stderr(&[]);
            hearing.problem("a process that could not be found keeps the agent's output open".to_owned());
        }
    }
}

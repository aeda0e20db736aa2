//! The loop around an agent that is talked with: its process, its streams, its limits, its end.
//!
//! Nothing here waits for one thing only. A cancel, a limit, an answer and the end of the process are each seen
//! whatever the agent or the receiver of events are doing. An agent is asked to stop, given a while to obey, and
//! then ended with everything it started.

use std::process::ExitStatus;

use tokio::io::AsyncWriteExt;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, timeout};

use crate::asking::asker::Reply;
use crate::asking::pending::AskId;
use crate::driver::run_result::{Ended, Exit, How};
use crate::driver::setup::Setup;
use crate::driver::{Event, Launch, Limits};
use crate::output::lines::{Line, Lines};
use crate::process::pipe::{DRAIN_PATIENCE, Pipe};
use crate::process::spawn::{Pipes, Process};
use crate::process::tree::Leftover;
use crate::process::waiting::{after, cancelled};
use crate::run::conversation::Conversation;
use crate::run::protocol::Tongue;
use crate::run::start::{Started, start};
use crate::run::summary;

/// A message of a protocol holds whole files at times; what is longer is not read.
const MESSAGE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Runs one agent that is talked with, from its start to its end.
pub async fn run(
    setup: Setup,
    mut launch: Launch,
    tongue: Box<dyn Tongue>,
    events: mpsc::Sender<Event>,
    mut cancel: watch::Receiver<bool>,
) -> Ended {
    for (name, value) in setup.preset.set_env {
        if launch.environment.get(name).is_none() {
            launch.environment.set(name, *value);
        }
    }
    let Started { process, pipes, hearing } = match start(&launch, setup.clock.clone(), events, &cancel).await
    {
        Ok(started) => started,
        Err(ended) => return *ended,
    };
    let Pipes { stdin, stdout, stderr } = pipes;
    let ends_on_close = setup.preset.ends_on_close;
    let mut talk = Talk {
        conversation: Conversation::new(hearing, setup, &launch.limits),
        process,
        tongue,
        stdin: Some(stdin),
        outgoing: Vec::new(),
        stdout: Pipe::new(stdout),
        lines: Lines::of_at_most(MESSAGE_BYTES_MAX),
        stderr: Pipe::new(stderr),
        limits: launch.limits,
        ends_on_close,
        has_exited: false,
        is_asked_to_stop: None,
    };
    talk.until_over(&mut cancel).await;
    talk.end().await
}

struct Talk {
    conversation: Conversation,
    process: Process,
    tongue: Box<dyn Tongue>,
    stdin: Option<ChildStdin>,
    /// What is still to be written to it.
    outgoing: Vec<u8>,
    stdout: Pipe<ChildStdout>,
    lines: Lines,
    stderr: Pipe<ChildStderr>,
    limits: Limits,
    ends_on_close: bool,
    has_exited: bool,
    /// Since when.
    is_asked_to_stop: Option<Instant>,
}

/// What happened next.
enum Happened {
    Stop(How),
    StoppedInVain,
    TooSlowToStart,
    Exited,
    Wrote(usize),
    Deaf,
    Heard,
    Answered(AskId, Reply),
    PassedOn,
}

impl Talk {
    /// Talks until the turn is over, the agent is gone, or it did not obey.
    async fn until_over(&mut self, cancel: &mut watch::Receiver<bool>) {
        let started = Instant::now();
        let mut last_sign = started;
        self.tongue.begin(&mut self.conversation);
        while !self.conversation.is_over() {
            if self.conversation.is_ending() && self.is_asked_to_stop.is_none() {
                self.is_asked_to_stop = Some(Instant::now());
                self.tongue.cancel(&mut self.conversation);
                continue;
            }
            match self.next(started, last_sign, cancel).await {
                Happened::Stop(how) => self.conversation.end_with(how),
                Happened::StoppedInVain => {
                    self.conversation.hearing.note("the agent was asked to stop and did not");
                    return;
                }
                Happened::TooSlowToStart => {
                    let waited = self.limits.startup_timeout;
                    let said = format!("the agent was not ready for its prompt within {waited:?}");
                    self.conversation.failed(said);
                }
                Happened::Exited => {
                    self.has_exited = true;
                    return;
                }
                Happened::Wrote(bytes) => drop(self.outgoing.drain(..bytes)),
                Happened::Deaf => self.stdin = None,
                Happened::Heard => last_sign = Instant::now(),
                Happened::Answered(ask, reply) => {
                    // While a human was asked, the agent's silence was not its own.
                    last_sign = Instant::now();
                    self.tongue.answered(ask, reply, &mut self.conversation);
                }
                Happened::PassedOn => {}
            }
        }
    }

    async fn next(
        &mut self,
        started: Instant,
        last_sign: Instant,
        cancel: &mut watch::Receiver<bool>,
    ) -> Happened {
        let is_ending = self.is_asked_to_stop.is_some();
        let is_reading = is_ending || !self.conversation.hearing.outbox.is_full();
        let is_idle = is_reading && !is_ending && !self.conversation.is_waiting();
        let is_starting = !self.conversation.record.is_prompted && !is_ending;
        let stop_asked = self.is_asked_to_stop.unwrap_or(started);
        self.outgoing.append(&mut self.conversation.take_outgoing());
        let Self { process, conversation, stdin, outgoing, stdout, stderr, lines, tongue, limits, .. } = self;
        if conversation.has_said_all() && outgoing.is_empty() {
            *stdin = None;
        }
        let has_words = stdin.is_some() && !outgoing.is_empty();
        tokio::select! {
            () = cancelled(cancel), if !is_ending => Happened::Stop(How::Cancelled),
            () = after(started, limits.timeout), if !is_ending => Happened::Stop(How::TimedOut),
            () = after(last_sign, limits.idle_timeout), if is_idle => Happened::Stop(How::Idle),
            () = after(started, Some(limits.startup_timeout)), if is_starting => Happened::TooSlowToStart,
            () = after(stop_asked, Some(limits.grace)), if is_ending => {
                Happened::StoppedInVain
            }
            _ = process.wait() => Happened::Exited,
            written = write(stdin, outgoing), if has_words => match written {
                Some(bytes) => Happened::Wrote(bytes),
                None => Happened::Deaf,
            },
            chunk = stdout.next(), if is_reading => {
                hear(lines, chunk, tongue.as_mut(), conversation);
                Happened::Heard
            }
            chunk = stderr.next(), if is_reading => {
                conversation.hearing.stderr(chunk);
                Happened::Heard
            }
            event = conversation.next() => match event {
                Some((ask, reply)) => Happened::Answered(ask, reply),
                None => Happened::PassedOn,
            },
        }
    }

    /// Ends the whole tree, hears what is still in the pipes, and sums up.
    async fn end(mut self) -> Ended {
        self.stdin = None;
        // One whose turn has not ended would go on with it.
        if self.ends_on_close && self.conversation.record.stop.is_some() && !self.has_exited {
            self.let_it_go().await;
        }
        let (status, ended) = self.end_tree().await;
        self.drain().await;
        let Self { mut conversation, .. } = self;
        conversation.end_of_text();
        if let Err(leftover) = ended {
            conversation.hearing.problem(leftover.to_string());
        }
        let exit = status.map(Exit::from);
        let how = conversation.record.how.unwrap_or(How::Finished);
        conversation.hearing.note(&match exit {
            Some(exit) => format!("the agent {exit} ({how:?})"),
            None => format!("the agent's end was not seen ({how:?})"),
        });
        let now = conversation.hearing.now();
        let Conversation { record, hearing, .. } = conversation;
        summary::of_dialogue(record, hearing.finish().await, how, exit, now)
    }

    /// An agent that has nothing left to do ends by itself, and writes down its session while it does.
    async fn let_it_go(&mut self) {
        let Self { process, conversation, stdout, stderr, lines, tongue, limits, .. } = self;
        let going = async {
            loop {
                tokio::select! {
                    _ = process.wait() => return,
                    chunk = stdout.next() => hear(lines, chunk, tongue.as_mut(), conversation),
                    chunk = stderr.next() => conversation.hearing.stderr(chunk),
                    () = conversation.hearing.outbox.pass_on() => {}
                }
            }
        };
        // One that stays is ended with the others.
        let _ = timeout(limits.grace, going).await;
    }

    async fn end_tree(&mut self) -> (Option<ExitStatus>, Result<(), Leftover>) {
        let Self { process, conversation, stdout, stderr, lines, tongue, limits, .. } = self;
        let ending = process.end(limits.grace);
        tokio::pin!(ending);
        loop {
            tokio::select! {
                ended = &mut ending => return ended,
                chunk = stdout.next() => hear(lines, chunk, tongue.as_mut(), conversation),
                chunk = stderr.next() => conversation.hearing.stderr(chunk),
                () = conversation.hearing.outbox.pass_on() => {}
            }
        }
    }

    async fn drain(&mut self) {
        let Self { conversation, stdout, stderr, lines, tongue, .. } = self;
        let draining = async {
            while stdout.is_open() || stderr.is_open() {
                tokio::select! {
                    chunk = stdout.next() => hear(lines, chunk, tongue.as_mut(), conversation),
                    chunk = stderr.next() => conversation.hearing.stderr(chunk),
                }
            }
        };
        if timeout(DRAIN_PATIENCE, draining).await.is_err() {
            conversation.hearing.stderr(&[]);
            let said = "a process that could not be found keeps the agent's output open";
            conversation.hearing.problem(said.to_owned());
        }
    }
}

/// Passes whole lines on to the tongue; an empty chunk is the end of the stream.
fn hear(lines: &mut Lines, chunk: &[u8], tongue: &mut dyn Tongue, conversation: &mut Conversation) {
    let mut take = |line: Line| {
        if conversation.is_over() {
            // It has said its last; what still comes is not part of the turn.
        } else if line.is_piece {
            tongue.too_long(&line.text, conversation);
        } else if !line.text.trim().is_empty() {
            tongue.line(&line.text, conversation);
        }
    };
    if chunk.is_empty() {
        lines.finish(&mut take);
    } else {
        lines.push(chunk, &mut take);
    }
}

/// How many bytes went out; None when the agent does not listen any more. Safe to drop half-way.
async fn write(stdin: &mut Option<ChildStdin>, bytes: &[u8]) -> Option<usize> {
    let written = stdin.as_mut()?.write(bytes).await.ok()?;
    (written > 0).then_some(written)
}

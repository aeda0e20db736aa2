//! The loop around an agent with a two-way protocol: its process, streams and limits.
//!
//! It never blocks on a single source: it notices a cancel, a limit, an answer or the end of the process whatever the
//! agent and the receiver of events do. An agent is asked to stop, given a grace period, and then ended with its tree.

use std::process::ExitStatus;

use tokio::io::AsyncWriteExt;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, timeout};

use crate::asking::asker::AskReply;
use crate::asking::pending::AskId;
use crate::driver::Pauses;
use crate::driver::message_feed::{MessageFeed, next_messages};
use crate::driver::run_result::{EndReason, ProcessExit, RunResult};
use crate::driver::setup::AgentSetup;
use crate::driver::{AgentEvent, Launch, RunLimits};
use crate::output::lines::{LineSplitter, OutputLine};
use crate::process::pipe::{DRAIN_PATIENCE, PipeReader};
use crate::process::spawn::{Process, ProcessPipes};
use crate::process::tree::LeftoverProcesses;
use crate::process::waiting::{after, cancelled};
use crate::run::conversation::Conversation;
use crate::run::protocol::Protocol;
use crate::run::start::{StartedAgent, start};
use crate::run::summary;

/// Messages may contain whole files; longer ones are dropped.
const MESSAGE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Runs one agent with a two-way protocol to its end.
pub(crate) async fn run(
    setup: AgentSetup,
    mut launch: Launch,
    protocol: Box<dyn Protocol>,
    events: mpsc::Sender<AgentEvent>,
    mut cancel: watch::Receiver<bool>,
) -> RunResult {
    for (name, value) in setup.preset.set_env {
        if launch.environment.get(name).is_none() {
            launch.environment.set(name, *value);
        }
    }
    let StartedAgent { process, pipes, output } =
        match start(&launch, setup.clock.clone(), events, &cancel).await {
            Ok(started) => started,
            Err(ended) => return *ended,
        };
    let ProcessPipes { stdin, stdout, stderr } = pipes;
    let ends_on_close = setup.preset.ends_on_close;
    let (messages, pauses) = (setup.messages.clone(), setup.pauses.clone());
    let mut dialogue = Dialogue {
        conversation: Conversation::new(output, setup, &launch.limits),
        process,
        protocol,
        stdin: Some(stdin),
        outgoing: Vec::new(),
        stdout: PipeReader::new(stdout),
        lines: LineSplitter::with_max_line(MESSAGE_BYTES_MAX),
        stderr: PipeReader::new(stderr),
        limits: launch.limits,
        ends_on_close,
        has_exited: false,
        stop_requested_at: None,
        messages,
        messages_taken: 0,
        pauses,
    };
    dialogue.run_until_over(&mut cancel).await;
    dialogue.end().await
}

struct Dialogue {
    conversation: Conversation,
    process: Process,
    protocol: Box<dyn Protocol>,
    stdin: Option<ChildStdin>,
    /// Bytes still to be written.
    outgoing: Vec<u8>,
    stdout: PipeReader<ChildStdout>,
    lines: LineSplitter,
    stderr: PipeReader<ChildStderr>,
    limits: RunLimits,
    ends_on_close: bool,
    has_exited: bool,
    /// When the agent was asked to stop.
    stop_requested_at: Option<Instant>,
    messages: MessageFeed,
    /// How many of them were taken from the feed.
    messages_taken: usize,
    /// Times that count against no limit.
    pauses: Pauses,
}

enum LoopEvent {
    Stop(EndReason),
    StopIgnored,
    StartupTimeout,
    Exited,
    Wrote(usize),
    InputClosed,
    Read,
    Answered(AskId, AskReply),
    Messages(Vec<String>),
    EventSent,
}

impl Dialogue {
    /// Runs until the turn is over, the agent is gone, or it ignored the request to stop.
    async fn run_until_over(&mut self, cancel: &mut watch::Receiver<bool>) {
        let started = Instant::now();
        let mut last_sign = started;
        self.protocol.begin(&mut self.conversation);
        while !self.conversation.is_over() {
            if self.conversation.is_ending() && self.stop_requested_at.is_none() {
                self.stop_requested_at = Some(Instant::now());
                self.protocol.cancel(&mut self.conversation);
                continue;
            }
            match self.next(started, last_sign, cancel).await {
                LoopEvent::Stop(reason) => self.conversation.end_with(reason),
                LoopEvent::StopIgnored => {
                    self.conversation.output.log_note("the agent ignored the request to stop");
                    return;
                }
                LoopEvent::StartupTimeout => {
                    let waited = self.limits.startup_timeout;
                    let said = format!("the agent was not ready within {waited:?}");
                    self.conversation.fail(said);
                }
                LoopEvent::Exited => {
                    self.has_exited = true;
                    return;
                }
                LoopEvent::Wrote(bytes) => drop(self.outgoing.drain(..bytes)),
                LoopEvent::InputClosed => self.stdin = None,
                LoopEvent::Read => last_sign = Instant::now(),
                LoopEvent::Answered(ask, reply) => {
                    // While a human was asked, the agent was not idle.
                    last_sign = Instant::now();
                    self.protocol.deliver_answer(ask, reply, &mut self.conversation);
                }
                LoopEvent::Messages(texts) => {
                    self.messages_taken += texts.len();
                    self.conversation.messages.extend(texts);
                }
                LoopEvent::EventSent => {}
            }
            if !self.conversation.messages.is_empty() && self.conversation.is_at_boundary() {
                self.protocol.steer(&mut self.conversation);
            }
        }
    }

    async fn next(
        &mut self,
        started: Instant,
        last_sign: Instant,
        cancel: &mut watch::Receiver<bool>,
    ) -> LoopEvent {
        let is_ending = self.stop_requested_at.is_some();
        let is_reading = is_ending || !self.conversation.output.events.is_full();
        let is_idle = is_reading && !is_ending && !self.conversation.is_waiting();
        let is_starting = !self.conversation.record.is_prompted && !is_ending;
        let stop_asked = self.stop_requested_at.unwrap_or(started);
        self.outgoing.append(&mut self.conversation.take_outgoing());
        let Self {
            process,
            conversation,
            stdin,
            outgoing,
            stdout,
            stderr,
            lines,
            protocol,
            limits,
            pauses,
            ..
        } = self;
        let (messages, taken) = (&mut self.messages, self.messages_taken);
        if conversation.is_input_closed() && outgoing.is_empty() {
            *stdin = None;
        }
        let has_words = stdin.is_some() && !outgoing.is_empty();
        tokio::select! {
            () = cancelled(cancel), if !is_ending => LoopEvent::Stop(EndReason::Cancelled),
            () = pauses.worked(started, limits.timeout), if !is_ending => LoopEvent::Stop(EndReason::TimedOut),
            () = pauses.worked(last_sign, limits.idle_timeout), if is_idle => LoopEvent::Stop(EndReason::Idle),
            () = pauses.worked(started, Some(limits.startup_timeout)), if is_starting => LoopEvent::StartupTimeout,
            () = after(stop_asked, Some(limits.grace)), if is_ending => {
                LoopEvent::StopIgnored
            }
            _ = process.wait() => LoopEvent::Exited,
            written = write(stdin, outgoing), if has_words => match written {
                Some(bytes) => LoopEvent::Wrote(bytes),
                None => LoopEvent::InputClosed,
            },
            chunk = stdout.next(), if is_reading => {
                hear(lines, chunk, protocol.as_mut(), conversation);
                LoopEvent::Read
            }
            chunk = stderr.next(), if is_reading => {
                conversation.output.read_stderr(chunk);
                LoopEvent::Read
            }
            texts = next_messages(messages, taken), if !is_ending => LoopEvent::Messages(texts),
            event = conversation.next() => match event {
                Some((ask, reply)) => LoopEvent::Answered(ask, reply),
                None => LoopEvent::EventSent,
            },
        }
    }

    /// Ends the whole tree, reads what is left in the pipes, and sums up.
    async fn end(mut self) -> RunResult {
        self.stdin = None;
        // An agent in the middle of a turn would continue it.
        if self.ends_on_close && self.conversation.record.stop_reason.is_some() && !self.has_exited {
            self.wait_for_exit().await;
        }
        let (status, ended) = self.end_tree().await;
        self.drain().await;
        let Self { mut conversation, .. } = self;
        conversation.end_message();
        if let Err(leftover) = ended {
            conversation.output.add_problem(leftover.to_string());
        }
        let exit = status.map(ProcessExit::from);
        let reason = conversation.record.reason.unwrap_or(EndReason::Finished);
        conversation.output.log_note(&match exit {
            Some(exit) => format!("the agent {exit} ({reason})"),
            None => format!("the agent's exit status is unknown ({reason})"),
        });
        let now = conversation.output.now();
        let Conversation { record, output, .. } = conversation;
        summary::from_dialogue(record, output.finish().await, reason, exit, now)
    }

    /// Lets an idle agent exit by itself, so that it can save its session.
    async fn wait_for_exit(&mut self) {
        let Self { process, conversation, stdout, stderr, lines, protocol, limits, .. } = self;
        let going = async {
            loop {
                tokio::select! {
                    _ = process.wait() => return,
                    chunk = stdout.next() => hear(lines, chunk, protocol.as_mut(), conversation),
                    chunk = stderr.next() => conversation.output.read_stderr(chunk),
                    () = conversation.output.events.send_next() => {}
                }
            }
        };
        // If it stays, it is ended with its tree.
        let _ = timeout(limits.grace, going).await;
    }

    async fn end_tree(&mut self) -> (Option<ExitStatus>, Result<(), LeftoverProcesses>) {
        let Self { process, conversation, stdout, stderr, lines, protocol, limits, .. } = self;
        let ending = process.end(limits.grace);
        tokio::pin!(ending);
        loop {
            tokio::select! {
                ended = &mut ending => return ended,
                chunk = stdout.next() => hear(lines, chunk, protocol.as_mut(), conversation),
                chunk = stderr.next() => conversation.output.read_stderr(chunk),
                () = conversation.output.events.send_next() => {}
            }
        }
    }

    async fn drain(&mut self) {
        let Self { conversation, stdout, stderr, lines, protocol, .. } = self;
        let draining = async {
            while stdout.is_open() || stderr.is_open() {
                tokio::select! {
                    chunk = stdout.next() => hear(lines, chunk, protocol.as_mut(), conversation),
                    chunk = stderr.next() => conversation.output.read_stderr(chunk),
                }
            }
        };
        if timeout(DRAIN_PATIENCE, draining).await.is_err() {
            conversation.output.read_stderr(&[]);
            let said = "a process outside the tree still holds the agent's output open";
            conversation.output.add_problem(said.to_owned());
        }
    }
}

/// Passes whole lines to the protocol; an empty chunk is the end of the stream.
fn hear(
    lines: &mut LineSplitter,
    chunk: &[u8],
    protocol: &mut dyn Protocol,
    conversation: &mut Conversation,
) {
    let mut take = |line: OutputLine| {
        if conversation.is_over() {
            // Not part of the turn any more.
        } else if line.is_piece {
            protocol.handle_oversized_line(&line.text, conversation);
        } else if !line.text.trim().is_empty() {
            protocol.handle_line(&line.text, conversation);
        }
    };
    if chunk.is_empty() {
        lines.finish(&mut take);
    } else {
        lines.push(chunk, &mut take);
    }
}

/// Bytes written; None when the agent has closed its input. Cancel-safe.
async fn write(stdin: &mut Option<ChildStdin>, bytes: &[u8]) -> Option<usize> {
    let written = stdin.as_mut()?.write(bytes).await.ok()?;
    (written > 0).then_some(written)
}

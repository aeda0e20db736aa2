//! Reads an agent's two streams into the log, the events and the transcript.

use baton_core::base::time::Timestamp;
use tracing::debug;

use crate::driver::{AgentEvent, RunClock};
use crate::output::activity::Activity;
use crate::output::lines::{LINE_BYTES_MAX, LineSplitter, OutputLine};
use crate::output::log::{AttemptLogWriter, LineSource};
use crate::report::usage::UsageKind;
use crate::report::{self, AgentReport, ParsedLine};
use crate::run::event_queue::EventQueue;
use crate::run::transcript::Transcript;

/// Text per event; a longer line is split.
pub(crate) const EVENT_TEXT_BYTES_MAX: usize = 8 * 1024;

pub(crate) struct OutputReader {
    pub transcript: Transcript,
    pub events: EventQueue,
    log: AttemptLogWriter,
    clock: RunClock,
    stdout: LineSplitter,
    stderr: LineSplitter,
}

impl OutputReader {
    pub(crate) fn new(
        transcript: Transcript,
        events: EventQueue,
        log: AttemptLogWriter,
        clock: RunClock,
    ) -> Self {
        Self {
            transcript,
            events,
            log,
            clock,
            stdout: LineSplitter::default(),
            stderr: LineSplitter::default(),
        }
    }

    /// Takes a chunk of standard output; an empty one is its end.
    pub(crate) fn read_stdout(&mut self, chunk: &[u8]) {
        let mut lines = std::mem::take(&mut self.stdout);
        let now = (self.clock)();
        let mut text = String::new();
        if chunk.is_empty() {
            lines.finish(|line| self.stdout_line(now, &line, &mut text));
        } else {
            lines.push(chunk, |line| self.stdout_line(now, &line, &mut text));
        }
        self.stdout = lines;
        self.send_text(&mut text, AgentEvent::Text);
        self.log.flush();
    }

    /// Takes a chunk of standard error; an empty one is its end.
    pub(crate) fn read_stderr(&mut self, chunk: &[u8]) {
        let mut lines = std::mem::take(&mut self.stderr);
        let now = (self.clock)();
        let mut text = String::new();
        let mut take = |line: OutputLine| {
            self.log.line(now, LineSource::Err, &line.text);
            self.transcript.push_stderr(&line.text);
            text.push_str(&line.text);
            text.push('\n');
        };
        if chunk.is_empty() {
            lines.finish(&mut take);
        } else {
            lines.push(chunk, &mut take);
        }
        self.stderr = lines;
        self.send_text(&mut text, AgentEvent::Stderr);
        self.log.flush();
    }

    /// Takes a line of the message of an agent whose standard output is a protocol.
    pub(crate) fn write_message(&mut self, line: &str) {
        self.log.line((self.clock)(), LineSource::Out, line);
        self.log.flush();
        self.send_text(&mut format!("{line}\n"), AgentEvent::Text);
    }

    /// Logs what such an agent reports.
    pub(crate) fn log_report(&mut self, line: &str) {
        self.log.line((self.clock)(), LineSource::Report, line);
        self.log.flush();
    }

    /// Logs what such an agent did, for people.
    pub(crate) fn log_activity(&mut self, activity: Activity) {
        // Without a key that is not text, writing cannot fail.
        if let Ok(line) = serde_json::to_string(&activity.shortened()) {
            self.log.line((self.clock)(), LineSource::Activity, &line);
            self.log.flush();
        }
    }

    pub(crate) fn now(&self) -> Timestamp {
        (self.clock)()
    }

    /// Logs a remark by Baton.
    pub(crate) fn log_note(&mut self, text: &str) {
        self.log.line((self.clock)(), LineSource::Baton, text);
        self.log.flush();
    }

    /// Logs a problem, emits it as an event, and keeps it for the result.
    pub(crate) fn add_problem(&mut self, text: String) {
        self.log_note(&text);
        self.events.push(AgentEvent::Problem(text.clone()));
        self.transcript.add_problem(text);
    }

    /// Closes the log and sends the last events.
    pub(crate) async fn finish(mut self) -> Transcript {
        if let Err(error) = self.log.finish() {
            let problem = format!("cannot write the log: {error}");
            self.events.push(AgentEvent::Problem(problem.clone()));
            self.transcript.add_problem(problem);
        }
        self.events.finish().await;
        self.transcript
    }

    fn stdout_line(&mut self, now: Timestamp, line: &OutputLine, text: &mut String) {
        if self.transcript.over.is_some() {
            // The agent is being ended; further output goes to the log only.
            self.log.line(now, LineSource::Out, &line.text);
            return;
        }
        let spoken = if line.is_piece {
            report::too_long(&line.text, LINE_BYTES_MAX).map_or(ParsedLine::Text, ParsedLine::Unreadable)
        } else {
            report::read(&line.text)
        };
        match spoken {
            ParsedLine::Report(report) => {
                self.log.line(now, LineSource::Report, &line.text);
                self.send_text(text, AgentEvent::Text);
                self.transcript.add_report(&report);
                self.send_report(report);
            }
            ParsedLine::Text => self.text_line(now, &line.text, text),
            ParsedLine::Unreadable(fault) => {
                self.text_line(now, &line.text, text);
                self.send_text(text, AgentEvent::Text);
                self.log.line(now, LineSource::Baton, &fault.to_string());
                self.events.push(AgentEvent::Problem(fault.to_string()));
                self.transcript.add_report_error(&fault);
            }
        }
    }

    fn text_line(&mut self, now: Timestamp, line: &str, text: &mut String) {
        self.log.line(now, LineSource::Out, line);
        self.transcript.push_text(line);
        text.push_str(line);
        text.push('\n');
    }

    fn send_report(&mut self, report: AgentReport) {
        debug!(turns = self.transcript.turns, report = report.kind(), "report");
        let event = match report {
            AgentReport::Turn => AgentEvent::Turn(self.transcript.turns),
            AgentReport::Usage(usage) => AgentEvent::Usage(UsageKind::PerTurn, usage),
            AgentReport::Ask(draft) => AgentEvent::Asked(draft),
            AgentReport::Outcome(outcome) => AgentEvent::Outcome(outcome),
            AgentReport::Plan(plan) => AgentEvent::Plan(plan),
            // Part of the result that follows.
            AgentReport::Result(_) => return,
            // Used after the run.
            AgentReport::Vagueness(_) | AgentReport::Discovered(_) => return,
        };
        self.events.push(event);
    }

    fn send_text(&mut self, text: &mut String, event: fn(String) -> AgentEvent) {
        let mut rest = text.as_str();
        while !rest.is_empty() {
            let (piece, later) = rest.split_at(rest.floor_char_boundary(EVENT_TEXT_BYTES_MAX));
            self.events.push(event(piece.to_owned()));
            rest = later;
        }
        text.clear();
    }
}

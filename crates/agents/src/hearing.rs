//! An agent's two streams on their way to where they belong: the log, the events, and what was heard.

use baton_core::base::time::Timestamp;

use crate::driver::{Clock, Event};
use crate::heard::Heard;
use crate::lines::{LINE_BYTES_MAX, Line, Lines};
use crate::log::{AttemptLog, Voice};
use crate::outbox::Outbox;
use crate::report::{self, Report, Spoken};
use crate::usage::UsageKind;

/// Text in one event. A long line comes in several.
pub const EVENT_TEXT_BYTES_MAX: usize = 8 * 1024;

pub struct Hearing {
    pub heard: Heard,
    pub outbox: Outbox,
    log: AttemptLog,
    clock: Clock,
    stdout: Lines,
    stderr: Lines,
}

impl Hearing {
    pub fn new(heard: Heard, outbox: Outbox, log: AttemptLog, clock: Clock) -> Self {
        Self { heard, outbox, log, clock, stdout: Lines::default(), stderr: Lines::default() }
    }

    /// Takes a piece of standard output; an empty one is its end.
    pub fn stdout(&mut self, chunk: &[u8]) {
        let mut lines = std::mem::take(&mut self.stdout);
        let now = (self.clock)();
        let mut text = String::new();
        if chunk.is_empty() {
            lines.finish(|line| self.stdout_line(now, &line, &mut text));
        } else {
            lines.push(chunk, |line| self.stdout_line(now, &line, &mut text));
        }
        self.stdout = lines;
        self.send_text(&mut text, Event::Text);
        self.log.flush();
    }

    /// Takes a piece of standard error; an empty one is its end.
    pub fn stderr(&mut self, chunk: &[u8]) {
        let mut lines = std::mem::take(&mut self.stderr);
        let now = (self.clock)();
        let mut text = String::new();
        let mut take = |line: Line| {
            self.log.line(now, Voice::Err, &line.text);
            self.heard.stderr(&line.text);
            text.push_str(&line.text);
            text.push('\n');
        };
        if chunk.is_empty() {
            lines.finish(&mut take);
        } else {
            lines.push(chunk, &mut take);
        }
        self.stderr = lines;
        self.send_text(&mut text, Event::Stderr);
        self.log.flush();
    }

    /// A line of the message of an agent whose standard output is a protocol.
    pub fn said(&mut self, line: &str) {
        self.log.line((self.clock)(), Voice::Out, line);
        self.log.flush();
        self.send_text(&mut format!("{line}\n"), Event::Text);
    }

    /// Something such an agent reported of what it does.
    pub fn reported(&mut self, line: &str) {
        self.log.line((self.clock)(), Voice::Report, line);
        self.log.flush();
    }

    pub fn now(&self) -> Timestamp {
        (self.clock)()
    }

    /// Something Baton has to say about the attempt.
    pub fn note(&mut self, text: &str) {
        self.log.line((self.clock)(), Voice::Baton, text);
        self.log.flush();
    }

    /// Something that is not as it should be.
    pub fn problem(&mut self, text: String) {
        self.note(&text);
        self.outbox.push(Event::Problem(text.clone()));
        self.heard.problem(text);
    }

    /// Closes the log and passes the last events on.
    pub async fn finish(mut self) -> Heard {
        if let Err(error) = self.log.finish() {
            let problem = format!("the log could not be written: {error}");
            self.outbox.push(Event::Problem(problem.clone()));
            self.heard.problem(problem);
        }
        self.outbox.finish().await;
        self.heard
    }

    fn stdout_line(&mut self, now: Timestamp, line: &Line, text: &mut String) {
        if self.heard.over.is_some() {
            // It has said its last; what still comes while it is being ended is for the log alone.
            self.log.line(now, Voice::Out, &line.text);
            return;
        }
        let spoken = if line.is_piece {
            report::too_long(&line.text, LINE_BYTES_MAX).map_or(Spoken::Text, Spoken::Unreadable)
        } else {
            report::read(&line.text)
        };
        match spoken {
            Spoken::Report(report) => {
                self.log.line(now, Voice::Report, &line.text);
                self.send_text(text, Event::Text);
                self.heard.report(&report);
                self.send_report(report);
            }
            Spoken::Text => self.text_line(now, &line.text, text),
            Spoken::Unreadable(fault) => {
                self.text_line(now, &line.text, text);
                self.send_text(text, Event::Text);
                self.log.line(now, Voice::Baton, &fault.to_string());
                self.outbox.push(Event::Problem(fault.to_string()));
                self.heard.fault(&fault);
            }
        }
    }

    fn text_line(&mut self, now: Timestamp, line: &str, text: &mut String) {
        self.log.line(now, Voice::Out, line);
        self.heard.text(line);
        text.push_str(line);
        text.push('\n');
    }

    fn send_report(&mut self, report: Report) {
        let event = match report {
            Report::Turn => Event::Turn(self.heard.turns),
            Report::Usage(usage) => Event::Usage(UsageKind::PerTurn, usage),
            Report::Ask(draft) => Event::Asked(draft),
            Report::Outcome(outcome) => Event::Outcome(outcome),
            Report::Plan(plan) => Event::Plan(plan),
            // A result is only what the agent says of the end; the end itself follows.
            Report::Result(_) => return,
            // These are looked at when the agent has ended.
            Report::Vagueness(_) | Report::Discovered(_) => return,
        };
        self.outbox.push(event);
    }

    fn send_text(&mut self, text: &mut String, event: fn(String) -> Event) {
        let mut rest = text.as_str();
        while !rest.is_empty() {
            let (piece, later) = rest.split_at(rest.floor_char_boundary(EVENT_TEXT_BYTES_MAX));
            self.outbox.push(event(piece.to_owned()));
            rest = later;
        }
        text.clear();
    }
}

//! One conversation with an agent: what goes out to it, what is made of what comes in, and who is being asked.
//!
//! Every tongue speaks into the same conversation, so counting turns, deciding about permissions, asking the
//! human and keeping the record are done once, here.

use baton_core::ask::question::QuestionDraft;

use crate::asker::Reply;
use crate::driver::{Event, Limits};
use crate::ended::How;
use crate::failure::{Failure, Symptoms};
use crate::hearing::Hearing;
use crate::permission::{Decision, PermissionRequest};
use crate::preset::Preset;
use crate::questions::{ASKING_MAX, AskId, Questions};
use crate::record::Record;
use crate::report::Usage;
use crate::setup::Setup;
use crate::stop_reason::StopReason;
use crate::tool_call::{ToolCall, ToolEnd};
use crate::usage::UsageKind;

/// As much of a last message as it takes to know an error.
const MESSAGE_BYTES_MAX: usize = 4 * 1024;
/// A begun line that is passed on before its end.
const LINE_BYTES_MAX: usize = 8 * 1024;

/// What the policy says of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ruling {
    Allow,
    Deny,
    /// The attempt is being ended; the request is void.
    Void,
    /// A human is asked; the answer comes by this id.
    Asked(AskId),
}

pub struct Conversation {
    pub hearing: Hearing,
    pub record: Record,
    setup: Setup,
    turns_max: u32,
    outgoing: Vec<u8>,
    has_said_all: bool,
    questions: Questions,
    /// The line of text the agent is in.
    line: String,
    /// The beginning of what it has said since its last tool call.
    message: String,
    is_over: bool,
}

impl Conversation {
    pub fn new(hearing: Hearing, setup: Setup, limits: &Limits) -> Self {
        Self {
            hearing,
            record: Record::default(),
            setup,
            turns_max: limits.turns_max.max(1),
            outgoing: Vec::new(),
            has_said_all: false,
            questions: Questions::new(limits.answer_wait),
            line: String::new(),
            message: String::new(),
            is_over: false,
        }
    }

    pub fn preset(&self) -> &Preset {
        &self.setup.preset
    }

    // --- Out ---

    /// Queues one line for the agent.
    pub fn send(&mut self, line: &str) {
        self.outgoing.extend_from_slice(line.as_bytes());
        self.outgoing.push(b'\n');
    }

    /// Closes the agent's standard input once everything is written.
    pub fn end_of_words(&mut self) {
        self.has_said_all = true;
    }

    pub fn has_said_all(&self) -> bool {
        self.has_said_all
    }

    /// What is to be written to the agent since the last time this was asked.
    pub fn take_outgoing(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.outgoing)
    }

    // --- In ---

    pub fn session(&mut self, id: &str) {
        if self.record.session.as_deref() != Some(id) {
            self.record.session = Some(id.to_owned());
            self.hearing.note(&format!("the agent's session is {id}"));
            self.hearing.outbox.push(Event::Session(id.to_owned()));
        }
    }

    pub fn prompted(&mut self) {
        self.record.is_prompted = true;
    }

    /// A piece of the agent's message.
    pub fn text(&mut self, text: &str) {
        if self.is_ending() {
            return;
        }
        self.hearing.heard.output.push(text);
        let room = MESSAGE_BYTES_MAX.saturating_sub(self.message.len());
        self.message.push_str(&text[..text.floor_char_boundary(room)]);
        for piece in text.split_inclusive('\n') {
            self.line.push_str(piece);
            if self.line.ends_with('\n') || self.line.len() > LINE_BYTES_MAX {
                self.pass_line_on();
            }
        }
    }

    /// The end of a message, whether or not it ended its line.
    pub fn end_of_text(&mut self) {
        if !self.line.is_empty() {
            self.hearing.heard.output.push("\n");
            self.pass_line_on();
        }
    }

    fn pass_line_on(&mut self) {
        let line = std::mem::take(&mut self.line);
        self.hearing.said(line.strip_suffix('\n').unwrap_or(&line));
    }

    /// A tool call was announced. One whose id had its end already is another call, or a model that gives all of
    /// its calls the same id would never come to its limit.
    pub fn tool_announced(&mut self, call: &ToolCall) {
        if self.record.is_new(&call.id) || self.record.is_ended(&call.id) {
            self.begin_tool(call);
        }
    }

    /// A tool call was heard of, in whatever way; the first time counts as a turn.
    pub fn tool(&mut self, call: &ToolCall) {
        if self.record.is_new(&call.id) {
            self.begin_tool(call);
        }
    }

    fn begin_tool(&mut self, call: &ToolCall) {
        if self.is_ending() {
            return;
        }
        if self.hearing.heard.turns >= self.turns_max {
            // This one is a turn too many. It is not counted, because it is not to happen.
            self.hearing.note(&format!("the limit of {} turns is reached", self.turns_max));
            self.end_with(How::TurnLimit);
            return;
        }
        self.end_of_text();
        self.message.clear();
        self.record.begun(&call.id);
        self.hearing.heard.turns += 1;
        let turn = self.hearing.heard.turns;
        self.hearing.reported(&format!("tool ({}): {}", call.kind.as_str(), call.title));
        self.hearing.outbox.push(Event::Turn(turn));
        self.hearing.outbox.push(Event::ToolStarted(call.clone()));
    }

    pub fn tool_ended(&mut self, id: &str, end: ToolEnd) {
        if self.record.ended(id, end == ToolEnd::Done) {
            if end == ToolEnd::Failed {
                self.hearing.reported("the tool failed");
            }
            self.hearing.outbox.push(Event::ToolEnded(id.to_owned(), end));
        }
    }

    /// Decides about a request, or asks somebody who may.
    pub fn permission(&mut self, request: &PermissionRequest) -> Ruling {
        self.tool(&request.call);
        if self.is_ending() {
            return Ruling::Void;
        }
        let decision = self.setup.permissions.decide(request);
        self.hearing.reported(&format!("permission for {}: {decision:?}", request.call.title));
        self.hearing.outbox.push(Event::PermissionAsked(request.clone(), decision));
        match decision {
            Decision::Allow => Ruling::Allow,
            Decision::Deny => {
                self.record.refused(&request.call.id, &request.call.title);
                Ruling::Deny
            }
            Decision::AskHuman => self.ask(request.question()).map_or(Ruling::Void, Ruling::Asked),
        }
    }

    /// Asks the human; None when it is too late for that, or too much.
    pub fn ask(&mut self, question: QuestionDraft) -> Option<AskId> {
        if self.is_ending() {
            return None;
        }
        let id = self.questions.ask(self.setup.asker.as_ref(), question.clone());
        if id.is_none() {
            self.hearing.problem(format!("the agent asks more than {ASKING_MAX} things at once"));
            return None;
        }
        self.hearing.note(&format!("asked: {}", question.text));
        self.hearing.outbox.push(Event::Question(question));
        id
    }

    /// The next answer, or none when an event was passed on. Safe to drop half-way.
    pub async fn next(&mut self) -> Option<(AskId, Reply)> {
        let (id, question, reply) = tokio::select! {
            answered = self.questions.next() => answered,
            () = self.hearing.outbox.pass_on() => return None,
        };
        match &reply {
            Reply::Answer(text) => self.hearing.note(&format!("answered: {text}")),
            Reply::Released => self.end_with_question(question),
        }
        Some((id, reply))
    }

    pub fn is_waiting(&self) -> bool {
        !self.questions.is_empty()
    }

    pub fn tokens(&mut self, kind: UsageKind, input_tokens: u64, output_tokens: u64) {
        self.record.tally.tokens(kind, input_tokens, output_tokens);
        self.hearing
            .outbox
            .push(Event::Usage(kind, Usage { input_tokens, output_tokens, cost_micro_usd: 0 }));
    }

    pub fn cost(&mut self, kind: UsageKind, cost_micro_usd: u64) {
        self.record.tally.cost(kind, cost_micro_usd);
        self.hearing.outbox.push(Event::Usage(kind, Usage { cost_micro_usd, ..Usage::default() }));
    }

    // --- The end ---

    /// The agent's turn is over, as it says itself.
    pub fn stopped(&mut self, mut reason: StopReason) {
        self.end_of_text();
        if reason == StopReason::EndTurn
            && let Some(error) = self.error_told_as_text()
        {
            self.record.error = Some(error);
            reason = StopReason::Error;
        }
        self.hearing.note(&format!("the turn ended ({reason})"));
        self.hearing.outbox.push(Event::Stopped(reason.clone()));
        self.record.stop = Some(reason);
        self.is_over = true;
    }

    /// Some agents tell what their provider answered as if they said it themselves, and end their turn in peace.
    fn error_told_as_text(&self) -> Option<String> {
        let begins =
            |line: &str| self.preset().error_begins.iter().any(|beginning| line.starts_with(beginning));
        let lines = self.message.lines().map(str::trim).skip_while(|line| !begins(line));
        let said = lines.collect::<Vec<_>>().join("\n");
        let symptoms = Symptoms { error: &said, was_prompted: true, ..Symptoms::default() };
        Failure::classify(&symptoms, self.hearing.now()).map(|_| said)
    }

    /// The turn, or what was to become one, failed.
    pub fn failed(&mut self, error: String) {
        self.hearing.note(&error);
        self.record.error = Some(error);
        if self.record.is_prompted {
            self.stopped(StopReason::Error);
        } else {
            self.record.how.get_or_insert(How::FailedToStart);
            self.is_over = true;
        }
    }

    /// Nothing more is to be said; the process is ended.
    pub fn over(&mut self) {
        self.is_over = true;
    }

    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Something other than the agent ends the attempt.
    pub fn end_with(&mut self, how: How) {
        self.record.how.get_or_insert(how);
    }

    fn end_with_question(&mut self, question: QuestionDraft) {
        if self.is_ending() {
            return;
        }
        self.hearing.outbox.push(Event::Asked(question.clone()));
        self.record.asked = Some(question);
        self.end_with(How::Finished);
    }

    pub fn is_ending(&self) -> bool {
        self.record.how.is_some()
    }
}

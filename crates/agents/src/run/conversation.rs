//! The state of a conversation with an agent, independent of the protocol.
//!
//! Counting turns, deciding about permissions, asking the human and keeping the record happen here, once for all
//! protocols.

use baton_core::ask::question::QuestionDraft;
use tracing::{debug, info};

use crate::asking::asker::AskReply;
use crate::asking::pending::{ASKING_MAX, AskId, PendingQuestions};
use crate::asking::permission::{PermissionDecision, PermissionRequest};
use crate::driver::run_result::EndReason;
use crate::driver::setup::AgentSetup;
use crate::driver::{AgentEvent, RunLimits};
use crate::failure::{AgentFailure, Symptoms};
use crate::output::activity::Activity;
use crate::presets::preset::Preset;
use crate::report::Usage;
use crate::report::stop_reason::StopReason;
use crate::report::tool_call::{ToolCall, ToolOutcome};
use crate::report::usage::UsageKind;
use crate::run::open_calls::OpenCalls;
use crate::run::output_reader::OutputReader;
use crate::run::record::RunRecord;

/// How much of the last message is checked for errors.
const MESSAGE_BYTES_MAX: usize = 4 * 1024;
/// Longest thought that is kept.
const THOUGHT_BYTES_MAX: usize = 16 * 1024;
/// A longer line is emitted before it ends.
const LINE_BYTES_MAX: usize = 8 * 1024;

/// What becomes of a permission request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PermissionRuling {
    Allow,
    Deny,
    /// The attempt is being ended.
    Void,
    /// A human is asked; the answer carries this id.
    Asked(AskId),
}

pub(crate) struct Conversation {
    pub output: OutputReader,
    pub record: RunRecord,
    setup: AgentSetup,
    turns_max: u32,
    outgoing: Vec<u8>,
    is_input_closed: bool,
    questions: PendingQuestions,
    /// What people said and the agent has not got yet.
    pub messages: Vec<String>,
    /// The unfinished line of the agent's message.
    line: String,
    /// The beginning of its message since the last tool call.
    message: String,
    /// Its thoughts since it last did something.
    thought: String,
    calls: OpenCalls,
    is_over: bool,
}

impl Conversation {
    pub(crate) fn new(output: OutputReader, setup: AgentSetup, limits: &RunLimits) -> Self {
        Self {
            output,
            record: RunRecord::default(),
            setup,
            turns_max: limits.turns_max.max(1),
            outgoing: Vec::new(),
            is_input_closed: false,
            questions: PendingQuestions::new(limits.answer_wait),
            messages: Vec::new(),
            line: String::new(),
            message: String::new(),
            thought: String::new(),
            calls: OpenCalls::default(),
            is_over: false,
        }
    }

    pub(crate) fn preset(&self) -> &Preset {
        &self.setup.preset
    }

    // --- To the agent ---

    /// Queues one line for the agent.
    pub(crate) fn send(&mut self, line: &str) {
        self.outgoing.extend_from_slice(line.as_bytes());
        self.outgoing.push(b'\n');
    }

    /// Closes the agent's standard input once everything is written.
    pub(crate) fn close_input(&mut self) {
        self.is_input_closed = true;
    }

    pub(crate) fn is_input_closed(&self) -> bool {
        self.is_input_closed
    }

    /// Takes what is queued for the agent.
    pub(crate) fn take_outgoing(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.outgoing)
    }

    // --- From the agent ---

    pub(crate) fn set_session(&mut self, id: &str) {
        if self.record.session.as_deref() != Some(id) {
            self.record.session = Some(id.to_owned());
            self.output.log_note(&format!("the agent's session is {id}"));
            self.output.events.push(AgentEvent::Session(id.to_owned()));
        }
    }

    pub(crate) fn mark_prompted(&mut self) {
        self.record.is_prompted = true;
    }

    /// Adds text to the agent's message.
    pub(crate) fn push_text(&mut self, text: &str) {
        if self.is_ending() {
            return;
        }
        self.end_thought();
        self.output.transcript.output.push(text);
        let room = MESSAGE_BYTES_MAX.saturating_sub(self.message.len());
        self.message.push_str(&text[..text.floor_char_boundary(room)]);
        for piece in text.split_inclusive('\n') {
            self.line.push_str(piece);
            if self.line.ends_with('\n') || self.line.len() > LINE_BYTES_MAX {
                self.flush_line();
            }
        }
    }

    /// Ends the message, and its last line if necessary.
    pub(crate) fn end_message(&mut self) {
        if !self.line.is_empty() {
            self.output.transcript.output.push("\n");
            self.flush_line();
        }
    }

    fn flush_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        self.output.write_message(line.strip_suffix('\n').unwrap_or(&line));
    }

    /// Counts an announced tool call. An id that has ended counts as a new call: a model that reuses one id would never reach
    /// its limit otherwise.
    pub(crate) fn announce_tool(&mut self, call: &ToolCall) {
        if self.record.is_new(&call.id) || self.record.is_ended(&call.id) {
            self.begin_tool(call);
        }
    }

    /// Counts a tool call when it is mentioned for the first time.
    pub(crate) fn note_tool(&mut self, call: &ToolCall) {
        if self.record.is_new(&call.id) {
            self.begin_tool(call);
        }
    }

    fn begin_tool(&mut self, call: &ToolCall) {
        if self.is_ending() {
            return;
        }
        if self.output.transcript.turns >= self.turns_max {
            // One turn too many. Not counted, because it will not happen.
            self.output.log_note(&format!("the turn limit of {} is reached", self.turns_max));
            self.end_with(EndReason::TurnLimit);
            return;
        }
        self.end_thought();
        self.end_message();
        self.message.clear();
        self.record.begin_call(&call.id);
        self.calls.begin(call);
        self.output.transcript.turns += 1;
        let turn = self.output.transcript.turns;
        // Without the title, which may be a command with secrets in it.
        debug!(turn, call = call.id, kind = call.kind.as_str(), "tool call");
        self.output.log_report(&format!("tool ({}): {}", call.kind.as_str(), call.title));
        self.output.log_activity(Activity::Tool {
            id: call.id.clone(),
            title: call.title.clone(),
            kind: call.kind.as_str().to_owned(),
        });
        self.output.events.push(AgentEvent::Turn(turn));
        self.output.events.push(AgentEvent::ToolStarted(call.clone()));
    }

    /// Shows what the agent did besides calling tools, or with one.
    pub(crate) fn show(&mut self, activity: Activity) {
        if !self.is_ending() {
            self.end_thought();
            self.calls.note(&activity);
            self.output.log_activity(activity);
        }
    }

    /// Adds to the agent's thoughts.
    pub(crate) fn push_thought(&mut self, text: &str) {
        let room = THOUGHT_BYTES_MAX.saturating_sub(self.thought.len());
        self.thought.push_str(&text[..text.floor_char_boundary(room)]);
    }

    fn end_thought(&mut self) {
        let text = std::mem::take(&mut self.thought);
        if !text.trim().is_empty() {
            self.output.log_activity(Activity::Thought { text });
        }
    }

    pub(crate) fn end_tool(&mut self, id: &str, end: ToolOutcome) {
        if self.record.end_call(id, end == ToolOutcome::Done) {
            debug!(call = id, outcome = ?end, "tool call ended");
            if end == ToolOutcome::Failed {
                self.output.log_report("the tool failed");
            }
            self.output.log_activity(Activity::ToolEnd { id: id.to_owned(), ok: end == ToolOutcome::Done });
            let ended = self.calls.end(id, end);
            self.output.events.push(AgentEvent::ToolEnded(ended));
        }
    }

    /// Decides about a request, or asks the human.
    pub(crate) fn request_permission(&mut self, request: &PermissionRequest) -> PermissionRuling {
        self.note_tool(&request.call);
        if self.is_ending() {
            return PermissionRuling::Void;
        }
        let decision = self.setup.permissions.decide(request);
        debug!(call = request.call.id, kind = request.call.kind.as_str(), ?decision, "permission request");
        self.output.log_report(&format!("permission for {}: {decision:?}", request.call.title));
        self.output.events.push(AgentEvent::PermissionAsked(request.clone(), decision));
        match decision {
            PermissionDecision::Allow => PermissionRuling::Allow,
            PermissionDecision::Deny => {
                self.record.refuse_call(&request.call.id, &request.call.title);
                PermissionRuling::Deny
            }
            PermissionDecision::AskHuman => {
                self.ask(request.question()).map_or(PermissionRuling::Void, PermissionRuling::Asked)
            }
        }
    }

    /// Asks the human; None when the attempt is ending or too many questions are open.
    pub(crate) fn ask(&mut self, question: QuestionDraft) -> Option<AskId> {
        if self.is_ending() {
            return None;
        }
        let id = self.questions.ask(self.setup.asker.as_ref(), question.clone());
        if id.is_none() {
            self.output.add_problem(format!("the agent has more than {ASKING_MAX} open questions"));
            return None;
        }
        self.output.log_note(&format!("asked: {}", question.text));
        self.output.events.push(AgentEvent::Question(question));
        id
    }

    /// The next answer, or None when an event was sent. Cancel-safe.
    pub(crate) async fn next(&mut self) -> Option<(AskId, AskReply)> {
        let (id, question, reply) = tokio::select! {
            answered = self.questions.next() => answered,
            () = self.output.events.send_next() => return None,
        };
        match &reply {
            AskReply::Answer(text) => self.output.log_note(&format!("answered: {text}")),
            AskReply::Released => self.end_with_question(question),
        }
        Some((id, reply))
    }

    pub(crate) fn is_waiting(&self) -> bool {
        !self.questions.is_empty()
    }

    pub(crate) fn add_tokens(&mut self, kind: UsageKind, input_tokens: u64, output_tokens: u64) {
        self.record.totals.add_tokens(kind, input_tokens, output_tokens);
        self.output
            .events
            .push(AgentEvent::Usage(kind, Usage { input_tokens, output_tokens, cost_micro_usd: 0 }));
    }

    pub(crate) fn add_cost(&mut self, kind: UsageKind, cost_micro_usd: u64) {
        self.record.totals.add_cost(kind, cost_micro_usd);
        self.output.events.push(AgentEvent::Usage(kind, Usage { cost_micro_usd, ..Usage::default() }));
    }

    // --- The end ---

    /// The agent says that its turn is over.
    pub(crate) fn end_turn(&mut self, mut reason: StopReason) {
        self.end_thought();
        self.end_message();
        if reason == StopReason::EndTurn
            && let Some(error) = self.error_in_message()
        {
            self.record.error = Some(error);
            reason = StopReason::Error;
        }
        debug!(%reason, "turn ended");
        self.output.log_note(&format!("the turn ended ({reason})"));
        self.output.events.push(AgentEvent::Stopped(reason.clone()));
        self.record.stop_reason = Some(reason);
        self.is_over = true;
    }

    /// Some agents print an error of their provider as their message and end the turn normally.
    fn error_in_message(&self) -> Option<String> {
        let begins =
            |line: &str| self.preset().error_begins.iter().any(|beginning| line.starts_with(beginning));
        let lines = self.message.lines().map(str::trim).skip_while(|line| !begins(line));
        let said = lines.collect::<Vec<_>>().join("\n");
        let symptoms = Symptoms { error: &said, was_prompted: true, ..Symptoms::default() };
        AgentFailure::classify(&symptoms, self.output.now()).map(|_| said)
    }

    /// The turn failed, or could not begin.
    pub(crate) fn fail(&mut self, error: String) {
        self.output.log_note(&error);
        self.record.error = Some(error);
        if self.record.is_prompted {
            self.end_turn(StopReason::Error);
        } else {
            self.record.reason.get_or_insert(EndReason::FailedToStart);
            self.is_over = true;
        }
    }

    /// Ends the conversation; the process is ended next.
    pub(crate) fn finish(&mut self) {
        self.is_over = true;
    }

    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Ends the attempt for a reason other than the agent.
    pub(crate) fn end_with(&mut self, reason: EndReason) {
        if self.record.reason.is_none() {
            info!(?reason, "ending the agent");
        }
        self.record.reason.get_or_insert(reason);
    }

    fn end_with_question(&mut self, question: QuestionDraft) {
        if self.is_ending() {
            return;
        }
        self.output.events.push(AgentEvent::Asked(question.clone()));
        self.record.asked = Some(question);
        self.end_with(EndReason::Finished);
    }

    pub(crate) fn is_ending(&self) -> bool {
        self.record.reason.is_some()
    }
}

//! Baton's requests to the agent, one after the other: initialize → load or new → mode and model → prompt.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::asking::asker::AskReply;
use crate::asking::pending::AskId;
use crate::protocols::acp::messages::{InitializeResult, SessionUpdate, VERSION};
use crate::protocols::acp::opening::{Opening, greeting};
use crate::protocols::acp::requests::AgentRequests;
use crate::protocols::acp::updates;
use crate::protocols::acp::wire::{self, RpcError, RpcMessage};
use crate::report::stop_reason::StopReason;
use crate::run::conversation::Conversation;
use crate::run::protocol::Protocol;

/// How much of an oversized line the problem quotes.
const QUOTED_BYTES_MAX: usize = 200;

pub(super) struct AcpProtocol {
    opening: Opening,
    pub(super) agent: InitializeResult,
    session: String,
    request_count: u64,
    /// The request in flight; there is never more than one.
    awaited: Option<(u64, SessionStep)>,
    settings: VecDeque<SessionSetting>,
    pub(super) requests: AgentRequests,
    /// How often remarks of humans about refusals were sent.
    pub(super) remarks: u32,
    /// The turn is being cancelled for a message.
    pub(super) is_interrupted: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum SessionStep {
    Initialize,
    Load,
    New,
    /// What is being set, for the error message.
    Set(String),
    Prompt,
}

/// The categories and ids by which agents offer the choice of a model, and of how much it thinks.
const MODEL_OPTIONS: &[&str] = &["model"];
const EFFORT_OPTIONS: &[&str] = &["thought_level", "effort", "reasoning_effort", "thinking"];

/// The id of the option of one of these categories or ids.
fn option_of<'a>(session: &'a Value, names: &[&str]) -> Option<&'a str> {
    let is_named = |field: &Value| field.as_str().is_some_and(|text| names.contains(&text));
    let mut options = session["configOptions"].as_array().into_iter().flatten();
    let found = options.find(|option| is_named(&option["category"]) || is_named(&option["id"]))?;
    found["id"].as_str()
}

enum SessionSetting {
    Mode(String),
    Option(String, String),
}

impl AcpProtocol {
    pub(super) fn new(opening: Opening) -> Self {
        Self {
            opening,
            agent: InitializeResult::default(),
            session: String::new(),
            request_count: 0,
            awaited: None,
            settings: VecDeque::new(),
            requests: AgentRequests::default(),
            remarks: 0,
            is_interrupted: false,
        }
    }

    fn request(
        &mut self,
        method: &str,
        params: &impl Serialize,
        step: SessionStep,
        conversation: &mut Conversation,
    ) {
        self.request_count += 1;
        self.awaited = Some((self.request_count, step));
        conversation.send(&wire::request(self.request_count, method, params));
    }

    fn is_prompting(&self) -> bool {
        matches!(self.awaited, Some((_, SessionStep::Prompt)))
    }

    // --- Responses ---

    fn answer(&mut self, id: u64, result: Result<Value, RpcError>, conversation: &mut Conversation) {
        let Some((_, step)) = self.awaited.take_if(|(awaited, _)| *awaited == id) else {
            conversation.output.log_note(&format!("unexpected response to request {id}"));
            return;
        };
        match (step, result) {
            (SessionStep::Initialize, Ok(agent)) => self.parse_greeting(agent, conversation),
            (SessionStep::Load, Ok(session)) => {
                let loaded = self.opening.resume.as_ref().map(|resume| resume.agent_session.clone());
                self.opened(loaded.unwrap_or_default(), &session, conversation);
            }
            (SessionStep::Load, Err(error)) => {
                self.restart_session(
                    &format!("the agent cannot resume its earlier session: {error}"),
                    conversation,
                );
            }
            (SessionStep::New, Ok(session)) => match session["sessionId"].as_str() {
                Some(id) => self.opened(id.to_owned(), &session, conversation),
                None => conversation.fail("the agent opened a session without an id".to_owned()),
            },
            (SessionStep::Set(_), Ok(_)) => self.set_next(conversation),
            (SessionStep::Set(what), Err(error)) => {
                conversation.output.add_problem(format!("the agent did not accept {what}: {error}"));
                self.set_next(conversation);
            }
            (SessionStep::Prompt, Ok(response)) => self.turn_ended(&response, conversation),
            // A cancelled turn may end with an error.
            (SessionStep::Prompt, Err(_)) if conversation.is_ending() => {
                conversation.end_turn(StopReason::Cancelled);
            }
            (SessionStep::Prompt, Err(error)) => self.turn_failed(&error, conversation),
            (SessionStep::Initialize | SessionStep::New, Err(error)) => {
                conversation.fail(format!("{error}{}", self.login_methods(&error)));
            }
        }
    }

    fn parse_greeting(&mut self, agent: Value, conversation: &mut Conversation) {
        let agent: InitializeResult = match serde_json::from_value(agent) {
            Ok(agent) => agent,
            Err(error) => return conversation.fail(format!("cannot parse the agent's handshake: {error}")),
        };
        if agent.protocol_version != VERSION {
            let version = agent.protocol_version;
            return conversation
                .fail(format!("the agent uses protocol version {version}; Baton supports {VERSION}"));
        }
        if let Some(info) = &agent.info {
            conversation.output.log_note(&format!("the agent is {} {}", info.name, info.version));
        }
        self.agent = agent;
        match &self.opening.resume {
            Some(resume) if self.agent.can.load_session => {
                let request = self.opening.session(Some(&resume.agent_session), &self.agent);
                self.request("session/load", &request, SessionStep::Load, conversation);
            }
            Some(_) => self.restart_session("the agent cannot load earlier sessions", conversation),
            None => self.open(conversation),
        }
    }

    fn open(&mut self, conversation: &mut Conversation) {
        let request = self.opening.session(None, &self.agent);
        self.request("session/new", &request, SessionStep::New, conversation);
    }

    /// Starts a new session with the conversation of the old one in its prompt.
    fn restart_session(&mut self, why: &str, conversation: &mut Conversation) {
        conversation
            .output
            .add_problem(format!("{why}; starting a new session with the conversation so far"));
        if let Some(resume) = self.opening.resume.take() {
            self.opening.prompt = resume.prompt_without;
        }
        self.open(conversation);
    }

    fn opened(&mut self, id: String, session: &Value, conversation: &mut Conversation) {
        conversation.set_session(&id);
        self.session = id;
        if let Some(mode) = self.opening.mode {
            let has_mode =
                |modes: &Value| modes.as_array().is_some_and(|all| all.iter().any(|one| one["id"] == mode));
            if has_mode(&session["modes"]["availableModes"]) {
                self.settings.push_back(SessionSetting::Mode(mode.to_owned()));
            } else {
                conversation.output.add_problem(format!("the agent has no mode \"{mode}\""));
            }
        }
        let chosen = [
            (self.opening.model.clone(), "model", MODEL_OPTIONS),
            (self.opening.effort.clone(), "effort", EFFORT_OPTIONS),
        ];
        for (value, what, names) in chosen {
            let Some(value) = value else { continue };
            match option_of(session, names) {
                Some(option) => self.settings.push_back(SessionSetting::Option(option.to_owned(), value)),
                None => {
                    conversation
                        .output
                        .add_problem(format!("the agent has no setting for the {what} {value}"));
                }
            }
        }
        self.set_next(conversation);
    }

    /// Applies one setting after the other, then sends the prompt.
    fn set_next(&mut self, conversation: &mut Conversation) {
        match self.settings.pop_front() {
            Some(SessionSetting::Mode(mode)) => {
                let request = json!({"sessionId": self.session, "modeId": mode});
                self.request(
                    "session/set_mode",
                    &request,
                    SessionStep::Set(format!("the mode {mode}")),
                    conversation,
                );
            }
            Some(SessionSetting::Option(id, value)) => {
                let request = json!({"sessionId": self.session, "configId": id, "value": value});
                let step = SessionStep::Set(format!("the {id} {value}"));
                self.request("session/set_config_option", &request, step, conversation);
            }
            None => {
                let prompt = std::mem::take(&mut self.opening.prompt);
                self.prompt(&prompt, conversation);
            }
        }
    }

    pub(super) fn prompt(&mut self, text: &str, conversation: &mut Conversation) {
        let request = json!({"sessionId": self.session, "prompt": [{"type": "text", "text": text}]});
        conversation.mark_prompted();
        self.request("session/prompt", &request, SessionStep::Prompt, conversation);
    }
}

impl Protocol for AcpProtocol {
    fn begin(&mut self, conversation: &mut Conversation) {
        self.request("initialize", &greeting(), SessionStep::Initialize, conversation);
    }

    fn handle_line(&mut self, line: &str, conversation: &mut Conversation) {
        match wire::read(line) {
            Some(RpcMessage::Answer { id, result }) => self.answer(id, result, conversation),
            Some(RpcMessage::Request { id, method, params }) => {
                self.requests.take(id, &method, params, conversation);
            }
            // Before the prompt these replay an earlier session.
            Some(RpcMessage::Notification { method, params }) if method == "session/update" => {
                if self.is_prompting() {
                    // Unknown kinds of updates are ignored.
                    if let Ok(update) = SessionUpdate::deserialize(&params["update"]) {
                        updates::take(update, conversation);
                    }
                }
            }
            Some(RpcMessage::Notification { .. }) => {}
            None => conversation.output.log_report(&format!("not a message: {line}")),
        }
    }

    fn handle_oversized_line(&mut self, beginning: &str, conversation: &mut Conversation) {
        let beginning = &beginning[..beginning.floor_char_boundary(QUOTED_BYTES_MAX)];
        conversation.output.add_problem(format!("dropped an oversized message of the agent: {beginning}"));
    }

    fn deliver_answer(&mut self, ask: AskId, reply: AskReply, conversation: &mut Conversation) {
        match reply {
            AskReply::Answer(text) => self.requests.deliver_answer(ask, &text, conversation),
            // The attempt ends with this question; cancelling the turn answers the request.
            AskReply::Released => {}
        }
    }

    /// The message follows as the next prompt of the session.
    fn steer(&mut self, conversation: &mut Conversation) {
        if self.is_prompting() && !std::mem::replace(&mut self.is_interrupted, true) {
            conversation.send(&wire::notification("session/cancel", &json!({"sessionId": self.session})));
        }
    }

    fn cancel(&mut self, conversation: &mut Conversation) {
        if !self.is_prompting() {
            return conversation.finish();
        }
        // Cancel first: after a refusal alone the agent might try something else.
        conversation.send(&wire::notification("session/cancel", &json!({"sessionId": self.session})));
        self.requests.cancel(conversation);
    }
}

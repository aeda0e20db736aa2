//! The conversation in this protocol, one request of ours after the other:
//! initialize → load or new → mode and model → prompt.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::asking::asker::Reply;
use crate::asking::pending::AskId;
use crate::protocols::acp::messages::{Agent, Update, Usage, VERSION};
use crate::protocols::acp::opening::{Opening, greeting};
use crate::protocols::acp::requests::Requests;
use crate::protocols::acp::updates;
use crate::protocols::acp::wire::{self, Incoming, RpcError};
use crate::report::stop_reason::StopReason;
use crate::run::conversation::Conversation;
use crate::run::protocol::Tongue;

/// The beginning of a line that is quoted back.
const QUOTED_BYTES_MAX: usize = 200;
/// Prompts of one attempt: the task's own, and what the human had to say about refusals.
const PROMPTS_MAX: u32 = 10;

pub struct AcpTongue {
    opening: Opening,
    agent: Agent,
    session: String,
    requests: u64,
    /// The request of ours that is under way. There is only ever one.
    awaited: Option<(u64, Step)>,
    settings: VecDeque<Setting>,
    requests_to_us: Requests,
    prompts: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Initialize,
    Load,
    New,
    /// What is being set, for the message when it cannot be.
    Set(String),
    Prompt,
}

enum Setting {
    Mode(String),
    Option(String, String),
}

impl AcpTongue {
    pub fn new(opening: Opening) -> Self {
        Self {
            opening,
            agent: Agent::default(),
            session: String::new(),
            requests: 0,
            awaited: None,
            settings: VecDeque::new(),
            requests_to_us: Requests::default(),
            prompts: 0,
        }
    }

    fn request(&mut self, method: &str, params: &impl Serialize, step: Step, talk: &mut Conversation) {
        self.requests += 1;
        self.awaited = Some((self.requests, step));
        talk.send(&wire::request(self.requests, method, params));
    }

    fn is_prompting(&self) -> bool {
        matches!(self.awaited, Some((_, Step::Prompt)))
    }

    // --- Answers to us ---

    fn answer(&mut self, id: u64, result: Result<Value, RpcError>, talk: &mut Conversation) {
        let Some((_, step)) = self.awaited.take_if(|(awaited, _)| *awaited == id) else {
            talk.hearing.note(&format!("an answer to request {id}, which is not awaited"));
            return;
        };
        match (step, result) {
            (Step::Initialize, Ok(agent)) => self.greeted(agent, talk),
            (Step::Load, Ok(session)) => {
                let loaded = self.opening.resume.as_ref().map(|resume| resume.agent_session.clone());
                self.opened(loaded.unwrap_or_default(), &session, talk);
            }
            (Step::Load, Err(error)) => {
                self.begin_anew(&format!("the agent cannot go on with its earlier session: {error}"), talk);
            }
            (Step::New, Ok(session)) => match session["sessionId"].as_str() {
                Some(id) => self.opened(id.to_owned(), &session, talk),
                None => talk.failed("the agent opened a session without an id".to_owned()),
            },
            (Step::Set(_), Ok(_)) => self.set_next(talk),
            (Step::Set(what), Err(error)) => {
                talk.hearing.problem(format!("the agent did not take {what}: {error}"));
                self.set_next(talk);
            }
            (Step::Prompt, Ok(response)) => self.turn_ended(&response, talk),
            // A turn that was cancelled may end as an error; it is over either way.
            (Step::Prompt, Err(_)) if talk.is_ending() => talk.stopped(StopReason::Cancelled),
            (Step::Initialize | Step::New | Step::Prompt, Err(error)) => {
                talk.failed(format!("{error}{}", self.ways_to_log_in(&error)));
            }
        }
    }

    fn greeted(&mut self, agent: Value, talk: &mut Conversation) {
        let agent: Agent = match serde_json::from_value(agent) {
            Ok(agent) => agent,
            Err(error) => return talk.failed(format!("the agent's greeting cannot be read: {error}")),
        };
        if agent.protocol_version != VERSION {
            let version = agent.protocol_version;
            return talk.failed(format!(
                "the agent speaks version {version} of its protocol; Baton speaks {VERSION}"
            ));
        }
        if let Some(info) = &agent.info {
            talk.hearing.note(&format!("the agent is {} {}", info.name, info.version));
        }
        self.agent = agent;
        match &self.opening.resume {
            Some(resume) if self.agent.can.load_session => {
                let request = self.opening.session(Some(&resume.agent_session), &self.agent);
                self.request("session/load", &request, Step::Load, talk);
            }
            Some(_) => self.begin_anew("the agent cannot load earlier sessions", talk),
            None => self.open(talk),
        }
    }

    fn open(&mut self, talk: &mut Conversation) {
        let request = self.opening.session(None, &self.agent);
        self.request("session/new", &request, Step::New, talk);
    }

    /// A new session that is told what the old one knew.
    fn begin_anew(&mut self, why: &str, talk: &mut Conversation) {
        talk.hearing.problem(format!("{why}; a new session is told the conversation so far"));
        if let Some(resume) = self.opening.resume.take() {
            self.opening.prompt = resume.prompt_without;
        }
        self.open(talk);
    }

    fn opened(&mut self, id: String, session: &Value, talk: &mut Conversation) {
        talk.session(&id);
        self.session = id;
        if let Some(mode) = self.opening.mode {
            let has_mode =
                |modes: &Value| modes.as_array().is_some_and(|all| all.iter().any(|one| one["id"] == mode));
            if has_mode(&session["modes"]["availableModes"]) {
                self.settings.push_back(Setting::Mode(mode.to_owned()));
            } else {
                talk.hearing.problem(format!("the agent has no mode \"{mode}\""));
            }
        }
        if let Some(model) = self.opening.model.clone() {
            let options = session["configOptions"].as_array().into_iter().flatten();
            let mut of_model =
                options.filter(|option| option["category"] == "model" || option["id"] == "model");
            match of_model.next().and_then(|option| option["id"].as_str()) {
                Some(option) => self.settings.push_back(Setting::Option(option.to_owned(), model)),
                None => talk.hearing.problem(format!("the agent cannot be told to use the model {model}")),
            }
        }
        self.set_next(talk);
    }

    /// One setting after the other, then the prompt.
    fn set_next(&mut self, talk: &mut Conversation) {
        match self.settings.pop_front() {
            Some(Setting::Mode(mode)) => {
                let request = json!({"sessionId": self.session, "modeId": mode});
                self.request("session/set_mode", &request, Step::Set(format!("the mode {mode}")), talk);
            }
            Some(Setting::Option(id, value)) => {
                let request = json!({"sessionId": self.session, "configId": id, "value": value});
                let step = Step::Set(format!("the {id} {value}"));
                self.request("session/set_config_option", &request, step, talk);
            }
            None => {
                let prompt = std::mem::take(&mut self.opening.prompt);
                self.prompt(&prompt, talk);
            }
        }
    }

    fn prompt(&mut self, text: &str, talk: &mut Conversation) {
        self.prompts += 1;
        let request = json!({"sessionId": self.session, "prompt": [{"type": "text", "text": text}]});
        talk.prompted();
        self.request("session/prompt", &request, Step::Prompt, talk);
    }

    fn turn_ended(&mut self, response: &Value, talk: &mut Conversation) {
        if let Ok(usage) = Usage::deserialize(&response["usage"]) {
            updates::tokens(&usage, talk);
        }
        if !talk.is_ending()
            && self.prompts < PROMPTS_MAX
            && let Some(words) = self.requests_to_us.take_words()
        {
            talk.end_of_text();
            return self.prompt(&words, talk);
        }
        talk.stopped(updates::stop_reason(&response["stopReason"]));
    }

    /// Agents that want a login say so with a code, and how with their list of methods.
    fn ways_to_log_in(&self, error: &RpcError) -> String {
        const AUTH_REQUIRED: i64 = -32000;
        let ways: Vec<&str> = self.agent.auth_methods.iter().map(|method| method.name.as_str()).collect();
        if error.code == AUTH_REQUIRED && !ways.is_empty() {
            format!("; authentication required, by one of: {}", ways.join(", "))
        } else {
            String::new()
        }
    }
}

impl Tongue for AcpTongue {
    fn begin(&mut self, talk: &mut Conversation) {
        self.request("initialize", &greeting(), Step::Initialize, talk);
    }

    fn line(&mut self, line: &str, talk: &mut Conversation) {
        match wire::read(line) {
            Some(Incoming::Answer { id, result }) => self.answer(id, result, talk),
            Some(Incoming::Request { id, method, params }) => {
                self.requests_to_us.take(id, &method, params, talk);
            }
            // Before the prompt an agent only replays what it once said.
            Some(Incoming::Notification { method, params }) if method == "session/update" => {
                if self.is_prompting() {
                    // An update of a kind we do not know decides nothing.
                    if let Ok(update) = Update::deserialize(&params["update"]) {
                        updates::take(update, talk);
                    }
                }
            }
            Some(Incoming::Notification { .. }) => {}
            None => talk.hearing.reported(&format!("not a message: {line}")),
        }
    }

    fn too_long(&mut self, beginning: &str, talk: &mut Conversation) {
        let beginning = &beginning[..beginning.floor_char_boundary(QUOTED_BYTES_MAX)];
        talk.hearing.problem(format!("a message of the agent is too long to be read: {beginning}"));
    }

    fn answered(&mut self, ask: AskId, reply: Reply, talk: &mut Conversation) {
        match reply {
            Reply::Answer(text) => self.requests_to_us.answered(ask, &text, talk),
            // The attempt ends with this question; the request is answered when the turn is cancelled.
            Reply::Released => {}
        }
    }

    fn cancel(&mut self, talk: &mut Conversation) {
        if !self.is_prompting() {
            return talk.over();
        }
        // First the cancel: an agent that is told no first might go on to something else.
        talk.send(&wire::notification("session/cancel", &json!({"sessionId": self.session})));
        self.requests_to_us.cancel(talk);
    }
}

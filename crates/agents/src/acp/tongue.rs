//! The conversation in this protocol, one request of ours after the other:
//! initialize → load or new → mode and model → prompt.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::elicitation::{self, Form};
use super::opening::{Opening, greeting};
use super::permission::{self, Pending};
use super::protocol::{Agent, PermissionParams, Update, Usage, VERSION};
use super::updates;
use super::wire::{self, INVALID_PARAMS, Incoming, METHOD_NOT_FOUND, RpcError};
use crate::asker::Reply;
use crate::conversation::{AskId, Conversation, Ruling};
use crate::permission::Consent;
use crate::stop_reason::StopReason;
use crate::tongue::Tongue;

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
    pending: BTreeMap<AskId, Asked>,
    /// What the human said instead of a plain no; the agent is told when its turn ends.
    words: Vec<String>,
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

/// A request of the agent's that waits for a human.
enum Asked {
    Permission(Value, Pending),
    Form(Value, Form),
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
            pending: BTreeMap::new(),
            words: Vec::new(),
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
        if let Some(info) = &agent.agent_info {
            talk.hearing.note(&format!("the agent is {} {}", info.name, info.version));
        }
        self.agent = agent;
        match &self.opening.resume {
            Some(resume) if self.agent.agent_capabilities.load_session => {
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
        if !self.words.is_empty() && !talk.is_ending() && self.prompts < PROMPTS_MAX {
            talk.end_of_text();
            let words = std::mem::take(&mut self.words).join("\n");
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

    // --- Requests to us ---

    fn requested(&mut self, id: Value, method: &str, params: Value, talk: &mut Conversation) {
        match method {
            "session/request_permission" => self.permission(id, params, talk),
            "elicitation/create" => self.elicitation(id, &params, talk),
            _ => talk.send(&wire::error(&id, METHOD_NOT_FOUND, &format!("Baton has no {method}"))),
        }
    }

    fn permission(&mut self, id: Value, params: Value, talk: &mut Conversation) {
        let request: PermissionParams = match serde_json::from_value(params) {
            Ok(request) => request,
            Err(error) => {
                talk.hearing.problem(format!("a request for permission cannot be read: {error}"));
                return talk.send(&wire::error(&id, INVALID_PARAMS, &error.to_string()));
            }
        };
        let (asked, pending) = permission::read(request);
        let answer = match talk.permission(&asked) {
            Ruling::Allow => pending.answer(&Consent::Once),
            Ruling::Deny => pending.answer(&Consent::Refused(None)),
            Ruling::Void => permission::cancelled(),
            Ruling::Asked(ask) => {
                self.pending.insert(ask, Asked::Permission(id, pending));
                return;
            }
        };
        talk.send(&wire::result(&id, &answer));
    }

    fn elicitation(&mut self, id: Value, params: &Value, talk: &mut Conversation) {
        let Some(form) = Form::read(params) else {
            talk.hearing
                .problem("the agent asked in a way that Baton cannot show; it was declined".to_owned());
            return talk.send(&wire::result(&id, &elicitation::declined()));
        };
        match talk.ask(form.question()) {
            Some(ask) => drop(self.pending.insert(ask, Asked::Form(id, form))),
            None => talk.send(&wire::result(&id, &elicitation::cancelled())),
        }
    }

    fn tell_permission(&mut self, id: &Value, pending: &Pending, text: &str, talk: &mut Conversation) {
        let consent = Consent::read(text);
        if let Consent::Refused(words) = &consent {
            talk.record.refused(&pending.call_id, &pending.title);
            if let Some(words) = words {
                self.words.push(format!("About \"{}\", which was not allowed: {words}", pending.title));
            }
        }
        talk.send(&wire::result(id, &pending.answer(&consent)));
    }
}

impl Tongue for AcpTongue {
    fn begin(&mut self, talk: &mut Conversation) {
        self.request("initialize", &greeting(), Step::Initialize, talk);
    }

    fn line(&mut self, line: &str, talk: &mut Conversation) {
        match wire::read(line) {
            Some(Incoming::Answer { id, result }) => self.answer(id, result, talk),
            Some(Incoming::Request { id, method, params }) => self.requested(id, &method, params, talk),
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
        let Reply::Answer(text) = reply else {
            // The attempt ends with this question; the request is answered when the turn is cancelled.
            return;
        };
        match self.pending.remove(&ask) {
            Some(Asked::Permission(id, pending)) => self.tell_permission(&id, &pending, &text, talk),
            Some(Asked::Form(id, form)) => {
                let answer = form.answer(&text).unwrap_or_else(|| {
                    talk.hearing
                        .problem("the answer does not fit the agent's form; it was declined".to_owned());
                    self.words.push(text.clone());
                    elicitation::declined()
                });
                talk.send(&wire::result(&id, &answer));
            }
            None => {}
        }
    }

    fn cancel(&mut self, talk: &mut Conversation) {
        if !self.is_prompting() {
            return talk.over();
        }
        // First the cancel: an agent that is told no first might go on to something else.
        talk.send(&wire::notification("session/cancel", &json!({"sessionId": self.session})));
        for (_, asked) in std::mem::take(&mut self.pending) {
            match asked {
                Asked::Permission(id, _) => talk.send(&wire::result(&id, &permission::cancelled())),
                Asked::Form(id, _) => talk.send(&wire::result(&id, &elicitation::cancelled())),
            }
        }
    }
}

//! What the agent asks of us while it works: whether it may, and what its user says.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::asking::pending::AskId;
use crate::asking::permission::Consent;
use crate::protocols::acp::elicitation::{self, Form};
use crate::protocols::acp::messages::PermissionParams;
use crate::protocols::acp::permission::{self, Pending};
use crate::protocols::acp::wire::{self, INVALID_PARAMS, METHOD_NOT_FOUND};
use crate::run::conversation::{Conversation, Ruling};

#[derive(Default)]
pub struct Requests {
    /// Those that wait for a human.
    pending: BTreeMap<AskId, Asked>,
    /// What the human said instead of a plain no; the agent is told when its turn ends.
    words: Vec<String>,
}

/// A request and the id it is answered by.
enum Asked {
    Permission(Value, Pending),
    Form(Value, Form),
}

impl Requests {
    pub fn take(&mut self, id: Value, method: &str, params: Value, talk: &mut Conversation) {
        match method {
            "session/request_permission" => self.permission(id, params, talk),
            "elicitation/create" => self.elicitation(id, &params, talk),
            _ => talk.send(&wire::error(&id, METHOD_NOT_FOUND, &format!("Baton has no {method}"))),
        }
    }

    /// What is still to be told to the agent; none when that is nothing.
    pub fn take_words(&mut self) -> Option<String> {
        let words = std::mem::take(&mut self.words).join("\n");
        (!words.is_empty()).then_some(words)
    }

    pub fn answered(&mut self, ask: AskId, text: &str, talk: &mut Conversation) {
        match self.pending.remove(&ask) {
            Some(Asked::Permission(id, pending)) => self.consented(&id, &pending, text, talk),
            Some(Asked::Form(id, form)) => {
                let answer = form.answer(text).unwrap_or_else(|| {
                    talk.hearing
                        .problem("the answer does not fit the agent's form; it was declined".to_owned());
                    self.words.push(text.to_owned());
                    elicitation::declined()
                });
                talk.send(&wire::result(&id, &answer));
            }
            None => {}
        }
    }

    /// Answers all that wait, when the turn is being ended.
    pub fn cancel(&mut self, talk: &mut Conversation) {
        for (_, asked) in std::mem::take(&mut self.pending) {
            match asked {
                Asked::Permission(id, _) => talk.send(&wire::result(&id, &permission::cancelled())),
                Asked::Form(id, _) => talk.send(&wire::result(&id, &elicitation::cancelled())),
            }
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

    fn consented(&mut self, id: &Value, pending: &Pending, text: &str, talk: &mut Conversation) {
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

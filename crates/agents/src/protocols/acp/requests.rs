//! Requests of the agent to Baton: permissions and elicitations.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::asking::pending::AskId;
use crate::asking::permission::Consent;
use crate::protocols::acp::elicitation::{self, ElicitationForm};
use crate::protocols::acp::messages::PermissionParams;
use crate::protocols::acp::permission::{self, PendingPermission};
use crate::protocols::acp::wire::{self, INVALID_PARAMS, METHOD_NOT_FOUND};
use crate::run::conversation::{Conversation, PermissionRuling};

#[derive(Default)]
pub(super) struct AgentRequests {
    /// Waiting for a human.
    pending: BTreeMap<AskId, PendingRequest>,
    /// Reasons humans gave for refusals; sent to the agent when its turn ends.
    words: Vec<String>,
}

/// A request with its JSON-RPC id.
enum PendingRequest {
    Permission(Value, PendingPermission),
    Form(Value, ElicitationForm),
}

impl AgentRequests {
    pub(super) fn take(&mut self, id: Value, method: &str, params: Value, conversation: &mut Conversation) {
        match method {
            "session/request_permission" => self.permission(id, params, conversation),
            "elicitation/create" => self.elicitation(id, &params, conversation),
            _ => conversation.send(&wire::error(
                &id,
                METHOD_NOT_FOUND,
                &format!("Baton does not support {method}"),
            )),
        }
    }

    /// What is still to be sent to the agent, if anything.
    pub(super) fn take_remarks(&mut self) -> Option<String> {
        let words = std::mem::take(&mut self.words).join("\n");
        (!words.is_empty()).then_some(words)
    }

    pub(super) fn deliver_answer(&mut self, ask: AskId, text: &str, conversation: &mut Conversation) {
        match self.pending.remove(&ask) {
            Some(PendingRequest::Permission(id, pending)) => {
                self.consented(&id, &pending, text, conversation);
            }
            Some(PendingRequest::Form(id, form)) => {
                let answer = form.answer(text).unwrap_or_else(|| {
                    conversation.output.add_problem(
                        "the answer does not fit the agent's form; declined the form".to_owned(),
                    );
                    self.words.push(text.to_owned());
                    elicitation::declined()
                });
                conversation.send(&wire::result(&id, &answer));
            }
            None => {}
        }
    }

    /// Cancels all waiting requests when the turn is being ended.
    pub(super) fn cancel(&mut self, conversation: &mut Conversation) {
        for (_, asked) in std::mem::take(&mut self.pending) {
            match asked {
                PendingRequest::Permission(id, _) => {
                    conversation.send(&wire::result(&id, &permission::cancelled()));
                }
                PendingRequest::Form(id, _) => {
                    conversation.send(&wire::result(&id, &elicitation::cancelled()));
                }
            }
        }
    }

    fn permission(&mut self, id: Value, params: Value, conversation: &mut Conversation) {
        let request: PermissionParams = match serde_json::from_value(params) {
            Ok(request) => request,
            Err(error) => {
                conversation.output.add_problem(format!("cannot parse a permission request: {error}"));
                return conversation.send(&wire::error(&id, INVALID_PARAMS, &error.to_string()));
            }
        };
        let (asked, pending) = permission::read(request);
        let answer = match conversation.request_permission(&asked) {
            PermissionRuling::Allow => pending.answer(&Consent::Once),
            PermissionRuling::Deny => pending.answer(&Consent::Refused(None)),
            PermissionRuling::Void => permission::cancelled(),
            PermissionRuling::Asked(ask) => {
                self.pending.insert(ask, PendingRequest::Permission(id, pending));
                return;
            }
        };
        conversation.send(&wire::result(&id, &answer));
    }

    fn elicitation(&mut self, id: Value, params: &Value, conversation: &mut Conversation) {
        let Some(form) = ElicitationForm::read(params) else {
            conversation
                .output
                .add_problem("declined a question of a kind that Baton cannot show".to_owned());
            return conversation.send(&wire::result(&id, &elicitation::declined()));
        };
        match conversation.ask(form.question()) {
            Some(ask) => drop(self.pending.insert(ask, PendingRequest::Form(id, form))),
            None => conversation.send(&wire::result(&id, &elicitation::cancelled())),
        }
    }

    fn consented(
        &mut self,
        id: &Value,
        pending: &PendingPermission,
        text: &str,
        conversation: &mut Conversation,
    ) {
        let consent = Consent::read(text);
        if let Consent::Refused(words) = &consent {
            conversation.record.refuse_call(&pending.call_id, &pending.title);
            if let Some(words) = words {
                self.words.push(format!("About \"{}\", which was refused: {words}", pending.title));
            }
        }
        conversation.send(&wire::result(id, &pending.answer(&consent)));
    }
}

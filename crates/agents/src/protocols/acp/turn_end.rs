//! The end of a turn: another prompt follows where people have something to say, else the conversation is over.

use serde::Deserialize;
use serde_json::Value;

use crate::protocols::acp::messages::AcpUsage;
use crate::protocols::acp::session::AcpProtocol;
use crate::protocols::acp::updates;
use crate::protocols::acp::wire::RpcError;
use crate::run::conversation::Conversation;

/// How often remarks of humans about refusals are sent in one attempt.
const REMARKS_MAX: u32 = 9;

impl AcpProtocol {
    pub(super) fn turn_ended(&mut self, response: &Value, conversation: &mut Conversation) {
        if let Ok(usage) = AcpUsage::deserialize(&response["usage"]) {
            updates::tokens(&usage, conversation);
        }
        self.is_interrupted = false;
        if let Some(text) = conversation.take_messages() {
            return self.prompt(&text, conversation);
        }
        if !conversation.is_ending()
            && self.remarks < REMARKS_MAX
            && let Some(words) = self.requests.take_remarks()
        {
            conversation.end_message();
            self.remarks += 1;
            return self.prompt(&words, conversation);
        }
        conversation.end_turn(updates::stop_reason(&response["stopReason"]));
    }

    /// Some agents end a cancelled turn with an error.
    pub(super) fn turn_failed(&mut self, error: &RpcError, conversation: &mut Conversation) {
        if std::mem::take(&mut self.is_interrupted)
            && let Some(text) = conversation.take_messages()
        {
            return self.prompt(&text, conversation);
        }
        conversation.fail(format!("{error}{}", self.login_methods(error)));
    }

    /// The agent's login methods, for an error that requires a login.
    pub(super) fn login_methods(&self, error: &RpcError) -> String {
        const AUTH_REQUIRED: i64 = -32000;
        let ways: Vec<&str> = self.agent.auth_methods.iter().map(|method| method.name.as_str()).collect();
        if error.code == AUTH_REQUIRED && !ways.is_empty() {
            format!("; authentication required, by one of: {}", ways.join(", "))
        } else {
            String::new()
        }
    }
}

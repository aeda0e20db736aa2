//! Permission requests in this protocol.

use serde_json::{Value, json};

use crate::asking::permission::{Consent, PermissionRequest};
use crate::protocols::acp::messages::{OptionKind, PermissionOption, PermissionParams};
use crate::protocols::acp::updates;

#[derive(Debug, Clone)]
pub(super) struct PendingPermission {
    pub call_id: String,
    pub title: String,
    options: Vec<PermissionOption>,
}

pub(super) fn read(request: PermissionParams) -> (PermissionRequest, PendingPermission) {
    let call = updates::call_of(&request.tool_call);
    let pending =
        PendingPermission { call_id: call.id.clone(), title: call.title.clone(), options: request.options };
    let asked = PermissionRequest {
        input: updates::input_text(request.tool_call.raw_input.as_ref()),
        can_be_remembered: pending.option(OptionKind::AllowAlways).is_some(),
        call,
    };
    (asked, pending)
}

impl PendingPermission {
    fn option(&self, kind: OptionKind) -> Option<&PermissionOption> {
        self.options.iter().find(|option| option.kind == kind)
    }

    /// Maps the consent to one of the agent's options; cancelled when none fits.
    pub(super) fn answer(&self, consent: &Consent) -> Value {
        use OptionKind::{AllowAlways, AllowOnce, RejectAlways, RejectOnce};
        let wanted = match consent {
            Consent::Once => [AllowOnce, AllowAlways],
            Consent::Always => [AllowAlways, AllowOnce],
            Consent::Refused(_) => [RejectOnce, RejectAlways],
        };
        match wanted.into_iter().find_map(|kind| self.option(kind)) {
            Some(option) => json!({"outcome": {"outcome": "selected", "optionId": option.option_id}}),
            None => cancelled(),
        }
    }
}

/// The response when the turn is being ended.
pub(super) fn cancelled() -> Value {
    json!({"outcome": {"outcome": "cancelled"}})
}

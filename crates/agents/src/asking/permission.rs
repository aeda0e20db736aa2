//! Permission requests: an agent wants to use a tool, and a policy or a human decides.
//!
//! A [`PermissionPolicy`] decides at once or refers the request to a human. The possible answers are fixed here, so that
//! every surface offers the same buttons and every driver reads them the same way.

use baton_core::ask::fallback::Fallback;
use baton_core::ask::question::{QuestionDraft, QuestionKind};
use baton_core::base::text::NonBlank;

use crate::output::excerpt::excerpt;
use crate::report::tool_call::{ToolCall, ToolKind};

/// How much of a tool's input the question shows.
const INPUT_BYTES_MAX: usize = 4 * 1024;

const ALLOW: &str = "Allow";
const ALWAYS: &str = "Always allow";
const DENY: &str = "Deny";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PermissionRequest {
    pub call: ToolCall,
    /// The tool's input: the command, or JSON. Empty when the agent does not say.
    pub input: String,
    /// The agent can remember the answer for the rest of its session.
    pub can_be_remembered: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PermissionDecision {
    Allow,
    Deny,
    AskHuman,
}

/// Decides about requests without blocking; a policy that needs a human returns [`PermissionDecision::AskHuman`].
pub trait PermissionPolicy: Send + Sync {
    fn decide(&self, request: &PermissionRequest) -> PermissionDecision;
}

/// The same decision for every request.
impl PermissionPolicy for PermissionDecision {
    fn decide(&self, _: &PermissionRequest) -> PermissionDecision {
        *self
    }
}

/// Rules in order; the first match decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PermissionRules {
    pub rules: Vec<PermissionRule>,
    pub otherwise: PermissionDecision,
}

/// A field that is None matches everything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PermissionRule {
    pub kind: Option<ToolKind>,
    /// Prefix of the input, or of the title when there is no input. A rule that allows does not match a shell line with
    /// a second command: `git status; rm -rf .` is not `git status`.
    pub begins_with: Option<String>,
    pub decision: PermissionDecision,
}

impl PermissionPolicy for PermissionRules {
    fn decide(&self, request: &PermissionRequest) -> PermissionDecision {
        self.rules.iter().find(|rule| rule.fits(request)).map_or(self.otherwise, |rule| rule.decision)
    }
}

impl PermissionRule {
    fn fits(&self, request: &PermissionRequest) -> bool {
        let said = if request.input.is_empty() { &request.call.title } else { &request.input };
        self.kind.is_none_or(|kind| kind == request.call.kind)
            && self.begins_with.as_deref().is_none_or(|beginning| self.covers(beginning, said))
    }

    fn covers(&self, beginning: &str, said: &str) -> bool {
        // To allow, a rule must cover the whole line; to deny or ask, matching too often is the safe side.
        let is_one_command = !said.contains([';', '&', '|', '`', '\n', '>', '<']) && !said.contains("$(");
        said.trim_start().starts_with(beginning)
            && (self.decision != PermissionDecision::Allow || is_one_command)
    }
}

impl PermissionRequest {
    /// The question for a human. The same request gives the same text, so that an earlier answer is found again.
    pub fn question(&self) -> QuestionDraft {
        let title = excerpt(self.call.title.trim(), INPUT_BYTES_MAX);
        let kind = self.call.kind.as_str();
        let mut text = format!("Allow the agent to use a tool ({kind})? {title}");
        let input = self.input.trim();
        if !input.is_empty() && !self.call.title.contains(input) {
            text.push_str("\n\n");
            text.push_str(&excerpt(input, INPUT_BYTES_MAX));
        }
        text.push_str("\n\nAllow: the agent does this once and continues.");
        if self.can_be_remembered {
            text.push_str(" Always allow: the agent does this and does not ask again.");
        }
        text.push_str(
            " Deny: the agent continues without it. Any other answer also denies it and is passed on as the reason.",
        );
        let fallback = Fallback::Interactive.question().text;
        let mut draft = QuestionDraft::new(QuestionKind::Permission, NonBlank::or(&text, fallback));
        let offered: &[&str] = if self.can_be_remembered { &[ALLOW, ALWAYS, DENY] } else { &[ALLOW, DENY] };
        draft.options = offered.iter().filter_map(|&option| NonBlank::new(option).ok()).collect();
        draft
    }
}

/// A human's answer to a permission question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Consent {
    Once,
    Always,
    /// With the reason the human gave, if any; the agent is told.
    Refused(Option<String>),
}

impl Consent {
    /// Anything but a clear yes is a no.
    pub fn read(answer: &str) -> Self {
        let plain = answer.trim().trim_end_matches(['.', '!']).to_lowercase();
        match plain.as_str() {
            "allow" | "allow once" | "yes" | "y" | "ok" | "okay" | "approve" | "approved" => Self::Once,
            "always allow" | "allow always" | "always" => Self::Always,
            "deny" | "no" | "n" | "reject" | "never" | "" => Self::Refused(None),
            _ => Self::Refused(Some(answer.trim().to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(input: &str) -> PermissionRequest {
        let call = ToolCall { id: "1".to_owned(), title: "shell".to_owned(), kind: ToolKind::Execute };
        PermissionRequest { call, input: input.to_owned(), can_be_remembered: false }
    }

    #[test]
    fn the_first_rule_that_fits_decides() {
        let rule = |begins_with: &str, decision| PermissionRule {
            kind: Some(ToolKind::Execute),
            begins_with: Some(begins_with.to_owned()),
            decision,
        };
        let rules = PermissionRules {
            rules: vec![rule("git push", PermissionDecision::Deny), rule("git ", PermissionDecision::Allow)],
            otherwise: PermissionDecision::AskHuman,
        };
        for (input, decision) in [
            ("git commit -m x", PermissionDecision::Allow),
            ("git push origin", PermissionDecision::Deny),
            ("git push origin; true", PermissionDecision::Deny),
            ("rm -rf .", PermissionDecision::AskHuman),
            // The rule allows that command, not one appended to it.
            ("git status; rm -rf .", PermissionDecision::AskHuman),
            ("git log && rm x", PermissionDecision::AskHuman),
            ("git log $(rm x)", PermissionDecision::AskHuman),
            ("git log > ~/.bashrc", PermissionDecision::AskHuman),
            ("git log\nrm x", PermissionDecision::AskHuman),
        ] {
            assert_eq!(rules.decide(&request(input)), decision, "{input}");
        }
        assert_eq!(PermissionDecision::Deny.decide(&request("anything")), PermissionDecision::Deny);
    }

    #[test]
    fn a_question_shows_what_is_asked_and_does_not_depend_on_the_call() {
        let mut again = request("git push");
        again.call.id = "2".to_owned();
        assert_eq!(request("git push").question(), again.question());
        let draft = again.question();
        assert_eq!(draft.kind, QuestionKind::Permission);
        let text = draft.text.as_str();
        assert!(text.contains("(execute)? shell\n\ngit push\n\nAllow: the agent does this once"), "{text}");
        assert_eq!(draft.options.len(), 2);
    }

    #[test]
    fn the_question_stands_alone() {
        let once = request("git push");
        let remembered = PermissionRequest { can_be_remembered: true, ..request("") };
        for draft in [once.question(), remembered.question()] {
            assert_eq!(draft.missing_context(), [], "{}", draft.text);
        }
    }

    #[test]
    fn only_a_clear_yes_is_a_yes() {
        assert_eq!(Consent::read(" Allow "), Consent::Once);
        assert_eq!(Consent::read("yes."), Consent::Once);
        assert_eq!(Consent::read("Always allow"), Consent::Always);
        assert_eq!(Consent::read("Deny"), Consent::Refused(None));
        assert_eq!(
            Consent::read("yes, but on a branch"),
            Consent::Refused(Some("yes, but on a branch".to_owned()))
        );
    }
}

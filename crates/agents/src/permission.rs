//! Permission: an agent wants to use a tool, and somebody has to say whether it may.
//!
//! A [`Permissions`] policy decides at once, or sends the request to a human. What the human may answer is
//! fixed here, so that every surface offers the same buttons and every driver reads them the same way.

use baton_core::ask::fallback::Fallback;
use baton_core::ask::question::{QuestionDraft, QuestionKind};
use baton_core::base::text::NonBlank;

use crate::excerpt::excerpt;
use crate::tool_call::{ToolCall, ToolKind};

/// As much of a tool's input as a person reads before saying yes.
const INPUT_BYTES_MAX: usize = 4 * 1024;

const ALLOW: &str = "Allow";
const ALWAYS: &str = "Always allow";
const DENY: &str = "Deny";

/// What an agent asks to be allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PermissionRequest {
    pub call: ToolCall,
    /// What goes into the tool: the command, or the input as JSON. Empty when the agent does not say.
    pub input: String,
    /// The agent can remember the answer for the rest of its session.
    pub can_be_remembered: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    Allow,
    Deny,
    AskHuman,
}

/// Who decides about requests. Never waits: whoever needs a person says [`AnswerDecision::AskHuman`].
pub trait Permissions: Send + Sync {
    fn decide(&self, request: &PermissionRequest) -> Decision;
}

/// The same decision about everything.
impl Permissions for Decision {
    fn decide(&self, _: &PermissionRequest) -> Decision {
        *self
    }
}

/// Rules in order; the first that fits decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    pub rules: Vec<Rule>,
    pub otherwise: Decision,
}

/// What is left out fits everything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    pub kind: Option<ToolKind>,
    /// The input, or the title where there is no input, begins with this. A shell line that goes on with
    /// another command does not fit: `git status; rm -rf .` is no `git status`.
    pub begins_with: Option<String>,
    pub decision: Decision,
}

impl Permissions for Rules {
    fn decide(&self, request: &PermissionRequest) -> Decision {
        self.rules.iter().find(|rule| rule.fits(request)).map_or(self.otherwise, |rule| rule.decision)
    }
}

impl Rule {
    fn fits(&self, request: &PermissionRequest) -> bool {
        let said = if request.input.is_empty() { &request.call.title } else { &request.input };
        self.kind.is_none_or(|kind| kind == request.call.kind)
            && self.begins_with.as_deref().is_none_or(|beginning| self.covers(beginning, said))
    }

    fn covers(&self, beginning: &str, said: &str) -> bool {
        // What allows must cover the whole line; what denies or asks is better applied once too often.
        let is_one_command = !said.contains([';', '&', '|', '`', '\n', '>', '<']) && !said.contains("$(");
        said.trim_start().starts_with(beginning) && (self.decision != Decision::Allow || is_one_command)
    }
}

impl PermissionRequest {
    /// The question for a person. The same request gives the same text, so an answer is found again.
    pub fn question(&self) -> QuestionDraft {
        let title = excerpt(self.call.title.trim(), INPUT_BYTES_MAX);
        let kind = self.call.kind.as_str();
        let mut text = format!("May the agent do this? It wants to use a tool ({kind}): {title}");
        let input = self.input.trim();
        if !input.is_empty() && !self.call.title.contains(input) {
            text.push_str("\n\n");
            text.push_str(&excerpt(input, INPUT_BYTES_MAX));
        }
        text.push_str("\n\nAllow: it does so this once, and goes on.");
        if self.can_be_remembered {
            text.push_str(" Always allow: it does so, and you are not asked about the same again.");
        }
        text.push_str(
            " Deny: it is told no, and goes on without; anything else you write is told to it as the reason.",
        );
        let fallback = Fallback::Interactive.question().text;
        let mut draft = QuestionDraft::new(QuestionKind::Permission, NonBlank::or(&text, fallback));
        let offered: &[&str] = if self.can_be_remembered { &[ALLOW, ALWAYS, DENY] } else { &[ALLOW, DENY] };
        draft.options = offered.iter().filter_map(|&option| NonBlank::new(option).ok()).collect();
        draft
    }
}

/// A person's answer to a permission question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Consent {
    Once,
    Always,
    /// With what was said instead of a plain no; the agent is told.
    Refused(Option<String>),
}

impl Consent {
    /// Whatever is not clearly a yes is a no.
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
        let rule = |begins_with: &str, decision| Rule {
            kind: Some(ToolKind::Execute),
            begins_with: Some(begins_with.to_owned()),
            decision,
        };
        let rules = Rules {
            rules: vec![rule("git push", Decision::Deny), rule("git ", Decision::Allow)],
            otherwise: Decision::AskHuman,
        };
        for (input, decision) in [
            ("git commit -m x", Decision::Allow),
            ("git push origin", Decision::Deny),
            ("git push origin; true", Decision::Deny),
            ("rm -rf .", Decision::AskHuman),
            // What is allowed is that command, not whatever is hung on to it.
            ("git status; rm -rf .", Decision::AskHuman),
            ("git log && rm x", Decision::AskHuman),
            ("git log $(rm x)", Decision::AskHuman),
            ("git log > ~/.bashrc", Decision::AskHuman),
            ("git log\nrm x", Decision::AskHuman),
        ] {
            assert_eq!(rules.decide(&request(input)), decision, "{input}");
        }
        assert_eq!(Decision::Deny.decide(&request("anything")), Decision::Deny);
    }

    #[test]
    fn a_question_shows_what_is_asked_and_does_not_depend_on_the_call() {
        let mut again = request("git push");
        again.call.id = "2".to_owned();
        assert_eq!(request("git push").question(), again.question());
        let draft = again.question();
        assert_eq!(draft.kind, QuestionKind::Permission);
        let text = draft.text.as_str();
        assert!(text.contains("(execute): shell\n\ngit push\n\nAllow: it does so this once"), "{text}");
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

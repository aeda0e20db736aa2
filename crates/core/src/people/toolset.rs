//! The tools offered to an agent or to a person's own client. A tool that is not offered cannot be called.

use std::fmt;
use std::str::FromStr;

/// Whose client asks for tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolClient {
    /// The agent of a live attempt.
    Attempt { is_breakdown: bool },
    /// A person's own client, without an attempt token.
    Person { powers: ClientPowers },
}

/// What a person lets their own client decide in their name, beyond reading, adding and chatting.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClientPowers {
    pub answer: bool,
    pub accept: bool,
}

/// A word that names no power.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is nothing that a client can be allowed; there are answer and accept")]
pub struct UnknownPower(String);

/// `answer,accept`
impl FromStr for ClientPowers {
    type Err = UnknownPower;

    fn from_str(text: &str) -> Result<Self, UnknownPower> {
        let mut powers = Self::default();
        for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            match word {
                "answer" => powers.answer = true,
                "accept" => powers.accept = true,
                other => return Err(UnknownPower(other.to_owned())),
            }
        }
        Ok(powers)
    }
}

impl fmt::Display for ClientPowers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = [("answer", self.answer), ("accept", self.accept)];
        let words: Vec<&str> = words.into_iter().filter_map(|(word, is_on)| is_on.then_some(word)).collect();
        f.write_str(&words.join(","))
    }
}

const QUEUE_TOOLS: [&str; 6] =
    ["get_next_task", "list_tasks", "get_task", "add_task", "update_task", "set_task_status"];
/// `ask_human` duplicates `ask_user`: Gemini drops every tool called `ask_user`, its own and others'.
const ATTEMPT_TOOLS: [&str; 4] = ["ask_user", "ask_human", "report_outcome", "load_workflow_context"];
const PERSON_TOOLS: [&str; 3] = ["chat", "list_questions", "list_recipes"];
const ANSWER_TOOLS: [&str; 1] = ["answer_question"];
const ACCEPT_TOOLS: [&str; 2] = ["accept_task", "reject_task"];
const BREAKDOWN_TOOLS: [&str; 1] = ["submit_breakdown"];
/// I12: offered exactly when the Taskfile exists.
pub const USER_TASK_TOOLS: [&str; 2] = ["list_user_tasks", "run_user_task"];

/// The offered tools, in listing order.
pub fn tools_for(client: ToolClient, taskfile_exists: bool) -> Vec<&'static str> {
    let user_tasks: &[&str] = if taskfile_exists { &USER_TASK_TOOLS } else { &[] };
    match client {
        ToolClient::Attempt { is_breakdown } => {
            let breakdown: &[&str] = if is_breakdown { &BREAKDOWN_TOOLS } else { &[] };
            [&ATTEMPT_TOOLS, &QUEUE_TOOLS[..], breakdown, user_tasks].concat()
        }
        ToolClient::Person { powers } => {
            let answer: &[&str] = if powers.answer { &ANSWER_TOOLS } else { &[] };
            let accept: &[&str] = if powers.accept { &ACCEPT_TOOLS } else { &[] };
            [&QUEUE_TOOLS, &PERSON_TOOLS[..], answer, accept, user_tasks].concat()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERSON: ToolClient = ToolClient::Person { powers: ClientPowers { answer: false, accept: false } };

    #[test]
    fn i12_user_task_tools_are_offered_exactly_when_the_file_exists() {
        for client in
            [ToolClient::Attempt { is_breakdown: true }, ToolClient::Attempt { is_breakdown: false }, PERSON]
        {
            for exists in [true, false] {
                let offered = tools_for(client, exists);
                for tool in USER_TASK_TOOLS {
                    assert_eq!(offered.contains(&tool), exists, "{client:?} {tool}");
                }
            }
        }
    }

    #[test]
    fn only_an_attempt_may_ask_and_only_a_breakdown_may_plan() {
        assert!(!tools_for(PERSON, true).contains(&"ask_user"));
        assert!(!tools_for(ToolClient::Attempt { is_breakdown: false }, true).contains(&"submit_breakdown"));
        assert!(tools_for(ToolClient::Attempt { is_breakdown: true }, false).contains(&"submit_breakdown"));
    }

    #[test]
    fn i19_a_persons_client_decides_only_what_it_is_allowed_to() {
        let decisions = ["answer_question", "accept_task", "reject_task"];
        let offered = |client| decisions.map(|name| tools_for(client, true).contains(&name));
        assert_eq!(offered(PERSON), [false, false, false]);
        for (text, expected) in [
            ("", [false, false, false]),
            ("answer", [true, false, false]),
            ("accept", [false, true, true]),
            ("answer, accept", [true, true, true]),
        ] {
            let powers: ClientPowers = text.parse().unwrap();
            assert_eq!(offered(ToolClient::Person { powers }), expected, "{text}");
            assert_eq!(powers.to_string().parse(), Ok(powers));
        }
        assert!("answer,everything".parse::<ClientPowers>().is_err());
        for is_breakdown in [true, false] {
            assert_eq!(offered(ToolClient::Attempt { is_breakdown }), [false, false, false]);
        }
    }
}

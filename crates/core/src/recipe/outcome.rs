//! An outcome: what the agent reports at the end of a step, in one of the words the step allows.
//!
//! It is a claim; nothing here makes it true. The prompt's closing block lists the outcomes,
//! [`crate::recipe::outcome_parser`] finds the one in the agent's last message, and the tool `report_outcome` reports
//! it directly. Both go through [`Outcome::report`].

use serde::{Deserialize, Serialize};

use crate::base::text::{NonBlank, OutcomeName, nearest};

/// For everything a step has no outcome for. The only one that needs a description.
pub const OTHER: &str = "other";

/// The work of the step is done. Baton checks that there is any.
pub const COMPLETE: &str = "complete";

/// The change is committed. Baton counts the commits.
pub const COMMITTED: &str = "committed";

/// The queue is empty. Baton checks the queue.
pub const NO_TASKS: &str = "no-tasks";

/// There was nothing to change.
pub const NO_CHANGES: &str = "no-changes";

/// A longer description is a log; the rest is cut.
pub const DESCRIPTION_BYTES_MAX: usize = 16 * 1024;

/// Placeholder for the agent's own words in the closing block. Sent back unchanged, it counts as nothing.
const DESCRIPTION_PLACEHOLDER: &str = "<one sentence: what happened>";

/// Longest part of an invalid outcome that is quoted back.
pub(crate) const QUOTED_CHARS_MAX: usize = 80;

/// A reported outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    pub name: OutcomeName,
    /// The agent's own words, if any. Required for `other`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<NonBlank>,
}

/// Why no outcome could be read from the agent's message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "mistake", rename_all = "snake_case")]
pub enum OutcomeMistake {
    #[error("your message has no JSON object with an \"outcome\" key")]
    NoneFound,
    /// Meant as an outcome object, but not valid JSON.
    #[error("the outcome object in your message is not valid JSON: {excerpt}")]
    MalformedJson { excerpt: String },
    #[error("\"outcome\" must be a string, and you sent {found}")]
    NotAString { found: String },
    #[error("\"{name}\" is not an outcome of this step{}", hint(.nearest.as_ref()))]
    NotAllowed {
        name: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        nearest: Option<OutcomeName>,
    },
    #[error("the outcome \"other\" needs a description in your own words, and you gave none")]
    OtherWithoutDescription,
}

fn hint(nearest: Option<&OutcomeName>) -> String {
    nearest.map(|name| format!(" (did you mean \"{name}\"?)")).unwrap_or_default()
}

impl Outcome {
    /// The single entry point for reports, from the tool and from the parser.
    pub fn report(
        name: &str,
        description: Option<&str>,
        allowed: &[OutcomeName],
    ) -> Result<Self, OutcomeMistake> {
        let name = name.trim();
        let Some(known) = allowed.iter().find(|known| known.as_str() == name) else {
            return Err(OutcomeMistake::NotAllowed {
                name: name.chars().take(QUOTED_CHARS_MAX).collect(),
                nearest: nearest_outcome(name, allowed),
            });
        };
        let description = description.and_then(own_words);
        if name == OTHER && description.is_none() {
            return Err(OutcomeMistake::OtherWithoutDescription);
        }
        Ok(Self { name: known.clone(), description })
    }
}

fn nearest_outcome(name: &str, allowed: &[OutcomeName]) -> Option<OutcomeName> {
    let typed: String = name.to_lowercase().chars().take(QUOTED_CHARS_MAX).collect();
    let near = nearest(&typed, allowed.iter().map(OutcomeName::as_str))?;
    allowed.iter().find(|known| known.as_str() == near).cloned()
}

fn own_words(description: &str) -> Option<NonBlank> {
    let words = description.trim();
    let words = &words[..words.floor_char_boundary(DESCRIPTION_BYTES_MAX)];
    if words == DESCRIPTION_PLACEHOLDER { None } else { NonBlank::new(words).ok() }
}

/// The JSON lines a step allows, one per outcome, in recipe order.
pub fn allowed_lines(allowed: &[OutcomeName]) -> String {
    let lines: Vec<String> = allowed
        .iter()
        .map(|name| match name.as_str() {
            OTHER => {
                format!("{{\"outcome\": \"{OTHER}\", \"otherDescription\": \"{DESCRIPTION_PLACEHOLDER}\"}}")
            }
            name => format!("{{\"outcome\": \"{name}\"}}"),
        })
        .collect();
    lines.join("\n")
}

/// The last section of every step's prompt.
pub fn closing_block(allowed: &[OutcomeName]) -> String {
    format!(
        "## How to end this step\n\
         Call the tool `report_outcome` if you have it. Otherwise end your last message with exactly one of \
         these JSON lines, and write nothing after it:\n\n{}\n",
        allowed_lines(allowed)
    )
}

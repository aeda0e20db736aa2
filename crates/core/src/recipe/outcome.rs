//! An outcome: what the agent says at the end of a step, in one of the words the step allows.
//!
//! It is *reported*: nothing here makes it true. The prompt's closing block tells the agent the words,
//! [`crate::recipe::outcome_parser`] finds the one it used in its last message, and the tool `report_outcome`
//! hands it over directly. All of them pass through [`Outcome::report`].

use serde::{Deserialize, Serialize};

use crate::base::text::{NonBlank, OutcomeName, nearest};

/// The outcome for everything a step has no word for. The only one that must be described.
pub const OTHER: &str = "other";

/// The outcome that says the work of a step is done. Baton looks whether there is any.
pub const COMPLETE: &str = "complete";

/// The outcome that says the change is committed. Baton counts.
pub const COMMITTED: &str = "committed";

/// The outcome that says the queue is empty. Baton checks it against the queue.
pub const NO_TASKS: &str = "no-tasks";

/// Beyond this a description is a log. The rest is cut off.
pub const DESCRIPTION_BYTES_MAX: usize = 16 * 1024;

/// Stands in the closing block where the agent's own words belong. Sent back as it is, it says nothing.
const DESCRIPTION_PLACEHOLDER: &str = "<one sentence: what happened>";

/// Longest piece of a refused outcome that is quoted back.
pub(crate) const QUOTED_CHARS_MAX: usize = 80;

/// A reported outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    pub name: OutcomeName,
    /// The agent's own words, where it gave any. `other` always has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<NonBlank>,
}

/// Why no outcome could be taken from what the agent sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "mistake", rename_all = "snake_case")]
pub enum OutcomeMistake {
    #[error("your message has no JSON object with an \"outcome\" key")]
    NoneFound,
    /// It was meant as an outcome object, but it is not JSON.
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
    /// The one door for reports, from the tool and from the parser alike.
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

/// The JSON lines a step allows, one per outcome, in the recipe's order.
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

/// What every step's prompt ends with.
pub fn closing_block(allowed: &[OutcomeName]) -> String {
    format!(
        "## How to end this step\n\
         Call the tool `report_outcome` if you have it. Otherwise end your last message with exactly one of \
         these JSON lines, and write nothing after it:\n\n{}\n",
        allowed_lines(allowed)
    )
}

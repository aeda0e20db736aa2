//! Validated text: text that is not blank, and names that are safe in paths, URLs and command lines.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize};

use crate::base::explanation::Explanation;
use crate::base::inline_text;

/// Text with at least one visible character. I1 rests on it: a question holds one, so no question is blank.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct NonBlank(String);

/// Text was required and only white space was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the text is blank; write at least one visible character")]
pub struct BlankText;

impl BlankText {
    pub const EXPLAINED: Explanation = Explanation {
        code: "blank_text",
        means: "A text was required, and only white space was given.",
        cause: "A title, an answer, a reason or a message needs at least one visible character.",
        next: "Write at least one visible character.",
    };
}

impl NonBlank {
    pub fn new(text: impl Into<String>) -> Result<Self, BlankText> {
        let text = text.into();
        if is_blank(&text) { Err(BlankText) } else { Ok(Self(text)) }
    }

    /// The text, or `fallback` when the text is blank.
    pub fn or(text: &str, fallback: NonBlank) -> Self {
        Self::new(text).unwrap_or(fallback)
    }

    /// A text written in this crate, so never blank.
    pub(crate) fn fixed(text: &'static str) -> Self {
        debug_assert!(!is_blank(text));
        Self(text.to_owned())
    }

    /// `lead` is one of ours and never blank, so neither is the result.
    pub(crate) fn led_by(lead: &'static str, rest: &str) -> Self {
        debug_assert!(!is_blank(lead));
        Self(format!("{lead}{rest}"))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Zero-width and formatting characters are invisible, so a text made only of them is blank.
fn is_blank(text: &str) -> bool {
    text.chars().all(|c| {
        c.is_whitespace()
            || c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{00ad}')
    })
}

impl fmt::Display for NonBlank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for NonBlank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl FromStr for NonBlank {
    type Err = BlankText;

    fn from_str(text: &str) -> Result<Self, BlankText> {
        Self::new(text)
    }
}

impl TryFrom<String> for NonBlank {
    type Error = BlankText;

    fn try_from(text: String) -> Result<Self, BlankText> {
        Self::new(text)
    }
}

impl From<NonBlank> for String {
    fn from(text: NonBlank) -> String {
        text.0
    }
}

/// A text that is not a valid name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "\"{text}\" cannot be {noun}: use lower-case letters, digits, - and _, a letter or digit first, at most 64 in all"
)]
pub struct InvalidName {
    pub text: String,
    pub noun: &'static str,
}

macro_rules! name {
    ($(#[$doc:meta])* $type:ident, $noun:literal) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        pub struct $type(String);

        impl $type {
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $type {
            type Err = InvalidName;

            fn from_str(text: &str) -> Result<Self, InvalidName> {
                if is_name(text) {
                    Ok(Self(text.to_owned()))
                } else {
                    Err(InvalidName { text: text.chars().take(NAME_LEN_MAX).collect(), noun: $noun })
                }
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                inline_text::parse(deserializer, $noun)
            }
        }

        impl TryFrom<String> for $type {
            type Error = InvalidName;

            fn try_from(text: String) -> Result<Self, InvalidName> {
                text.parse()
            }
        }

        impl From<$type> for String {
            fn from(name: $type) -> String {
                name.0
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

/// Long enough for any name a person types, short enough for a table column.
const NAME_LEN_MAX: usize = 64;

fn is_name(text: &str) -> bool {
    let first_is_plain = text.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit());
    let all_are_safe =
        text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_');
    first_is_plain && all_are_safe && text.len() <= NAME_LEN_MAX
}

name!(
    /// The kind of agent a task needs: implement, breakdown, review, or a role the user defined.
    Role, "a role"
);

impl Role {
    pub fn implement() -> Self {
        Self("implement".to_owned())
    }

    pub fn breakdown() -> Self {
        Self("breakdown".to_owned())
    }

    /// Reviews the work of other agents.
    pub fn verify() -> Self {
        Self("verify".to_owned())
    }

    /// No agent: what checks run in is set for this role.
    pub fn check() -> Self {
        Self("check".to_owned())
    }

    /// The roles of the loop's phases.
    pub fn loop_phases() -> [Self; 3] {
        ["plan", "execute", "review"].map(|name| Self(name.to_owned()))
    }
}

name!(
    /// An agent, as named in the settings.
    AgentName, "an agent's name"
);
name!(
    /// A capability that only some machines have and a task may need: `gpu`, `mac`.
    Label, "a label"
);
name!(
    /// A person with a token, by the name the token was issued for.
    PersonName, "a person's name"
);
name!(
    /// A recipe's id.
    RecipeId, "a recipe's id"
);
name!(
    /// A step of a recipe.
    StepName, "a step's name"
);
name!(
    /// One of the outcomes a step allows.
    OutcomeName, "an outcome"
);

/// Suggestions below this similarity confuse more than they help.
const SIMILARITY_MIN: f64 = 0.7;

/// Up to `most` known names similar to a mistyped one, most similar first.
pub fn nearest_few<'a>(
    mistyped: &str,
    known: impl IntoIterator<Item = &'a str>,
    most: usize,
) -> Vec<&'a str> {
    let similar = known.into_iter().map(|name| (strsim::jaro_winkler(mistyped, name), name));
    let mut near: Vec<(f64, &str)> =
        similar.filter(|(similarity, _)| *similarity >= SIMILARITY_MIN).collect();
    near.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    near.into_iter().take(most).map(|(_, name)| name).collect()
}

/// The known name most similar to a mistyped one, if it is similar enough to suggest.
pub fn nearest<'a>(mistyped: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|name| (strsim::jaro_winkler(mistyped, name), name))
        .filter(|(similarity, _)| *similarity >= SIMILARITY_MIN)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invisible_text_is_blank() {
        for blank in ["", " ", "\n\t\r ", "\u{200b}\u{feff}", "\u{3000}", "\u{0}"] {
            assert_eq!(NonBlank::new(blank), Err(BlankText), "{blank:?}");
        }
        assert_eq!(NonBlank::new(" yes ").map(String::from), Ok(" yes ".to_owned()));
    }

    #[test]
    fn names_are_safe_in_paths_and_command_lines() {
        for good in ["a", "code-review", "max_2", "0day"] {
            assert!(good.parse::<StepName>().is_ok(), "{good}");
        }
        for bad in ["", "-f", "--help", "a b", "../x", "Großes", "A", "a\n", &"a".repeat(65)] {
            assert!(bad.parse::<StepName>().is_err(), "{bad}");
        }
    }

    #[test]
    fn the_nearest_name_is_offered_only_when_it_is_near() {
        assert_eq!(nearest("complet", ["complete", "blocked"]), Some("complete"));
        assert_eq!(nearest("zzz", ["complete", "blocked"]), None);
    }
}

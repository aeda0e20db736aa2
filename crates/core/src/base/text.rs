//! Small texts with a promise: one that is not blank, and names that are safe wherever they go.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize};

use crate::base::explanation::Explanation;
use crate::base::spelled;

/// A text that says something. I1 rests on it: a question holds one, so none can be blank.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct NonBlank(String);

/// A text was wanted and only white space came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the text is blank; write at least one visible character")]
pub struct Blank;

impl Blank {
    pub const EXPLAINED: Explanation = Explanation {
        code: "blank_text",
        means: "A text was wanted, and only white space came.",
        cause: "A title, an answer, a reason or a message without a visible character says nothing to whoever reads it.",
        next: "Write at least one visible character.",
    };
}

impl NonBlank {
    pub fn new(text: impl Into<String>) -> Result<Self, Blank> {
        let text = text.into();
        if is_blank(&text) { Err(Blank) } else { Ok(Self(text)) }
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

    /// `lead` is one of ours and never blank, so neither is the whole, whatever follows it.
    pub(crate) fn led_by(lead: &'static str, rest: &str) -> Self {
        debug_assert!(!is_blank(lead));
        Self(format!("{lead}{rest}"))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Zero-width and formatting characters show nothing, so a text of only them is blank to its reader.
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
    type Err = Blank;

    fn from_str(text: &str) -> Result<Self, Blank> {
        Self::new(text)
    }
}

impl TryFrom<String> for NonBlank {
    type Error = Blank;

    fn try_from(text: String) -> Result<Self, Blank> {
        Self::new(text)
    }
}

impl From<NonBlank> for String {
    fn from(text: NonBlank) -> String {
        text.0
    }
}

/// A text that cannot be a name of the wanted kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "\"{text}\" cannot be {noun}: use lower-case letters, digits, - and _, a letter or digit first, at most 64 in all"
)]
pub struct BadName {
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
            type Err = BadName;

            fn from_str(text: &str) -> Result<Self, BadName> {
                if is_name(text) {
                    Ok(Self(text.to_owned()))
                } else {
                    Err(BadName { text: text.chars().take(NAME_LEN_MAX).collect(), noun: $noun })
                }
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                spelled::parse(deserializer, $noun)
            }
        }

        impl TryFrom<String> for $type {
            type Error = BadName;

            fn try_from(text: String) -> Result<Self, BadName> {
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

/// Long enough for any name a person types, short enough for a column of a table.
const NAME_LEN_MAX: usize = 64;

fn is_name(text: &str) -> bool {
    let first_is_plain = text.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit());
    let all_are_safe =
        text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_');
    first_is_plain && all_are_safe && text.len() <= NAME_LEN_MAX
}

name!(
    /// Which kind of agent a task wants: implement, breakdown, review, or one of the user's own.
    Role, "a role"
);

impl Role {
    pub fn implement() -> Self {
        Self("implement".to_owned())
    }

    pub fn breakdown() -> Self {
        Self("breakdown".to_owned())
    }

    /// The work of the loop's phases, apart from the queue's own.
    pub fn of_loop() -> [Self; 3] {
        ["plan", "execute", "review"].map(|name| Self(name.to_owned()))
    }
}

name!(
    /// An agent as the settings name it.
    AgentName, "an agent's name"
);
name!(
    /// Something a machine has that not every one has, and that a task may need: `gpu`, `mac`.
    Label, "a label"
);
name!(
    /// A person who was given a token, by the name they are known under here.
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

/// Below this similarity a suggestion confuses more than it helps.
const SIMILARITY_MIN: f64 = 0.7;

/// The known names nearest to a mistyped one, nearest first: as many as are near enough, and no more than `most`.
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

/// The known name nearest to a mistyped one, where one is near enough to be worth suggesting.
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
    fn what_shows_nothing_is_blank() {
        for blank in ["", " ", "\n\t\r ", "\u{200b}\u{feff}", "\u{3000}", "\u{0}"] {
            assert_eq!(NonBlank::new(blank), Err(Blank), "{blank:?}");
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

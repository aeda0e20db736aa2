//! Typed ids and their text forms.
//!
//! Ids are generated outside core (randomness is an argument here) and parsed on the way in. Inside, an id is a
//! number with a type, so a question id cannot be passed where a task id is expected.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::base::inline_text::{self, InlineText};

/// A text that is not a valid id of the expected kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{text}\" is not {noun} id; one looks like {example}")]
pub struct InvalidId {
    pub text: String,
    pub noun: &'static str,
    pub example: &'static str,
}

/// Longest part of an invalid id that is quoted back.
const QUOTED_MAX: usize = 80;

impl InvalidId {
    fn new(text: &str, noun: &'static str, example: &'static str) -> Self {
        Self { text: text.chars().take(QUOTED_MAX).collect(), noun, example }
    }
}

fn parse_hex(text: &str, prefix: &str, digits: usize) -> Option<u64> {
    let hex = text.strip_prefix(prefix)?;
    let well_formed = hex.len() == digits && hex.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    if well_formed { u64::from_str_radix(hex, 16).ok() } else { None }
}

macro_rules! hex_id {
    ($(#[$doc:meta])* $name:ident, $noun:literal, $prefix:literal, $repr:ty, $digits:literal, $example:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name($repr);

        impl $name {
            pub const PREFIX: &'static str = $prefix;

            pub const fn from_bits(bits: $repr) -> Self {
                Self(bits)
            }

            pub const fn bits(self) -> $repr {
                self.0
            }

            fn to_inline(self) -> InlineText {
                InlineText::default().text($prefix).hex(self.0.into(), $digits)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.to_inline().as_str())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;

            fn from_str(text: &str) -> Result<Self, InvalidId> {
                parse_hex(text, $prefix, $digits)
                    .and_then(|bits| <$repr>::try_from(bits).ok())
                    .map(Self)
                    .ok_or_else(|| InvalidId::new(text, $noun, $example))
            }
        }

        impl TryFrom<String> for $name {
            type Error = InvalidId;

            fn try_from(text: String) -> Result<Self, InvalidId> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> String {
                id.to_string()
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.to_inline().as_str())
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                inline_text::parse(deserializer, concat!($noun, " id"))
            }
        }
    };
}

hex_id!(
    /// A task: `TASK-` and 8 hex digits.
    TaskId, "a task", "TASK-", u32, 8, "TASK-9a69e916"
);
hex_id!(
    /// A project: `PROJ-` and 8 hex digits; its feature branch carries the same digits.
    ProjectId, "a project", "PROJ-", u32, 8, "PROJ-dca27809"
);
hex_id!(
    /// One execution of a task. Longer than the other ids, because a busy queue creates many.
    AttemptId, "an attempt", "ATT-", u64, 16, "ATT-00c0ffee00c0ffee"
);
hex_id!(
    /// A question to the human.
    QuestionId, "a question", "Q-", u32, 8, "Q-5eed1234"
);
hex_id!(
    /// One execution of a recipe.
    RunId, "a run", "RUN-", u32, 8, "RUN-0badcafe"
);
hex_id!(
    /// A routine: work that starts by time or by event.
    RoutineId, "a routine", "RTN-", u32, 8, "RTN-0badcafe"
);
hex_id!(
    /// One ask cycle: the part of a run in which one owner may ask.
    CycleId, "an ask cycle", "CYC-", u64, 16, "CYC-00000000deadbeef"
);
hex_id!(
    /// A file that was sent with a message.
    AttachmentId, "an attached file", "FILE-", u64, 16, "FILE-00000000c0ffee00"
);
hex_id!(
    /// One effect in the outbox. Running it twice under the same id has the effect once.
    EffectId, "an effect", "EFF-", u64, 16, "EFF-0000000000000001"
);

/// A conversation with the human. The caller chooses its text, within limits that keep it safe in a path, a URL and a
/// log line.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct SessionId(String);

impl SessionId {
    pub const LEN_MAX: usize = 128;

    /// The default session of a project, used when a message names none.
    pub fn for_project(project: ProjectId) -> Self {
        Self(format!("sess_{project}"))
    }

    /// The session of a routine's tasks.
    pub fn for_routine(routine: RoutineId) -> Self {
        Self(format!("{ROUTINE_SESSIONS}{routine}"))
    }

    /// Whether its tasks are a routine's.
    pub fn is_of_routine(&self) -> bool {
        self.0.starts_with(ROUTINE_SESSIONS)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// How the sessions of routines begin.
const ROUTINE_SESSIONS: &str = "routine-";

impl FromStr for SessionId {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let first_is_plain = text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        let all_are_safe = text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.:".contains(&b));
        if first_is_plain && all_are_safe && text.len() <= Self::LEN_MAX {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidId::new(text, "session", "sess_PROJ-dca27809 (letters, digits, - _ . : up to 128)"))
        }
    }
}

impl TryFrom<String> for SessionId {
    type Error = InvalidId;

    fn try_from(text: String) -> Result<Self, InvalidId> {
        text.parse()
    }
}

impl From<SessionId> for String {
    fn from(id: SessionId) -> String {
        id.0
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ids_print_as_documented() {
        assert_eq!(TaskId::from_bits(0x9a69_e916).to_string(), "TASK-9a69e916");
        assert_eq!(ProjectId::from_bits(7).to_string(), "PROJ-00000007");
        assert_eq!(AttemptId::from_bits(7).to_string(), "ATT-0000000000000007");
        assert_eq!(SessionId::for_project(ProjectId::from_bits(7)).to_string(), "sess_PROJ-00000007");
    }

    #[test]
    fn bad_ids_are_refused_with_an_example() {
        for bad in [
            "",
            "TASK-",
            "TASK-9A69E916",
            "TASK-9a69e91",
            "TASK-9a69e9160",
            "task-9a69e916",
            "PROJ-9a69e916",
            "TASK-+a69e916",
        ] {
            let refusal = bad.parse::<TaskId>().unwrap_err();
            assert!(refusal.to_string().ends_with("one looks like TASK-9a69e916"), "{refusal}");
        }
        for bad in ["", "-rf", ".hidden", "a b", "a/b", "a\n", "ä", &"x".repeat(129)] {
            assert!(bad.parse::<SessionId>().is_err(), "{bad:?}");
        }
    }

    proptest! {
        #[test]
        fn ids_round_trip(bits: u32, long: u64) {
            prop_assert_eq!(TaskId::from_bits(bits).to_string().parse(), Ok(TaskId::from_bits(bits)));
            prop_assert_eq!(AttemptId::from_bits(long).to_string().parse(), Ok(AttemptId::from_bits(long)));
        }

        #[test]
        fn no_text_panics_the_parser(text in any::<String>()) {
            let _ = text.parse::<TaskId>();
            let _ = text.parse::<SessionId>();
        }
    }
}

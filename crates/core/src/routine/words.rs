//! The choices of a routine, and their words.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A text that is none of the choices.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{text}\" is not one of {choices}")]
pub struct UnknownWord {
    text: String,
    choices: String,
}

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$of:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum $name { $($(#[$of])* $variant),+ }

        impl $name {
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl FromStr for $name {
            type Err = UnknownWord;

            fn from_str(text: &str) -> Result<Self, UnknownWord> {
                let choices = || [$($word),+].join(", ");
                let found = Self::ALL.iter().copied().find(|one| one.as_str() == text);
                found.ok_or_else(|| UnknownWord { text: text.to_owned(), choices: choices() })
            }
        }
    };
}

words! {
    /// What happens when the task of the last run is still open.
    Overlap {
        /// The new run does not take place.
        #[default]
        Skip = "skip",
        /// It waits for the task to end.
        Queue = "queue",
        /// The task is cancelled.
        Replace = "replace",
    }
}

words! {
    /// What happens to moments at which Baton did not run.
    CatchUp {
        /// They are left out.
        None = "none",
        /// The last of them takes place, late.
        #[default]
        One = "one",
        /// All of them take place, late.
        All = "all",
    }
}

//! What a person may do. Each role includes the ones before it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::base::text::nearest;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PersonRole {
    /// Reads everything and changes nothing.
    Viewer,
    /// Also answers questions, replies to tasks and chats.
    Responder,
    /// May do everything, including issuing tokens.
    Operator,
}

/// A word that is not a role.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown role \"{text}\"; the roles are viewer, responder and operator{}", near(.text))]
pub struct InvalidPersonRole {
    pub text: String,
}

fn near(text: &str) -> String {
    let known = PersonRole::ALL.map(PersonRole::as_str);
    nearest(text, known).map(|name| format!("; did you mean {name}?")).unwrap_or_default()
}

impl PersonRole {
    pub const ALL: [Self; 3] = [Self::Viewer, Self::Responder, Self::Operator];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Responder => "responder",
            Self::Operator => "operator",
        }
    }

    /// Whether this role may do what requires `needed`.
    pub fn may(self, needed: Self) -> bool {
        self >= needed
    }
}

impl fmt::Display for PersonRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for PersonRole {
    type Err = InvalidPersonRole;

    fn from_str(text: &str) -> Result<Self, InvalidPersonRole> {
        let found = Self::ALL.into_iter().find(|role| role.as_str() == text);
        found.ok_or_else(|| InvalidPersonRole { text: text.chars().take(64).collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_role_may_do_what_the_one_before_it_may() {
        for (number, role) in PersonRole::ALL.into_iter().enumerate() {
            for (other, needed) in PersonRole::ALL.into_iter().enumerate() {
                assert_eq!(role.may(needed), number >= other, "{role} {needed}");
            }
            assert_eq!(role.as_str().parse(), Ok(role));
            assert_eq!(serde_json::to_string(&role).unwrap(), format!("\"{role}\""));
        }
    }

    #[test]
    fn another_word_is_refused_with_the_nearest_role() {
        let refused = "operater".parse::<PersonRole>().unwrap_err().to_string();
        assert!(refused.ends_with("did you mean operator?"), "{refused}");
        assert!("king".parse::<PersonRole>().unwrap_err().to_string().ends_with("operator"));
    }
}

//! Who accepts finished work.

use std::fmt;

use serde::{Deserialize, Serialize};

/// `accept_when`, of the settings or of one task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AcceptPolicy {
    /// you accept it
    Person,
    /// Baton accepts it, and it lands once the checks have passed on its branch with it; needs `checks`, or commands that verify
    /// the task
    Green,
    /// as `green`, once another agent has reviewed it and agrees; the agent of the role `verify`, which must not be the one that
    /// did the work
    Reviewed,
}

impl AcceptPolicy {
    pub const ALL: [Self; 3] = [Self::Person, Self::Green, Self::Reviewed];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Green => "green",
            Self::Reviewed => "reviewed",
        }
    }
}

impl fmt::Display for AcceptPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl std::str::FromStr for AcceptPolicy {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|policy| policy.as_str() == text)
            .ok_or_else(|| format!("{text:?} is not a policy; write person, green or reviewed"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_have_names() {
        for policy in AcceptPolicy::ALL {
            assert_eq!(policy.to_string().parse(), Ok(policy));
            assert_eq!(serde_json::to_value(policy).unwrap(), policy.as_str());
        }
        assert!("always".parse::<AcceptPolicy>().unwrap_err().contains("person, green or reviewed"));
    }
}

//! A task's priority: P0 before P3. A person sets it; the claim order uses it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Lower runs sooner, so the derived order is the claim order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Priority {
    P0,
    P1,
    #[default]
    P2,
    P3,
}

/// A text that is not a priority.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{text}\" is not a priority; the priorities are P0 (first), P1, P2 (the default) and P3 (last)")]
pub struct InvalidPriority {
    pub text: String,
}

impl Priority {
    pub const ALL: [Self; 4] = [Self::P0, Self::P1, Self::P2, Self::P3];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::P0 => "P0",
            Self::P1 => "P1",
            Self::P2 => "P2",
            Self::P3 => "P3",
        }
    }

    /// 0 for P0 up to 3 for P3.
    pub const fn level(self) -> u8 {
        match self {
            Self::P0 => 0,
            Self::P1 => 1,
            Self::P2 => 2,
            Self::P3 => 3,
        }
    }
}

impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Priority {
    type Err = InvalidPriority;

    fn from_str(text: &str) -> Result<Self, InvalidPriority> {
        /// Longest piece of a refused text that is quoted back.
        const QUOTED_CHARS_MAX: usize = 40;
        match text.trim() {
            "P0" | "p0" | "0" => Ok(Self::P0),
            "P1" | "p1" | "1" => Ok(Self::P1),
            "P2" | "p2" | "2" => Ok(Self::P2),
            "P3" | "p3" | "3" => Ok(Self::P3),
            _ => Err(InvalidPriority { text: text.chars().take(QUOTED_CHARS_MAX).collect() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn priorities_round_trip() {
        for (level, priority) in (0..).zip(Priority::ALL) {
            assert_eq!(priority.level(), level);
            assert_eq!(priority.to_string().parse(), Ok(priority));
            assert_eq!(priority.as_str().to_lowercase().parse(), Ok(priority));
            assert_eq!(level.to_string().parse(), Ok(priority));
            assert_eq!(serde_json::to_value(priority).unwrap(), priority.as_str());
        }
        assert!(Priority::ALL.is_sorted());
        assert_eq!(Priority::default(), Priority::P2);
    }

    #[test]
    fn anything_else_is_refused_with_the_list() {
        for bad in ["", "P4", "-1", "high", "P 1"] {
            assert!(bad.parse::<Priority>().unwrap_err().to_string().contains("P0 (first)"), "{bad}");
        }
        assert!(serde_json::from_str::<Priority>(r#""P9""#).is_err());
    }
}

//! The type of a task. It decides what counts as a result (see [`crate::task::guard`]).

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::base::text::nearest;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum TaskType {
    /// Look something up; the output is the deliverable.
    ReadInfo,
    /// Write something for a person to read; the output is the deliverable.
    Report,
    LightEdit,
    Implementation,
    ReviewResponse,
    ConfigCiChange,
    /// Work that can destroy something. The only type that may be blocked.
    DangerousOp,
}

/// The three ways to judge a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Deliverable {
    /// The text the agent wrote.
    Output,
    /// Commits on the task's branch.
    Code,
    /// Commits, and a human's go-ahead for anything unclear.
    Danger,
}

impl TaskType {
    pub const ALL: [Self; 7] = [
        Self::ReadInfo,
        Self::Report,
        Self::LightEdit,
        Self::Implementation,
        Self::ReviewResponse,
        Self::ConfigCiChange,
        Self::DangerousOp,
    ];

    pub const fn deliverable(self) -> Deliverable {
        match self {
            Self::ReadInfo | Self::Report => Deliverable::Output,
            Self::LightEdit | Self::Implementation | Self::ReviewResponse | Self::ConfigCiChange => {
                Deliverable::Code
            }
            Self::DangerousOp => Deliverable::Danger,
        }
    }

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ReadInfo => "READ_INFO",
            Self::Report => "REPORT",
            Self::LightEdit => "LIGHT_EDIT",
            Self::Implementation => "IMPLEMENTATION",
            Self::ReviewResponse => "REVIEW_RESPONSE",
            Self::ConfigCiChange => "CONFIG_CI_CHANGE",
            Self::DangerousOp => "DANGEROUS_OP",
        }
    }
}

impl fmt::Display for TaskType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A text that is not a task type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{text}\" is not a task type{}; the types are READ_INFO, REPORT, LIGHT_EDIT, IMPLEMENTATION, REVIEW_RESPONSE, CONFIG_CI_CHANGE, DANGEROUS_OP", hint(*.nearest))]
pub struct InvalidTaskType {
    pub text: String,
    pub nearest: Option<&'static str>,
}

fn hint(nearest: Option<&'static str>) -> String {
    nearest.map(|name| format!(" (did you mean {name}?)")).unwrap_or_default()
}

impl FromStr for TaskType {
    type Err = InvalidTaskType;

    fn from_str(text: &str) -> Result<Self, InvalidTaskType> {
        let wanted = text.trim().to_ascii_uppercase().replace('-', "_");
        Self::ALL.into_iter().find(|known| known.as_str() == wanted).ok_or_else(|| InvalidTaskType {
            text: text.to_owned(),
            nearest: nearest(&wanted, Self::ALL.map(Self::as_str)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_round_trip() {
        for task_type in TaskType::ALL {
            assert_eq!(task_type.to_string().parse(), Ok(task_type));
            assert_eq!(serde_json::to_value(task_type).unwrap(), task_type.as_str());
        }
        assert_eq!("light-edit".parse(), Ok(TaskType::LightEdit));
    }

    #[test]
    fn a_mistyped_type_gets_the_nearest_one() {
        let refusal = "IMPLEMENTATON".parse::<TaskType>().unwrap_err();
        assert_eq!(refusal.nearest, Some("IMPLEMENTATION"));
    }
}

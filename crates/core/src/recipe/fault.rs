//! A fault of a recipe: where it is, what is wrong, and what was probably meant.
//!
//! Faults come in lists. A person mends a file in one go, not one fault per reload.

use std::fmt;

use serde::Serialize;

/// What sort of fault it is, for a program to branch on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    UnknownKey,
    Missing,
    Blank,
    TooLong,
    TooMany,
    /// A list where a text should be, a text where a number should be.
    WrongShape,
    BadName,
    Duplicate,
    OutOfRange,
    UnknownStep,
    /// I11: the agent may say it, and nothing follows.
    OutcomeWithoutTransition,
    /// I11: something follows from what the agent may not say.
    TransitionWithoutOutcome,
    /// A transition has none of its three forms, or more than one.
    NotOneForm,
    BadExitReason,
    /// A gate or a default names an outcome the step does not have.
    UnknownOutcome,
    UnreachableStep,
    /// From there the run could only be ended by a guardrail.
    NoWayToExit,
    /// I7, I8: the loop's recipe has other phases, gates or edges than the loop.
    NotTheLoop,
}

/// One fault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fault {
    pub kind: FaultKind,
    /// The step as the file names it; none for the recipe's own fields.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// The keys that lead to the place from there. Empty when it is the step as a whole.
    pub field: Vec<String>,
    pub message: String,
    /// The known name nearest to the one that was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let field = self.field.join(".");
        match (&self.step, field.as_str()) {
            (Some(step), "") => write!(f, "step {step}: ")?,
            (Some(step), field) => write!(f, "step {step}, {field}: ")?,
            (None, "") => {}
            (None, field) => write!(f, "{field}: ")?,
        }
        f.write_str(&self.message)?;
        match &self.hint {
            Some(name) => write!(f, " (did you mean {name}?)"),
            None => Ok(()),
        }
    }
}

/// All faults of a recipe as one error, one per line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("the recipe has faults:\n{}", lines(.0))]
pub struct Faults(pub Vec<Fault>);

fn lines(faults: &[Fault]) -> String {
    faults.iter().map(|fault| format!("  {fault}")).collect::<Vec<_>>().join("\n")
}

/// A place in a recipe, from which the places inside it are named.
#[derive(Debug, Clone, Default)]
pub(super) struct Place {
    step: Option<String>,
    field: Vec<String>,
}

impl Place {
    pub(super) fn of_step(step: &str) -> Self {
        Self { step: Some(step.to_owned()), field: Vec::new() }
    }

    pub(super) fn field(&self, key: impl Into<String>) -> Self {
        let mut inner = self.clone();
        inner.field.push(key.into());
        inner
    }

    pub(super) fn fault(&self, kind: FaultKind, message: impl Into<String>) -> Fault {
        Fault {
            kind,
            step: self.step.clone(),
            field: self.field.clone(),
            message: message.into(),
            hint: None,
        }
    }
}

impl Fault {
    pub(super) fn hinting(mut self, nearest: Option<&str>) -> Self {
        self.hint = nearest.map(str::to_owned);
        self
    }
}

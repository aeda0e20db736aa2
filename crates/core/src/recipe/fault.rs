//! Errors in a recipe: where each is, what is wrong, and what was probably meant.
//!
//! Errors are reported together, because a person fixes a file in one pass.

use std::fmt;

use serde::Serialize;

/// The kind of error, for programs to branch on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RecipeErrorKind {
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
    /// I11: the agent may report it, and no transition follows.
    OutcomeWithoutTransition,
    /// I11: a transition for an outcome the agent may not report.
    TransitionWithoutOutcome,
    /// A transition has none of its three forms, or more than one.
    NotOneForm,
    BadExitReason,
    /// A gate or a default names an outcome the step does not have.
    UnknownOutcome,
    UnreachableStep,
    /// From there only a guardrail could end the run.
    NoWayToExit,
    /// I7, I8: the loop's recipe has other phases, gates or edges than the loop.
    NotTheLoop,
}

/// One error in a recipe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RecipeError {
    pub kind: RecipeErrorKind,
    /// The step as named in the file; `None` for the recipe's own fields.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// The keys from there to the value. Empty for the step as a whole.
    pub field: Vec<String>,
    pub message: String,
    /// The known name most similar to the one written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl fmt::Display for RecipeError {
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

/// All errors of a recipe as one error, one per line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("the recipe has errors:\n{}", lines(.0))]
pub struct RecipeErrors(pub Vec<RecipeError>);

fn lines(faults: &[RecipeError]) -> String {
    faults.iter().map(|fault| format!("  {fault}")).collect::<Vec<_>>().join("\n")
}

/// A location in a recipe, from which nested locations are derived.
#[derive(Debug, Clone, Default)]
pub(super) struct ErrorLocation {
    step: Option<String>,
    field: Vec<String>,
}

impl ErrorLocation {
    pub(super) fn of_step(step: &str) -> Self {
        Self { step: Some(step.to_owned()), field: Vec::new() }
    }

    pub(super) fn field(&self, key: impl Into<String>) -> Self {
        let mut inner = self.clone();
        inner.field.push(key.into());
        inner
    }

    pub(super) fn fault(&self, kind: RecipeErrorKind, message: impl Into<String>) -> RecipeError {
        RecipeError {
            kind,
            step: self.step.clone(),
            field: self.field.clone(),
            message: message.into(),
            hint: None,
        }
    }
}

impl RecipeError {
    pub(super) fn hinting(mut self, nearest: Option<&str>) -> Self {
        self.hint = nearest.map(str::to_owned);
        self
    }
}

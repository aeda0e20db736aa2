//! Why a run ended: the reason, its category and a sentence for people.
//!
//! A recipe names its own reasons; Baton adds guardrails and errors. Both are mapped here, so every exit has a
//! category and a message whatever its reason (I10). A reason decides nothing by itself: what happens to the task is
//! decided by the task's rules.

pub mod explained;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::base::text::{NonBlank, StepName};

const MAX_TOTAL_STEPS: &str = "max-total-steps";
const MAX_STEP_VISITS_EXCEEDED: &str = "max-step-visits-exceeded";
const ORCHESTRATION_ERROR: &str = "orchestration-error";
const ERROR: &str = "error";
const INTERNAL_ERROR: &str = "internal-error";
const NO_PROMPT: &str = "no-prompt";
const USER_REQUESTED: &str = "user-requested";
const UNANSWERED: &str = "unanswered";
const NO_TASKS_AVAILABLE: &str = "no-tasks-available";

/// Why a run ended: one line, not blank.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ExitReason(String);

/// How an exit is shown: as information, as a warning or as an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExitCategory {
    /// The recipe reached one of its own exits, successful or not.
    Completed,
    /// A limit stopped a run that did not stop by itself.
    Guardrail,
    /// Baton could not continue.
    Error,
}

impl ExitCategory {
    pub const ALL: [Self; 3] = [Self::Completed, Self::Guardrail, Self::Error];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Guardrail => "guardrail",
            Self::Error => "error",
        }
    }
}

impl fmt::Display for ExitCategory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A text that is not a valid exit reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidExitReason {
    #[error("an exit reason cannot be blank; write one such as task-committed")]
    Blank,
    #[error("an exit reason is at most {} bytes long; keep the detail for the log", ExitReason::LEN_MAX)]
    TooLong,
    #[error("an exit reason is one line without control characters; write one such as task-committed")]
    NotOneLine,
}

impl ExitReason {
    /// A reason is a label in a list and a log line, not a report.
    pub const LEN_MAX: usize = 200;

    /// Surrounding white space is dropped, so that a reason never misses its category by a space.
    pub fn new(text: &str) -> Result<Self, InvalidExitReason> {
        let text = text.trim();
        if NonBlank::new(text).is_err() {
            Err(InvalidExitReason::Blank)
        } else if text.len() > Self::LEN_MAX {
            Err(InvalidExitReason::TooLong)
        } else if text.contains(char::is_control) {
            Err(InvalidExitReason::NotOneLine)
        } else {
            Ok(Self(text.to_owned()))
        }
    }

    /// Whether only Baton ends a run like this. A recipe that did would blame Baton for it.
    pub fn is_of_baton(&self) -> bool {
        let name = self.0.split(':').next().unwrap_or_default();
        [INTERNAL_ERROR, ORCHESTRATION_ERROR, MAX_TOTAL_STEPS, MAX_STEP_VISITS_EXCEEDED].contains(&name)
    }

    pub fn max_total_steps() -> Self {
        Self(MAX_TOTAL_STEPS.to_owned())
    }

    pub fn max_step_visits_exceeded(step: &StepName) -> Self {
        Self(format!("{MAX_STEP_VISITS_EXCEEDED}:{step}"))
    }

    /// The same without a step name, for describing what may happen.
    pub fn max_step_visits_of_any() -> Self {
        Self(MAX_STEP_VISITS_EXCEEDED.to_owned())
    }

    /// The agent was reminded and still reported no usable outcome.
    pub fn orchestration_error() -> Self {
        Self(ORCHESTRATION_ERROR.to_owned())
    }

    /// The agent's process or provider failed permanently.
    pub fn error() -> Self {
        Self(ERROR.to_owned())
    }

    /// Baton itself failed.
    pub fn internal_error() -> Self {
        Self(INTERNAL_ERROR.to_owned())
    }

    pub fn no_prompt() -> Self {
        Self(NO_PROMPT.to_owned())
    }

    /// The human ended the run.
    pub fn user_requested() -> Self {
        Self(USER_REQUESTED.to_owned())
    }

    /// Nobody answered a question, and the policy is to stop then.
    pub fn unanswered() -> Self {
        Self(UNANSWERED.to_owned())
    }

    pub fn no_tasks_available() -> Self {
        Self(NO_TASKS_AVAILABLE.to_owned())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// I10: total. An unknown reason comes from a user's recipe, and that is a completion.
    pub fn category(&self) -> ExitCategory {
        match self.as_str() {
            MAX_TOTAL_STEPS => ExitCategory::Guardrail,
            ORCHESTRATION_ERROR | ERROR | INTERNAL_ERROR | NO_PROMPT => ExitCategory::Error,
            reason if reason.starts_with(MAX_STEP_VISITS_EXCEEDED) => ExitCategory::Guardrail,
            _ => ExitCategory::Completed,
        }
    }

    /// Every reason that Baton or a built-in recipe uses.
    pub fn named() -> impl Iterator<Item = &'static str> {
        SENTENCES.iter().map(|(name, _)| *name).chain([MAX_STEP_VISITS_EXCEEDED])
    }

    /// I10: total, and never blank.
    pub fn message(&self) -> String {
        if let Some(rest) = self.0.strip_prefix(MAX_STEP_VISITS_EXCEEDED) {
            return match rest.strip_prefix(':').filter(|step| !step.is_empty()) {
                Some(step) => format!("Stopped: step \"{step}\" was entered too many times"),
                None => "Stopped: a step was entered too many times".to_owned(),
            };
        }
        sentence(&self.0).map_or_else(|| format!("Completed: {}", self.0), str::to_owned)
    }
}

/// The reasons used by Baton and its built-in recipes, with their messages. `max-step-visits-exceeded` has its own.
const SENTENCES: [(&str, &str); 26] = [
    ("task-committed", "Task implementation committed successfully"),
    ("design-committed", "Design document committed successfully"),
    ("tasks-committed", "Implementation tasks created and committed"),
    ("no-changes-to-commit", "No changes to commit"),
    ("clarification-needed", "Needs clarification before continuing"),
    ("implementation-blocked", "Implementation blocked - cannot proceed"),
    ("no-design-document-found", "Design document not found"),
    (NO_TASKS_AVAILABLE, "No tasks available to implement"),
    ("user-provided-other", "Recipe exited by user choice"),
    ("work-complete", "Work completed"),
    ("no-changes-needed", "Nothing had to be changed"),
    ("changes-committed", "Reviewed changes committed successfully"),
    ("design-refined", "Design document refined and committed"),
    ("rebase-complete", "Branch rebased successfully"),
    ("rebase-conflict", "Rebase stopped at conflicts that need a decision"),
    ("merge-complete", "Branch merged successfully"),
    ("merge-conflict", "Merge stopped at conflicts that need a decision"),
    ("retrospective-complete", "Retrospective written"),
    ("loop-complete", "Plan, execute and review loop ended"),
    (USER_REQUESTED, "Recipe stopped on request"),
    (UNANSWERED, "Stopped: nobody answered a question"),
    (MAX_TOTAL_STEPS, "Stopped: the run took too many steps"),
    (ORCHESTRATION_ERROR, "The agent did not report a usable outcome"),
    (ERROR, "The run ended with an error"),
    (INTERNAL_ERROR, "Baton ran into an internal error"),
    (NO_PROMPT, "The step has no prompt to send"),
];

fn sentence(reason: &str) -> Option<&'static str> {
    SENTENCES.iter().find(|(name, _)| *name == reason).map(|(_, sentence)| *sentence)
}

impl FromStr for ExitReason {
    type Err = InvalidExitReason;

    fn from_str(text: &str) -> Result<Self, InvalidExitReason> {
        Self::new(text)
    }
}

impl TryFrom<String> for ExitReason {
    type Error = InvalidExitReason;

    fn try_from(text: String) -> Result<Self, InvalidExitReason> {
        Self::new(&text)
    }
}

impl From<ExitReason> for String {
    fn from(reason: ExitReason) -> String {
        reason.0
    }
}

impl fmt::Display for ExitReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for ExitReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

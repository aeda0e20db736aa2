//! What a run's agent session knows: what was said in it, and what it still has to be told.
//!
//! The provider's own session has this too, but can be lost, and a program that is started again for every step has
//! no other memory. It is stored with the run, so that a step dispatched again after a crash is told the same.

use serde::{Deserialize, Serialize};

use crate::base::text::{NonBlank, OutcomeName, StepName};
use crate::base::time::Timestamp;
use crate::recipe::outcome::Outcome;

/// Turns kept, newest last. A session that needs more has the worktree to look at.
pub const TURNS_MAX: usize = 20;
/// Only the end of a turn is kept: the agent's conclusion is there.
pub const TURN_BYTES_MAX: usize = 8 * 1024;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunMemory {
    /// When the agent session began; earlier questions are not its own. `None` for the first one.
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<Timestamp>,
    /// The next prompt starts a new agent session.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_new: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    turns: Vec<RunTurn>,
    /// How the previous step ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    handed: Option<StepHandover>,
    /// The reminder the agent has not acted on yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    told: Option<String>,
    /// The number of the last session message delivered to the agent.
    heard: u32,
}

/// One turn of the conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunTurn {
    /// The step whose agent spoke; `None` for the human.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<StepName>,
    pub text: NonBlank,
}

/// What a step passes on when it ends: its outcome and its reasons, never a question or an answer (I7).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepHandover {
    pub step: StepName,
    pub outcome: OutcomeName,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<NonBlank>,
}

impl RunMemory {
    pub fn since(&self) -> Option<Timestamp> {
        self.since
    }

    /// Oldest first.
    pub fn turns(&self) -> &[RunTurn] {
        &self.turns
    }

    pub fn handover(&self) -> Option<&StepHandover> {
        self.handed.as_ref()
    }

    pub fn pending_reminder(&self) -> Option<&str> {
        self.told.as_deref()
    }

    pub fn delivered(&self) -> u32 {
        self.heard
    }

    pub(crate) fn begin(&mut self, now: Timestamp) {
        if std::mem::take(&mut self.is_new) {
            self.since = Some(now);
        }
    }

    pub(crate) fn say(&mut self, step: Option<StepName>, text: &str) {
        let start = text.ceil_char_boundary(text.len().saturating_sub(TURN_BYTES_MAX));
        // Blank output is not worth remembering.
        let Ok(text) = NonBlank::new(text[start..].trim()) else { return };
        if self.turns.len() == TURNS_MAX {
            self.turns.remove(0);
        }
        self.turns.push(RunTurn { step, text });
    }

    /// The agent has these messages now; sending them again would repeat them.
    pub(crate) fn hear(&mut self, number: u32) {
        self.heard = self.heard.max(number);
    }

    pub(crate) fn tell(&mut self, text: &str) {
        self.told = Some(text.to_owned());
    }

    pub(crate) fn was_told(&mut self) {
        self.told = None;
    }

    pub(crate) fn hand_over(&mut self, step: &StepName, outcome: OutcomeName, reported: &Outcome) {
        let words = reported.description.clone();
        self.handed = Some(StepHandover { step: step.clone(), outcome, words });
    }

    /// A new agent session: it knows only what was handed over.
    pub(crate) fn forget(&mut self) {
        self.is_new = true;
        self.turns.clear();
    }
}

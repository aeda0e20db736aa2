//! What the agent session of a run knows: what was said in it, and what it still has to be told.
//!
//! A provider's own session remembers this too, but it can be lost; a program that is started anew for every
//! step has no other memory. It is stored with the run, so that a step that is dispatched again after a
//! crash is told the same.

use serde::{Deserialize, Serialize};

use crate::base::text::{NonBlank, OutcomeName, StepName};
use crate::base::time::Timestamp;
use crate::recipe::outcome::Outcome;

/// Things said that are kept, the newest. A session that needs more than this has the worktree to look at.
pub const TURNS_MAX: usize = 20;
/// The end of one of them: what an agent concludes stands there.
pub const TURN_BYTES_MAX: usize = 8 * 1024;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Memory {
    /// When the agent session began. Questions asked before are not its own. None for the first one.
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<Timestamp>,
    /// The next prompt begins a new agent session.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_new: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    turns: Vec<Turn>,
    /// How the step before this one ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    handed: Option<HandedOver>,
    /// The reminder the agent has not acted on yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    told: Option<String>,
    /// The number of the session's last message the agent was told.
    heard: u32,
}

/// One thing said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// The step whose agent said it; none for the human.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<StepName>,
    pub text: NonBlank,
}

/// What a step passes on when it is left: its word and its reasons, never a question or an answer (I7).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandedOver {
    pub step: StepName,
    pub outcome: OutcomeName,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<NonBlank>,
}

impl Memory {
    pub fn since(&self) -> Option<Timestamp> {
        self.since
    }

    /// Oldest first.
    pub fn turns(&self) -> &[Turn] {
        &self.turns
    }

    pub fn handed(&self) -> Option<&HandedOver> {
        self.handed.as_ref()
    }

    pub fn told(&self) -> Option<&str> {
        self.told.as_deref()
    }

    pub fn heard(&self) -> u32 {
        self.heard
    }

    pub(crate) fn begin(&mut self, now: Timestamp) {
        if std::mem::take(&mut self.is_new) {
            self.since = Some(now);
        }
    }

    pub(crate) fn say(&mut self, step: Option<StepName>, text: &str) {
        let start = text.ceil_char_boundary(text.len().saturating_sub(TURN_BYTES_MAX));
        // An agent that said nothing visible leaves nothing to remember.
        let Ok(text) = NonBlank::new(text[start..].trim()) else { return };
        if self.turns.len() == TURNS_MAX {
            self.turns.remove(0);
        }
        self.turns.push(Turn { step, text });
    }

    /// From now on the agent knows of these; asking it again would repeat them.
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
        self.handed = Some(HandedOver { step: step.clone(), outcome, words });
    }

    /// A new agent session: it knows what it was handed and nothing else.
    pub(crate) fn forget(&mut self) {
        self.is_new = true;
        self.turns.clear();
    }
}

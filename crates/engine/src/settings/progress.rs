//! `[progress]`: when an agent that gets nowhere is stopped, and a person asked.

use baton_core::base::task_type::{Deliverable, TaskType};
use baton_core::limits::stall::StallLimits;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Half as many again as an attempt has by default: before that, running out of turns without a commit has its own consequence.
const IDLE_TURNS: u32 = 80;
/// Programs that wait for something poll it a few times.
const REPEATED_CALLS: u32 = 6;
const REPEATED_ERRORS: u32 = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ProgressSettings {
    /// How many tool calls may pass without a new commit or change, in work that changes code; 0 does not look. `idle_turns`
    /// in `[budgets.task]` counts for every task instead.
    pub idle_turns: u32,
    /// How often in a row an agent may make the same call, or the same round of two or three calls, with the same result; 0 does
    /// not look.
    pub repeated_calls: u32,
    /// How often in a row the same call may fail with the same error (different calls: twice as often); 0 does not look.
    pub repeated_errors: u32,
}

impl Default for ProgressSettings {
    fn default() -> Self {
        Self { idle_turns: IDLE_TURNS, repeated_calls: REPEATED_CALLS, repeated_errors: REPEATED_ERRORS }
    }
}

impl ProgressSettings {
    pub(crate) fn stall_limits(self) -> StallLimits {
        StallLimits {
            repeated_calls: limit(self.repeated_calls),
            repeated_errors: limit(self.repeated_errors),
        }
    }

    pub(crate) fn idle_turns_of(self, task_type: TaskType) -> Option<u32> {
        match task_type.deliverable() {
            Deliverable::Code => limit(self.idle_turns),
            // What these do leaves no trace in the worktree.
            Deliverable::Output | Deliverable::Danger => None,
        }
    }
}

fn limit(times: u32) -> Option<u32> {
    (times > 0).then_some(times)
}

//! The reminders sent to an agent that reports an invalid outcome.
//!
//! There are five mistakes, each with its own advice. Every reminder repeats the allowed lines, because the agent may
//! have lost them. The run decides how often an agent is reminded.

use crate::base::text::OutcomeName;
use crate::recipe::outcome::{OutcomeMistake, allowed_lines};

impl OutcomeMistake {
    /// The message that asks the agent again.
    pub fn reminder(&self, allowed: &[OutcomeName]) -> String {
        let advice = match self {
            Self::NoneFound => "Report how the step ended.",
            Self::MalformedJson { .. } => {
                "Send it again as one JSON object: double quotes around keys and values, inner quotes escaped, \
                 no trailing comma, a closing brace."
            }
            Self::NotAString { .. } => "Send one of the names below, in double quotes.",
            Self::NotAllowed { .. } => "Choose one of the names below, spelled exactly as shown.",
            Self::OtherWithoutDescription => {
                "Say in \"otherDescription\" what happened, or choose another outcome if one fits."
            }
        };
        reminder(&self.to_string(), advice, allowed)
    }
}

/// The common form of every request to report again.
pub(crate) fn reminder(error: &str, advice: &str, allowed: &[OutcomeName]) -> String {
    format!(
        "Your outcome was not accepted: {error}.\n{advice} Do not repeat the work. \
         Answer with exactly one of these JSON lines, or call `report_outcome`:\n\n{}\n",
        allowed_lines(allowed)
    )
}

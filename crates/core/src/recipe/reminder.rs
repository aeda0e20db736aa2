//! The mistakes an agent can make when it reports an outcome, and what it is told about each.
//!
//! There are exactly five. Each has its own sentence, and every reminder repeats the allowed lines,
//! because an agent that got them wrong may have lost them. How often an agent is reminded is the
//! run's business.

use crate::base::text::OutcomeName;
use crate::recipe::outcome::{OutcomeMistake, allowed_lines};

impl OutcomeMistake {
    /// The message that asks the agent once more.
    pub fn reminder(&self, allowed: &[OutcomeName]) -> String {
        let mend = match self {
            Self::NoneFound => "Say how the step ended.",
            Self::MalformedJson { .. } => {
                "Send it again as one JSON object: double quotes around keys and values, inner quotes escaped, \
                 no trailing comma, a closing brace."
            }
            Self::NotAString { .. } => "Send one of the names below, in double quotes.",
            Self::NotAllowed { .. } => "Choose one of the names below, spelled as it stands there.",
            Self::OtherWithoutDescription => {
                "Say in \"otherDescription\" what happened, or choose another outcome if one fits."
            }
        };
        reminder(&self.to_string(), mend, allowed)
    }
}

/// The common form of everything that asks an agent to report again.
pub(crate) fn reminder(error: &str, mend: &str, allowed: &[OutcomeName]) -> String {
    format!(
        "Your outcome could not be taken: {error}.\n{mend} The work itself need not be repeated. \
         Answer with exactly one of these JSON lines, or call `report_outcome`:\n\n{}\n",
        allowed_lines(allowed)
    )
}

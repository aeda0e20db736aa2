//! An agent that never looked at Baton's tools, and left nothing.

use baton_agents::driver::run_result::RunResult;
use baton_core::task::attempt::{AttemptResult, ErrorCause};

pub(crate) const NO_TOOLS: &str = "the agent never looked at Baton's tools, so it could neither ask nor report; see whether it reaches the server, and \
     what its log says: baton task log";

/// Turns a claim that the work is done into an error that is not the task's.
pub(crate) fn without_tools(ended: &mut RunResult) {
    let said = match &ended.reported.result {
        AttemptResult::Complete
        | AttemptResult::Incomplete
        | AttemptResult::NoEvidence
        | AttemptResult::NoChanges { .. }
        | AttemptResult::TurnLimit => ended.reported.output.trim(),
        // These do not claim that the work was done.
        AttemptResult::Asked { .. }
        | AttemptResult::Blocked { .. }
        | AttemptResult::Error { .. }
        | AttemptResult::Stopped { .. } => return,
    };
    let mut message = NO_TOOLS.to_owned();
    for said in ended.problems.iter().map(String::as_str).chain([said]).filter(|said| !said.is_empty()) {
        message.push('\n');
        message.push_str(said);
    }
    ended.reported.result = AttemptResult::Error { cause: ErrorCause::Systemic, message };
}

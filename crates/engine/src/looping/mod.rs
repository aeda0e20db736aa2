//! The Plan → Execute → Review loop of a session, carried out.
//!
//! The rules are core's `PhaseLoop` and `PhaseWork`. Everything the loop is at is one row, so that a gate's answer, the
//! closed cycle, the hand-off, the run and the tasks it creates are written together or not at all (I7). The agents of
//! its phases work on tasks like any other, each with a session, a token and a context of its own.

mod answers;
mod commands;
mod conductor;
mod rows;
mod text;

pub(crate) use answers::Given;
pub use conductor::Conductor;

/// The recipe whose phases the loop goes through.
pub const LOOP_RECIPE: &str = "plan-execute-review";

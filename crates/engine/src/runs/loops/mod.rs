//! The Plan → Execute → Review loop of a session, carried out.
//!
//! It is the recipe `plan-execute-review`, run by whichever way a recipe is started: the recipe's run stands for it in
//! the list of runs and on the wire, and the recipe's prompts are what its agents are told. The rules are core's `PhaseLoop` and `PhaseWork`. Everything the loop is at is one row, so that a gate's answer, the
//! closed cycle, the hand-off, the run and the tasks it creates are written together or not at all (I7). The agents of
//! its phases work on tasks like any other, each with a session, a token and a context of its own.

mod answers;
mod commands;
mod discovering;
mod driver;
mod elsewhere;
mod messages;
mod planning;
mod replies;
mod rows;
mod start;
mod text;
use crate::runs::Runs;
use crate::tasks::service::TaskService;

pub(crate) use answers::LoopAnswer;
pub use driver::LoopDriver;
pub use start::LoopStart;
pub(crate) use start::title_of;

/// Starts, moves and ends the loops of sessions.
#[derive(Clone)]
pub struct Loops {
    tasks: TaskService,
    runs: Runs,
}

impl Loops {
    pub fn new(tasks: &TaskService) -> Self {
        Self { tasks: tasks.clone(), runs: Runs::new(tasks) }
    }
}

//! Why a run could not be started or spoken to.

use baton_core::base::explanation::Explanation;
use baton_core::base::id::{RunId, SessionId, TaskId};
use baton_core::base::text::RecipeId;
use baton_core::explained;

use crate::base::error::ErrorKind;
use crate::base::refusals::failure;

#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error("the session {session} already runs {recipe} ({run})")]
    AlreadyRunning { session: SessionId, recipe: RecipeId, run: RunId },
    #[error("the session {session} is at work on its message before, {task}")]
    AtWork { session: SessionId, task: TaskId },
    #[error("no recipe is running on the session {session}")]
    NoRun { session: SessionId },
    #[error("several recipes run on the session {session}, one for each of {}", names(.tasks))]
    SeveralRuns { session: SessionId, tasks: Vec<TaskId> },
    #[error("no agent of the loop on {session} is running, so nobody would read the message")]
    NoListener { session: SessionId },
    #[error("the recipe {recipe} has no phases, so it cannot start in one")]
    NoPhases { recipe: RecipeId },
    #[error("only the plan phase takes a message: it says what to plan")]
    NothingToPlan,
    #[error("{task} has nothing to merge: it is in {queue}")]
    NothingToMerge { task: TaskId, queue: &'static str },
}

failure! {
    RunError { |it|
        kind: match it {
            Self::AlreadyRunning { .. } | Self::AtWork { .. } => ErrorKind::Conflict,
            Self::NoRun { .. } | Self::SeveralRuns { .. } | Self::NoListener { .. } => ErrorKind::InvalidStatus,
            Self::NoPhases { .. } | Self::NothingToPlan | Self::NothingToMerge { .. } => ErrorKind::InvalidInput,
        },
        hint: match it {
            Self::AlreadyRunning { session, .. } => {
                format!("wait for it, or stop it: baton recipe exit --session {session}")
            }
            Self::AtWork { task, .. } => format!(
                "wait for it (baton task show {task}), say it to its agent (baton say {task} TEXT), or start on another \
                 session: --session NAME"
            ),
            Self::NoRun { .. } => "start one: baton recipe start RECIPE".to_owned(),
            Self::SeveralRuns { tasks, .. } => {
                let task = tasks.first().map_or_else(|| "TASK".to_owned(), ToString::to_string);
                format!("name the task: baton stop {task} ends its run, baton say {task} TEXT speaks to its agent")
            }
            Self::NothingToMerge { .. } => {
                "answer FAILED, NO to leave it open, or NO: and what is missing to have an agent try again".to_owned()
            }
            Self::NoPhases { .. } => "leave the phase out; only plan-execute-review has phases".to_owned(),
            Self::NothingToPlan => "leave the message out, or start with the plan phase".to_owned(),
            Self::NoListener { .. } => "answer its next question instead: baton questions".to_owned(),
        },
        explained: it.explained(),
    }
}

fn names(tasks: &[TaskId]) -> String {
    tasks.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

explained! { RunError {
    Self::AlreadyRunning { .. } => Explanation {
        code: "run_open",
        means: "The session already runs a recipe; it runs one at a time.",
        cause: "A recipe or the loop was started there and has not ended.",
        next: "Wait for it, stop it (`baton recipe exit`), or start this one on another session: \
               `baton recipe start RECIPE --session NAME`.",
    },
    Self::AtWork { .. } => Explanation {
        code: "session_at_work",
        means: "A recipe was given a message on a session whose message before is not through.",
        cause: "An agent works on it, will work on it, or has asked you something.",
        next: "Wait for it or answer it, say the message to its agent (`baton say TASK TEXT`), cancel it, or start on another \
               session: `--session NAME`.",
    },
    Self::NoRun { .. } => Explanation {
        code: "no_run",
        means: "No recipe is running on this session.",
        cause: "It has ended, or runs on another session than the one you named (\"cli\" by default).",
        next: "Start one: `baton recipe start RECIPE`.",
    },
    Self::SeveralRuns { .. } => Explanation {
        code: "several_runs",
        means: "More than one recipe runs on this session, and none of them was started for the session itself.",
        cause: "Tasks with a recipe of their own (`baton task add --recipe`) run beside each other.",
        next: "Name the task instead: `baton stop TASK`, `baton say TASK TEXT`. `baton recipe runs --open` lists them.",
    },
    Self::NoListener { .. } => Explanation {
        code: "nobody_listens",
        means: "No agent of the loop is running, so your message would not be read.",
        cause: "The loop is waiting for an answer, or is between two phases.",
        next: "Answer its question instead: `baton questions`.",
    },
    Self::NoPhases { .. } => Explanation {
        code: "no_phases",
        means: "A first phase was named for a recipe that has no phases.",
        cause: "Only the loop, `plan-execute-review`, can start in a phase of your choice.",
        next: "Leave the phase out.",
    },
    Self::NothingToMerge { .. } => Explanation {
        code: "nothing_to_merge",
        means: "A subtask of the loop was called done, but there is no work to merge.",
        cause: "Its agent failed, or it was cancelled or stopped.",
        next: "Answer FAILED or NO, or `NO: what is missing` to have an agent work on it again.",
    },
    Self::NothingToPlan => Explanation {
        code: "nothing_to_plan",
        means: "A message was given to a loop that does not start with its plan phase.",
        cause: "The message says what to plan; execute and review continue work that exists already.",
        next: "Leave the message out, or start with the plan phase.",
    },
} }

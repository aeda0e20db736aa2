//! Why a run could not be started or spoken to.

use baton_core::base::explanation::Explanation;
use baton_core::base::id::{RunId, SessionId};
use baton_core::base::text::RecipeId;
use baton_core::explained;

use crate::base::error::ErrorKind;
use crate::base::refusals::failure;

#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error("the session {session} already runs {recipe} ({run})")]
    AlreadyRunning { session: SessionId, recipe: RecipeId, run: RunId },
    #[error("no recipe is running on the session {session}")]
    NoRun { session: SessionId },
    #[error("no agent of the loop on {session} is running, so nobody would read the message")]
    NoListener { session: SessionId },
}

failure! {
    RunError { |it|
        kind: match it {
            Self::AlreadyRunning { .. } => ErrorKind::Conflict,
            Self::NoRun { .. } | Self::NoListener { .. } => ErrorKind::InvalidStatus,
        },
        hint: match it {
            Self::AlreadyRunning { session, .. } => {
                format!("wait for it, or stop it: baton recipe exit --session {session}")
            }
            Self::NoRun { .. } => "start one: baton recipe start RECIPE".to_owned(),
            Self::NoListener { .. } => "answer its next question instead: baton questions".to_owned(),
        },
        explained: it.explained(),
    }
}

explained! { RunError {
    Self::AlreadyRunning { .. } => Explanation {
        code: "run_open",
        means: "The session already runs a recipe; it runs one at a time.",
        cause: "A recipe or the loop was started there and has not ended.",
        next: "Wait for it, stop it (`baton recipe exit`), or start this one on another session: \
               `baton recipe start RECIPE --session NAME`.",
    },
    Self::NoRun { .. } => Explanation {
        code: "no_run",
        means: "No recipe is running on this session.",
        cause: "It has ended, or runs on another session than the one you named (\"cli\" by default).",
        next: "Start one: `baton recipe start RECIPE`.",
    },
    Self::NoListener { .. } => Explanation {
        code: "nobody_listens",
        means: "No agent of the loop is running, so your message would not be read.",
        cause: "The loop is waiting for an answer, or is between two phases.",
        next: "Answer its question instead: `baton questions`.",
    },
} }

//! Why accepted work could not be merged yet.

use baton_core::base::explanation::Explanation;
use baton_core::base::id::TaskId;
use baton_core::explained;

use crate::base::error::ErrorKind;
use crate::base::refusals::failure;

#[derive(Debug, thiserror::Error)]
pub enum LandingError {
    /// Its machine could not reach the remote when the attempt ended; it keeps trying.
    #[error("the work of {task} is still on {worker} and has not been pushed to the remote")]
    NotPushed { task: TaskId, worker: String },
}

failure! {
    LandingError { |it|
        kind: match it {
            Self::NotPushed { .. } => ErrorKind::Conflict,
        },
        hint: "check that the machine is running (baton workers), and try again",
        explained: it.explained(),
    }
}

explained! { LandingError {
    Self::NotPushed { .. } => Explanation {
        code: "not_arrived",
        means: "The work is still on the machine that did it and not on the shared remote.",
        cause: "That machine could not reach the remote when its agent finished. It keeps trying.",
        next: "Check that the machine is running (`baton workers`), and accept again later: `baton accept TASK`.",
    },
} }

//! Why something only one machine may do at a time could not be done.

use baton_core::base::explanation::Explanation;
use baton_core::explained;

use crate::base::error::ErrorKind;
use crate::base::refusals::failure;

#[derive(Debug, thiserror::Error)]
pub enum LockError {
    #[error("another machine has held the lock {name} for too long")]
    Held { name: String },
}

failure! {
    LockError { |it|
        kind: match it {
            Self::Held { .. } => ErrorKind::Conflict,
        },
        hint: "check which machines are running (baton workers), and try again",
        explained: it.explained(),
    }
}

explained! { LockError {
    Self::Held { .. } => Explanation {
        code: "turn_taken",
        means: "Another machine has held a lock for too long, such as the one for merging.",
        cause: "That machine is slow, or lost its connection while it held the lock; the lock expires by itself.",
        next: "Check which machines are running (`baton workers`), and try again.",
    },
} }

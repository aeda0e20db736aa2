//! Errors of routines.

use baton_core::base::explanation::Explanation;
use baton_core::base::git_name::BranchName;
use baton_core::explained;

use crate::base::error::ErrorKind;
use crate::base::refusals::failure;

#[derive(Debug, thiserror::Error)]
pub enum RoutineError {
    #[error("\"{name}\" is not a time zone this machine knows")]
    UnknownZone { name: String },
    #[error("the branch {branch} is not in a repository of this machine")]
    OtherMachine { branch: BranchName },
    #[error("there are {max} routines already")]
    TooMany { max: usize },
}

failure! {
    RoutineError { |it|
        kind: match it {
            Self::UnknownZone { .. } => ErrorKind::InvalidInput,
            Self::OtherMachine { .. } | Self::TooMany { .. } => ErrorKind::Conflict,
        },
        hint: match it {
            Self::UnknownZone { .. } => "use a name such as Europe/Berlin or UTC",
            Self::OtherMachine { .. } => "run Baton on the machine that has the repository, or give the project a remote",
            Self::TooMany { .. } => "remove one that is not needed any more",
        },
        explained: it.explained(),
    }
}

explained! { RoutineError {
    Self::UnknownZone { .. } => Explanation {
        code: "unknown_time_zone",
        means: "The time zone of a routine or a start time is not known on this machine.",
        cause: "A typo, or the machine has no time zone database.",
        next: "Use a name such as Europe/Berlin or UTC, or install the package tzdata.",
    },
    Self::OtherMachine { .. } => Explanation {
        code: "routine_elsewhere",
        means: "A routine waits for a branch to move that this machine cannot see.",
        cause: "Its project is a folder of another machine, and this one is the leader.",
        next: "Give the project a remote, or run the leader on the machine that has the folder.",
    },
    Self::TooMany { .. } => Explanation {
        code: "too_many_routines",
        means: "No more routines can be added.",
        cause: "Each of them is looked at whenever something happens.",
        next: "`baton routine list` shows them, `baton routine remove ROUTINE` removes one.",
    },
} }

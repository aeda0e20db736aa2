//! How refusals of core and errors of the store are rendered at the edges.

use baton_core::ask::choice::UnreadableAnswer;
use baton_core::ask::queued_answer::QueueFull;
use baton_core::ask::refusal::{AnswerRefusal, AskRefusal};
use baton_core::base::text::BlankText;
use baton_core::graph::GraphError;
use baton_core::people::access_token::TokenRefusal;
use baton_core::phase::refusal::LoopRefusal;
use baton_core::phase::work::WorkRefusal;
use baton_core::recipe::run::RunRefusal;
use baton_core::transition::approval::ApprovalRefusal;
use baton_core::transition::refusal::CommandRefusal;
use baton_store::StoreError;
use baton_store::model::commit::Conflict;
use baton_store::model::query::BadCursor;

use crate::base::error::ErrorKind;

/// Implements [`EngineFailure`](crate::base::error::EngineFailure) from three expressions over the value.
macro_rules! failure {
    ($($type:ty { |$it:ident| kind: $kind:expr, hint: $hint:expr, explained: $explained:expr $(,)? })*) => {
        $(impl $crate::base::error::EngineFailure for $type {
            fn kind(&self) -> $crate::base::error::ErrorKind {
                let $it = self;
                let _ = $it;
                $kind
            }

            fn hint(&self) -> String {
                let $it = self;
                let _ = $it;
                String::from($hint)
            }

            fn explained(&self) -> &'static baton_core::base::explanation::Explanation {
                let $it = self;
                let _ = $it;
                $explained
            }
        })*
    };
}
pub(crate) use failure;

failure! {
    CommandRefusal { |it| kind: kind_of_refusal(it), hint: it.next(), explained: it.explained() }
    ApprovalRefusal { |it|
        kind: match it {
            Self::Refused(refusal) => kind_of_refusal(refusal),
            _ => ErrorKind::Conflict,
        },
        hint: match it {
            Self::Refused(refusal) => refusal.next(),
            _ => "read the breakdown again and repeat".to_owned(),
        },
        explained: it.explained(),
    }
    RunRefusal { |it|
        kind: ErrorKind::InvalidStatus,
        hint: "see where the run is",
        explained: it.explained(),
    }
    UnreadableAnswer { |it|
        kind: ErrorKind::InvalidInput,
        hint: "answer again with one of the offered words",
        explained: it.explained(),
    }
    GraphError { |it|
        kind: ErrorKind::Internal,
        hint: "see where the task stands",
        explained: it.explained(),
    }
    AskRefusal { |it| kind: ErrorKind::Conflict, hint: it.next(), explained: it.explained() }
    AnswerRefusal { |it| kind: kind_of_answer(it), hint: it.next(), explained: it.explained() }
    LoopRefusal { |it|
        kind: match it {
            Self::Answer(refusal) => kind_of_answer(refusal),
            _ => ErrorKind::InvalidStatus,
        },
        hint: it.next(),
        explained: it.explained(),
    }
    WorkRefusal { |it|
        kind: match it {
            Self::Unreadable(_) | Self::NoList(_) => ErrorKind::InvalidInput,
            _ => ErrorKind::InvalidStatus,
        },
        hint: match it {
            Self::NoList(_) => "write one task on each line, or NONE to add none",
            _ => "answer with one of the offered words",
        },
        explained: it.explained(),
    }
    TokenRefusal { |it|
        kind: match it {
            Self::Over(_) => ErrorKind::InvalidInput,
            Self::Taken(_) | Self::TooMany(_) => ErrorKind::Conflict,
        },
        hint: match it {
            Self::Taken(name) => format!("choose another name, or revoke the token of {name} first"),
            Self::Over(_) => "choose a later expiry, or none".to_owned(),
            Self::TooMany(_) => "reuse a name that had a token before".to_owned(),
        },
        explained: it.explained(),
    }
    QueueFull { |it|
        kind: ErrorKind::Conflict,
        hint: "see the open questions",
        explained: &Self::EXPLAINED,
    }
    BlankText { |it|
        kind: ErrorKind::InvalidInput,
        hint: "write at least one visible character",
        explained: &Self::EXPLAINED,
    }
    BadCursor { |it|
        kind: ErrorKind::InvalidInput,
        hint: "start at the beginning, without a cursor",
        explained: &Self::EXPLAINED,
    }
    Conflict { |it|
        kind: match it {
            Self::UnknownDependency { .. } => ErrorKind::InvalidInput,
            Self::Moved { .. } | Self::Cycle { .. } => ErrorKind::Conflict,
        },
        hint: "choose other dependencies; baton task show lists them",
        explained: it.explained(),
    }
    StoreError { |it|
        kind: match it {
            Self::Busy { .. }
            | Self::InUse { .. }
            | Self::DiskFull { .. }
            | Self::Unreachable { .. }
            | Self::CommitUnknown { .. }
            | Self::Closed => ErrorKind::Unavailable,
            Self::Damaged { .. }
            | Self::Gone { .. }
            | Self::Missing { .. }
            | Self::NotAStore { .. }
            | Self::Unreadable { .. }
            | Self::Newer { .. }
            | Self::ReadOnly { .. }
            | Self::BadRow { .. }
            | Self::Backend { .. } => ErrorKind::Storage,
        },
        hint: it.hint(),
        explained: it.explained(),
    }
}

const fn kind_of_answer(refusal: &AnswerRefusal) -> ErrorKind {
    match refusal {
        AnswerRefusal::AlreadyAnswered { .. } => ErrorKind::AlreadyAnswered,
        AnswerRefusal::UnknownQuestion { .. } => ErrorKind::NotFound,
        AnswerRefusal::Unreadable { .. } => ErrorKind::InvalidInput,
        AnswerRefusal::Withdrawn { .. }
        | AnswerRefusal::HumanOnly { .. }
        | AnswerRefusal::AutomationStopped { .. }
        | AnswerRefusal::IsGate { .. } => ErrorKind::Conflict,
    }
}

const fn kind_of_refusal(refusal: &CommandRefusal) -> ErrorKind {
    match refusal {
        CommandRefusal::UnreadableChoice { .. }
        | CommandRefusal::NotBreakdown { .. }
        | CommandRefusal::BadReplacement { .. } => ErrorKind::InvalidInput,
        CommandRefusal::WrongState { .. }
        | CommandRefusal::NotReleased { .. }
        | CommandRefusal::SplitByHand { .. }
        | CommandRefusal::WaitingOn { .. }
        | CommandRefusal::HasBegun { .. }
        | CommandRefusal::NoReader { .. }
        | CommandRefusal::IsPlan { .. } => ErrorKind::InvalidStatus,
        CommandRefusal::Stale { .. }
        | CommandRefusal::OtherQuestion { .. }
        | CommandRefusal::HumanOnly { .. }
        | CommandRefusal::AutomationStopped { .. }
        | CommandRefusal::NotPending { .. }
        | CommandRefusal::MayNotAsk { .. }
        | CommandRefusal::TooLarge { .. }
        | CommandRefusal::NeedsReview { .. }
        | CommandRefusal::NeedsHuman { .. }
        | CommandRefusal::NotYours { .. }
        | CommandRefusal::NotTooLarge { .. } => ErrorKind::Conflict,
    }
}

//! Which state may follow which. The diagrams are generated from this table; a test compares it with
//! [`crate::task::Task::apply`] in both directions, for every pair.

use crate::task::state::{StateName as S, TaskState};
use crate::transition::command::CommandName as C;

/// The states `command` can lead to from `state`; empty if it is refused there.
pub const fn next_states(state: S, command: C) -> &'static [S] {
    match (state, command) {
        (S::Incoming | S::NeedsContinuation | S::Breakdown, C::Claim) => &[S::Claimed],

        (S::Breakdown, C::Release) => &[S::Breakdown],
        (
            S::Incoming | S::Held | S::Claimed | S::NeedsContinuation | S::AwaitingResponse | S::Blocked,
            C::Hold,
        ) => &[S::Held],
        (S::Held, C::Release | C::HandBack) => &[S::Incoming],
        (
            S::Incoming
            | S::Held
            | S::Claimed
            | S::NeedsContinuation
            | S::AwaitingResponse
            | S::Blocked
            | S::Provisional,
            C::TakeOver,
        ) => &[S::Held],
        (S::Incoming | S::Held | S::Provisional, C::MarkFailed) => &[S::Failed],
        (S::Breakdown, C::SubmitPlan) => &[S::Provisional],

        // The agent asks while it runs, and may be answered then.
        (S::Claimed, C::Start | C::NoteSession | C::NoteDelivery | C::Ask) => &[S::Claimed],
        (S::Claimed, C::Reply) => &[S::Claimed, S::Held, S::Breakdown],
        (S::Claimed, C::FailClosed) => &[S::Failed],
        (S::Claimed, C::Settle) => &[
            S::Done,
            S::Provisional,
            S::AwaitingResponse,
            S::Blocked,
            S::NeedsContinuation,
            S::Incoming,
            S::Held,
            S::Breakdown,
            S::Failed,
            S::Cancelled,
        ],
        (S::Claimed, C::ExpireLease) => &[S::Incoming, S::Breakdown, S::AwaitingResponse, S::Blocked],

        (S::AwaitingResponse, C::Reply) => {
            &[S::Incoming, S::Held, S::Breakdown, S::Recycled, S::Cancelled, S::Done]
        }
        (S::AwaitingResponse, C::FailClosed) => &[S::Failed],
        (S::Blocked, C::Reply) => &[S::Incoming, S::Held],
        (S::AwaitingResponse | S::Blocked, C::LeaveRun) => &[S::Incoming],

        (S::Provisional, C::Accept | C::ApprovePlan) => &[S::Done],
        (S::Provisional, C::Reject) => &[S::Incoming, S::Breakdown, S::Recycled, S::AwaitingResponse],
        (S::Provisional, C::Recycle) => &[S::Recycled, S::AwaitingResponse],
        (S::Provisional, C::ReportConflict) => &[S::Incoming, S::AwaitingResponse],

        (S::Provisional, C::EnterLane) => &[S::Landing],
        (S::Provisional | S::Landing, C::ForceLand) => &[S::Done],
        (S::Landing, C::Land) => &[S::Done],
        (S::Landing, C::DelayLanding) => &[S::Landing],
        // Back to the agent, to a person with a question, or to the person or policy that accepted it.
        (S::Landing, C::SendBack) => &[S::Incoming, S::AwaitingResponse, S::Provisional],
        (S::Landing, C::Reject) => &[S::Incoming, S::Recycled, S::AwaitingResponse],

        (S::Incoming | S::Held | S::Recycled, C::Replace) => &[S::Recycled],
        (S::Failed, C::Retry) => &[S::Incoming, S::Held, S::Breakdown],
        (S::Cancelled, C::Retry) => &[S::Incoming, S::Breakdown],

        (
            S::Incoming
            | S::Held
            | S::Breakdown
            | S::Claimed
            | S::NeedsContinuation
            | S::AwaitingResponse
            | S::Blocked
            | S::Provisional
            | S::Landing
            | S::Recycled
            | S::Failed,
            C::Cancel,
        ) => &[S::Cancelled],

        (S::Incoming, C::Revise) => &[S::Incoming],
        (S::Held, C::Revise) => &[S::Held],
        (S::Breakdown, C::Revise) => &[S::Breakdown],
        (S::NeedsContinuation, C::Revise) => &[S::NeedsContinuation],
        (S::AwaitingResponse, C::Revise) => &[S::AwaitingResponse],
        (S::Blocked, C::Revise) => &[S::Blocked],
        (S::Provisional, C::Revise) => &[S::Provisional],
        (S::Failed, C::Revise) => &[S::Failed],

        (S::Incoming, C::AddMessage) => &[S::Incoming],
        (S::Held, C::AddMessage) => &[S::Held],
        (S::Breakdown, C::AddMessage) => &[S::Breakdown],
        (S::Claimed, C::AddMessage) => &[S::Claimed],
        (S::NeedsContinuation, C::AddMessage) => &[S::NeedsContinuation],
        (S::AwaitingResponse, C::AddMessage) => &[S::AwaitingResponse],
        (S::Blocked, C::AddMessage) => &[S::Blocked],
        (S::Provisional, C::AddMessage) => &[S::Provisional],
        (S::Landing, C::AddMessage) => &[S::Landing],
        (S::Failed, C::AddMessage) => &[S::Failed],

        // Every other pair is refused. I16: so is everything from Done, and from Cancelled but a person's retry.
        _ => &[],
    }
}

/// Whether the table has this transition.
pub fn allows(from: &TaskState, command: C, to: &TaskState) -> bool {
    next_states(from.name(), command).contains(&to.name())
}

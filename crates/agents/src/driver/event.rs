//! What a driver reports while its agent runs.

use baton_core::ask::question::QuestionDraft;
use baton_core::recycle::plan::PlanDraft;

use crate::asking::permission::{PermissionDecision, PermissionRequest};
use crate::process::identity::ProcessIdentity;
use crate::report::OutcomeReport;
use crate::report::stop_reason::StopReason;
use crate::report::tool_call::{EndedCall, ToolCall};
use crate::report::usage::{Usage, UsageKind};

/// Suggested channel capacity: keeps an agent going while its events are stored.
pub const EVENTS_MAX: usize = 256;

#[derive(Debug, Clone, PartialEq)]
pub enum AgentEvent {
    /// First event of every agent that started. Store it before anything else: recovery finds the process by it.
    Started(ProcessIdentity),
    /// Turns used so far.
    Turn(u32),
    /// Part of the agent's message: whole lines, or a piece of an oversized one.
    Text(String),
    /// Part of the agent's standard error.
    Stderr(String),
    /// The agent's session id. Store it: a later attempt resumes with it.
    Session(String),
    ToolStarted(ToolCall),
    ToolEnded(EndedCall),
    /// A permission request and the policy's decision.
    PermissionAsked(PermissionRequest, PermissionDecision),
    /// A human is being asked while the agent waits.
    Question(QuestionDraft),
    Usage(UsageKind, Usage),
    /// The attempt ends with this question.
    Asked(QuestionDraft),
    /// The agent's turn ended, with the reason it gave. Recorded, never trusted.
    Stopped(StopReason),
    Outcome(OutcomeReport),
    Plan(PlanDraft),
    /// The agent got this many messages of its [`crate::driver::MessageFeed`] so far.
    MessagesDelivered(usize),
    /// Something went wrong that does not end the attempt.
    Problem(String),
    /// This many events were dropped because the receiver was too slow. The log has their content.
    Skipped(u64),
}

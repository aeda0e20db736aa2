//! What a driver reports while its agent runs.

use baton_core::breakdown::PlanDraft;
use baton_core::question::Draft;

use crate::asking::permission::{Decision, PermissionRequest};
use crate::process::identity::ProcessIdentity;
use crate::report::OutcomeReport;
use crate::report::stop_reason::StopReason;
use crate::report::tool_call::{ToolCall, ToolEnd};
use crate::report::usage::{Usage, UsageKind};

/// A channel's length that keeps an agent going while its events are being written down.
pub const EVENTS_MAX: usize = 256;

/// Something that happened while an agent ran.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The first event of every agent that started. To be written down before anything else: after a crash it
    /// is how the process is found again.
    Started(ProcessIdentity),
    /// The number of turns used so far.
    Turn(u32),
    /// A piece of the agent's message: whole lines, or a part of one that is too long.
    Text(String),
    /// A piece of the agent's own log.
    Stderr(String),
    /// The agent's session, as it calls it. To be written down: with it a later attempt goes on.
    Session(String),
    ToolStarted(ToolCall),
    /// The id of the call, and how it came out.
    ToolEnded(String, ToolEnd),
    /// A permission was asked for, and what the policy said.
    PermissionAsked(PermissionRequest, Decision),
    /// A human is being asked while the agent waits.
    Question(Draft),
    Usage(UsageKind, Usage),
    /// The agent asked and is being ended.
    Asked(Draft),
    /// The agent's turn ended, and what it gave as the reason. It is read, and never believed.
    Stopped(StopReason),
    Outcome(OutcomeReport),
    Plan(PlanDraft),
    /// Something was not as it should be; the attempt goes on.
    Problem(String),
    /// The receiver was too slow and this many events were dropped. The log has what they said.
    Skipped(u64),
}

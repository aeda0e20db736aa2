//! One driver per kind of agent: the Agent Client Protocol, the native streams of Claude Code and Codex, and plain commands.
//!
//! A protocol is a state machine: lines in, lines out, calls on the conversation. Processes, limits and counting are in
//! `run`.

pub(crate) mod acp;
pub mod command;
mod native;
mod traced;
use crate::driver::Driver;
use crate::driver::setup::AgentSetup;
use crate::presets::kind::AgentKind;
use crate::protocols::acp::AcpAgent;
use crate::protocols::command::CommandAgent;
use crate::protocols::native::NativeAgent;
use crate::protocols::traced::TracedDriver;

/// The driver for a kind of agent.
pub fn for_kind(kind: AgentKind, setup: AgentSetup) -> Box<dyn Driver> {
    let agent = setup.preset.name;
    let driver: Box<dyn Driver> = match kind {
        AgentKind::Acp => Box::new(AcpAgent::new(setup)),
        AgentKind::Claude => Box::new(NativeAgent::claude(setup)),
        AgentKind::Codex => Box::new(NativeAgent::codex(setup)),
        // The scripted agent is a command like any other.
        AgentKind::Command | AgentKind::Scripted => {
            Box::new(CommandAgent::new(setup.clock).with_pauses(setup.pauses))
        }
    };
    Box::new(TracedDriver { kind, agent, driver })
}

//! The one place that knows which driver belongs to which kind of agent.

pub mod acp;
pub mod command;
pub mod native;
use crate::driver::Driver;
use crate::driver::setup::Setup;
use crate::presets::kind::AgentKind;
use crate::protocols::acp::AcpAgent;
use crate::protocols::command::CommandAgent;
use crate::protocols::native::NativeAgent;

/// The driver of an agent of this kind.
pub fn for_kind(kind: AgentKind, setup: Setup) -> Box<dyn Driver> {
    match kind {
        AgentKind::Acp => Box::new(AcpAgent::new(setup)),
        AgentKind::Claude => Box::new(NativeAgent::claude(setup)),
        AgentKind::Codex => Box::new(NativeAgent::codex(setup)),
        // The scripted agent is a program that speaks like any other command.
        AgentKind::Command | AgentKind::Scripted => Box::new(CommandAgent::new(setup.clock)),
    }
}

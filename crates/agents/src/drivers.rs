//! The one place that knows which driver belongs to which kind of agent.

use crate::acp::AcpAgent;
use crate::command::CommandAgent;
use crate::driver::Driver;
use crate::kind::AgentKind;
use crate::native::NativeAgent;
use crate::setup::Setup;

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

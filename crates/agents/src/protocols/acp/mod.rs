//! Any program that speaks the Agent Client Protocol, version 1.
//!
//! The protocol's types stay in this folder, because they change often. Each attempt gets a new process; a session of an
//! earlier attempt is loaded into it.

mod elicitation;
mod messages;
mod opening;
mod permission;
mod requests;
mod session;
mod turn_end;
mod updates;
mod wire;
use serde_json::json;
use tokio::sync::{mpsc, watch};

use crate::driver::setup::AgentSetup;
use crate::driver::{AgentEvent, Driver, Launch, RunFuture};
use crate::presets::preset::WritableRoots;
use crate::run::dialogue;

use messages::InitializeResult;
use opening::{Opening, greeting};
use session::AcpProtocol;
use wire::RpcMessage;

pub(crate) struct AcpAgent {
    setup: AgentSetup,
}

impl AcpAgent {
    pub(crate) fn new(setup: AgentSetup) -> Self {
        Self { setup }
    }
}

impl Driver for AcpAgent {
    fn run(
        &self,
        mut launch: Launch,
        events: mpsc::Sender<AgentEvent>,
        cancel: watch::Receiver<bool>,
    ) -> RunFuture<'_> {
        let setup = self.setup.clone();
        open_git_folders(&mut launch, setup.preset.writable_roots);
        let protocol = AcpProtocol::new(Opening::new(&launch, &setup.preset));
        Box::pin(dialogue::run(setup, launch, Box::new(protocol), events, cancel))
    }
}

/// Lets the agent commit despite its sandbox.
fn open_git_folders(launch: &mut Launch, roots: WritableRoots) {
    let WritableRoots::CodexConfig(variable) = roots else { return };
    if launch.session.git_folders.is_empty() || launch.environment.get(variable).is_some() {
        return;
    }
    let settings = json!({"sandbox_workspace_write": {"writable_roots": launch.session.git_folders}});
    launch.environment.set(variable, settings.to_string());
}

/// The `initialize` line for a probe.
pub(crate) fn greeting_line() -> String {
    format!("{}\n", wire::request(1, "initialize", &greeting()))
}

/// What an agent says about itself in response.
pub(crate) struct Greeting {
    pub(crate) agent: String,
    pub(crate) can_load: bool,
    pub(crate) can_http: bool,
}

/// Parses the response to [`greeting_line`]; None for any other message.
pub(crate) fn parse_greeting(line: &str) -> Option<Result<Greeting, String>> {
    let RpcMessage::Answer { id: 1, result } = wire::read(line)? else { return None };
    Some(result.map_err(|error| error.to_string()).and_then(|agent| {
        let agent: InitializeResult = serde_json::from_value(agent).map_err(|error| error.to_string())?;
        let capabilities = &agent.can;
        Ok(Greeting {
            can_load: capabilities.load_session,
            can_http: capabilities.mcp_capabilities.http,
            agent: agent.info.map(|info| format!("{} {}", info.name, info.version)).unwrap_or_default(),
        })
    }))
}

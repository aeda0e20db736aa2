//! Any program that speaks the Agent Client Protocol, version 1.
//!
//! The protocol's own words stay inside this folder: they change, and nothing else may notice. A new
//! process serves one attempt; a session of an earlier attempt is loaded into it.

mod elicitation;
mod messages;
mod opening;
mod permission;
mod requests;
mod session;
mod updates;
mod wire;
use serde_json::json;
use tokio::sync::{mpsc, watch};

use crate::driver::setup::Setup;
use crate::driver::{Driver, Event, Launch, Running};
use crate::presets::preset::WritableRoots;
use crate::run::dialogue;

use messages::Agent;
use opening::{Opening, greeting};
use session::AcpTongue;
use wire::Incoming;

pub struct AcpAgent {
    setup: Setup,
}

impl AcpAgent {
    pub fn new(setup: Setup) -> Self {
        Self { setup }
    }
}

impl Driver for AcpAgent {
    fn run(
        &self,
        mut launch: Launch,
        events: mpsc::Sender<Event>,
        cancel: watch::Receiver<bool>,
    ) -> Running<'_> {
        let setup = self.setup.clone();
        open_git_folders(&mut launch, setup.preset.writable_roots);
        let tongue = AcpTongue::new(Opening::of(&launch, &setup.preset));
        Box::pin(dialogue::run(setup, launch, Box::new(tongue), events, cancel))
    }
}

/// Lets the agent commit, where its sandbox would not.
fn open_git_folders(launch: &mut Launch, roots: WritableRoots) {
    let WritableRoots::CodexConfig(variable) = roots else { return };
    if launch.session.git_folders.is_empty() || launch.environment.get(variable).is_some() {
        return;
    }
    let settings = json!({"sandbox_workspace_write": {"writable_roots": launch.session.git_folders}});
    launch.environment.set(variable, settings.to_string());
}

/// The first line for an agent that is only to show that it is there.
pub(crate) fn greeting_line() -> String {
    format!("{}\n", wire::request(1, "initialize", &greeting()))
}

/// What an agent says of itself when it is greeted.
pub(crate) struct Greeting {
    pub(crate) agent: String,
    pub(crate) can_load: bool,
    pub(crate) can_http: bool,
}

/// What an agent's line says to that; None when it is about something else.
pub(crate) fn greeted(line: &str) -> Option<Result<Greeting, String>> {
    let Incoming::Answer { id: 1, result } = wire::read(line)? else { return None };
    Some(result.map_err(|error| error.to_string()).and_then(|agent| {
        let agent: Agent = serde_json::from_value(agent).map_err(|error| error.to_string())?;
        let capabilities = &agent.can;
        Ok(Greeting {
            can_load: capabilities.load_session,
            can_http: capabilities.mcp_capabilities.http,
            agent: agent.info.map(|info| format!("{} {}", info.name, info.version)).unwrap_or_default(),
        })
    }))
}

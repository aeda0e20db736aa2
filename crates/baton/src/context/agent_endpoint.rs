//! A server for the agents of this process, when no `baton up` runs.
//!
//! Agents do not know the password of a shared store, so they need one. A local store they open themselves, but what a person
//! has to allow, they can only ask for here.

use std::net::Ipv4Addr;

use baton_engine::services::engine::Engine;
use baton_engine::settings::store_address::StoreAddress;
use baton_engine::user_tasks::Trust;
use baton_server::http::guard::HttpGuard;
use baton_server::serve::Server;
use baton_server::state::App;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::context::CliContext;
use crate::context::server_file::{self, ServerFile};
use crate::error::CliError;

pub(crate) struct AgentEndpoint {
    file: ServerFile,
    stop: watch::Sender<bool>,
    serving: JoinHandle<()>,
}

impl AgentEndpoint {
    /// Call it before agents start: they get its URL. None where no fence keeps them from a local store, and no person is
    /// asked before user tasks run.
    pub(crate) async fn open(context: &CliContext, engine: &mut Engine) -> Result<Option<Self>, CliError> {
        let settings = &engine.workspace.settings;
        let is_asked = settings.user_tasks.trust == Trust::Prompt;
        if context.place.store == StoreAddress::File && !settings.has_fence() && !is_asked {
            return Ok(None);
        }
        let server = Server::bind((Ipv4Addr::LOCALHOST, 0).into()).await.map_err(|error| {
            CliError::failed(
                format!("cannot listen for agents: {error}"),
                "check this session's limits: ulimit -a",
            )
        })?;
        let address = server.address();
        engine.workspace.agents.mcp_url = Some(format!("{}/mcp", server_file::url(address)));
        let (stop, stopping) = watch::channel(false);
        let app = App::new(
            CliContext::fail_fast(&engine.workspace),
            context.person().to_owned(),
            HttpGuard::new(address, None),
            stopping.clone(),
        );
        let file = ServerFile::write(&context.place, address, None)?;
        Ok(Some(Self { file, stop, serving: tokio::spawn(server.run(app, stopping)) }))
    }

    pub(crate) async fn close(self) {
        // First the file, so that no new client finds a closed server.
        drop(self.file);
        let _ = self.stop.send(true);
        // A panic of the server has ended it too.
        let _ = self.serving.await;
    }
}

//! A server for the agents of this very process, where no `baton up` runs.
//!
//! On the shared store they have no other way in: its password is not theirs to know. On a file they open it themselves.

use std::net::Ipv4Addr;

use baton_engine::engine::Engine;
use baton_engine::store_address::StoreAddress;
use baton_server::http::guard::HttpGuard;
use baton_server::serve::Server;
use baton_server::state::App;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::fault::{FAILED, Fault};
use crate::office::Office;
use crate::server_file::{self, ServerFile};

pub struct AgentsDoor {
    file: ServerFile,
    stop: watch::Sender<bool>,
    serving: JoinHandle<()>,
}

impl AgentsDoor {
    /// None where agents need none. The engine's agents are told of it, so it comes before they do.
    pub async fn open(office: &Office, engine: &mut Engine) -> Result<Option<Self>, Fault> {
        if office.place.store == StoreAddress::File {
            return Ok(None);
        }
        let server = Server::bind((Ipv4Addr::LOCALHOST, 0).into()).await.map_err(|error| Fault {
            message: format!("agents cannot be listened to: {error}"),
            hint: "check the limits of this session".to_owned(),
            code: FAILED,
        })?;
        let address = server.address();
        engine.shop.mcp_url = Some(format!("{}/mcp", server_file::url(address)));
        let (stop, stopping) = watch::channel(false);
        let app = App::new(
            Office::for_people(&engine.shop),
            office.person().to_owned(),
            HttpGuard::new(address, None),
            stopping.clone(),
        );
        let file = ServerFile::write(&office.place, address, None)?;
        Ok(Some(Self { file, stop, serving: tokio::spawn(server.run(app, stopping)) }))
    }

    pub async fn close(self) {
        // The file first: nobody is to come who would find it closed.
        drop(self.file);
        let _ = self.stop.send(true);
        // It ends by itself; if it broke, it has ended too.
        let _ = self.serving.await;
    }
}

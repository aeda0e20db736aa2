//! The server file: where the running server is and what it wants to see, for commands of the same user.
//!
//! A server that was killed leaves its file behind. So the file also names the process, told apart from every other
//! that ever had its number: while that very process runs, the address is its own; when it does not, the file means
//! nothing, and nobody who listens there by now is sent the token.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::net::SocketAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use baton_engine::identity::{ProcessIdentity, Sighting};
use baton_engine::place::Place;
use baton_server::client::{ApiClient, ServerAddress};
use serde::{Deserialize, Serialize};

use crate::fault::{FAILED, Fault};

/// What is in it.
#[derive(Serialize, Deserialize)]
struct Content {
    url: String,
    token: Option<String>,
    pid: u32,
    process: ProcessIdentity,
    /// Which store the server works on; a command that is told to use another goes past it.
    store: String,
}

/// There for as long as the server is; dropping it takes the file away.
pub struct ServerFile {
    path: PathBuf,
}

impl ServerFile {
    /// For its owner alone, and there as a whole or not at all.
    pub fn write(place: &Place, address: SocketAddr, token: Option<&str>) -> Result<Self, Fault> {
        let path = path(place);
        let failed = |error: std::io::Error| Fault {
            message: format!("{} cannot be written: {error}", path.display()),
            hint: "check that you may write there".to_owned(),
            code: FAILED,
        };
        let pid = std::process::id();
        let content = Content {
            url: url(address),
            token: token.map(str::to_owned),
            pid,
            process: ProcessIdentity::of(pid),
            store: place.store.plain(),
        };
        let text = serde_json::to_string(&content).map_err(|error| failed(error.into()))?;
        let draft = path.with_extension("new");
        // Left by a crash in between; it may have had other rights.
        let _ = fs::remove_file(&draft);
        let mut file =
            OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft).map_err(failed)?;
        writeln!(file, "{text}").and_then(|()| file.sync_all()).map_err(failed)?;
        fs::rename(&draft, &path).map_err(failed)?;
        Ok(Self { path })
    }

    pub fn path(&self) -> &std::path::Path {
        &self.path
    }
}

impl Drop for ServerFile {
    fn drop(&mut self) {
        // Somebody was faster; it is gone either way.
        let _ = fs::remove_file(&self.path);
    }
}

/// Where the server of a place says it is, whether it answers or not.
pub fn said_url(place: &Place) -> Option<String> {
    let content: Content = serde_json::from_str(&fs::read_to_string(path(place)).ok()?).ok()?;
    Some(content.url)
}

/// The running server of a place, if there is one. Its address comes with its token, or with another one.
pub async fn running(place: &Place, token: Option<String>) -> Option<ServerAddress> {
    let text = fs::read_to_string(path(place)).ok()?;
    let content: Content = serde_json::from_str(&text).ok()?;
    if content.store != place.store.plain() {
        return None;
    }
    match content.process.sighting() {
        Sighting::Alive | Sighting::Unknown => {}
        Sighting::Gone | Sighting::Unreaped => return None,
    }
    let address = ServerAddress::new(&content.url, token.or(content.token)).ok()?;
    // One that is ending takes nobody in any more, and soon the store is free.
    ApiClient::for_server(address.clone()).is_reachable().await.then_some(address)
}

fn path(place: &Place) -> PathBuf {
    place.state_dir.join(format!("{}.server.json", place.namespace))
}

/// How people on this machine reach it.
pub fn url(address: SocketAddr) -> String {
    let mut reachable = address;
    if reachable.ip().is_unspecified() {
        reachable.set_ip(match address {
            SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
        });
    }
    format!("http://{reachable}")
}

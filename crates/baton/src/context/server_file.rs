//! The server file: URL and token of the running server, for commands of the same user.
//!
//! A killed server leaves its file behind, and another program may use its port by then. So the file also identifies
//! the process, by more than its pid: if that process is gone, the file is ignored and the token is not sent.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::net::SocketAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use baton_engine::fence::FENCED;
use baton_engine::identity::{ProcessIdentity, ProcessStatus};
use baton_engine::settings::location::StateLocation;
use baton_server::client::{ApiClient, ServerAddress};
use serde::{Deserialize, Serialize};

use crate::error::CliError;

#[derive(Serialize, Deserialize)]
struct ServerFileContent {
    url: String,
    token: Option<String>,
    pid: u32,
    process: ProcessIdentity,
    /// The store the server works on; commands for another store ignore the file.
    store: String,
}

/// Exists as long as the server; dropping it removes the file.
pub(crate) struct ServerFile {
    path: PathBuf,
}

impl ServerFile {
    /// Readable by its owner only, and written atomically.
    pub(crate) fn write(
        place: &StateLocation,
        address: SocketAddr,
        token: Option<&str>,
    ) -> Result<Self, CliError> {
        let path = path(place);
        let failed = |error: std::io::Error| {
            CliError::failed(format!("cannot write {}: {error}", path.display()), "check the permissions")
        };
        let pid = std::process::id();
        let content = ServerFileContent {
            url: url(address),
            token: token.map(str::to_owned),
            pid,
            process: ProcessIdentity::from_pid(pid),
            store: place.store.without_credentials(),
        };
        let text = serde_json::to_string(&content).map_err(|error| failed(error.into()))?;
        let draft = path.with_extension("new");
        // Left by a crash; it may have other permissions.
        let _ = fs::remove_file(&draft);
        let mut file =
            OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft).map_err(failed)?;
        writeln!(file, "{text}").and_then(|()| file.sync_all()).map_err(failed)?;
        fs::rename(&draft, &path).map_err(failed)?;
        Ok(Self { path })
    }

    pub(crate) fn path(&self) -> &std::path::Path {
        &self.path
    }
}

impl Drop for ServerFile {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = fs::remove_file(&self.path);
    }
}

/// The URL in the server file, whether the server answers or not.
pub(crate) fn recorded_url(place: &StateLocation) -> Option<String> {
    let content: ServerFileContent = serde_json::from_str(&fs::read_to_string(path(place)).ok()?).ok()?;
    Some(content.url)
}

/// The running server, if there is one. Uses `token` instead of the token in the file if given.
pub(crate) async fn running(place: &StateLocation, token: Option<String>) -> Option<ServerAddress> {
    if std::env::var_os(FENCED).is_some() {
        return around_fence(token).await;
    }
    let text = fs::read_to_string(path(place)).ok()?;
    let content: ServerFileContent = serde_json::from_str(&text).ok()?;
    if content.store != place.store.without_credentials() {
        return None;
    }
    match content.process.status() {
        ProcessStatus::Alive | ProcessStatus::Unknown => {}
        ProcessStatus::Gone | ProcessStatus::Unreaped => return None,
    }
    let address = ServerAddress::new(&content.url, token.or(content.token)).ok()?;
    // A server that is shutting down refuses connections; the store is free soon.
    ApiClient::for_server(address.clone()).is_reachable().await.then_some(address)
}

/// Inside a fence the state folder looks empty; the agent's variables lead to the server.
async fn around_fence(token: Option<String>) -> Option<ServerAddress> {
    let url = std::env::var("BATON_MCP_URL").ok()?;
    let token = token.or_else(|| std::env::var("BATON_TOKEN").ok());
    let address = ServerAddress::new(url.trim_end_matches("/mcp"), token).ok()?;
    ApiClient::for_server(address.clone()).is_reachable().await.then_some(address)
}

fn path(place: &StateLocation) -> PathBuf {
    place.state_dir.join(format!("{}.server.json", place.namespace))
}

/// The URL on this machine.
pub(crate) fn url(address: SocketAddr) -> String {
    let mut reachable = address;
    if reachable.ip().is_unspecified() {
        reachable.set_ip(match address {
            SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
        });
    }
    format!("http://{reachable}")
}

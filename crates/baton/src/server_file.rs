//! The server file: where the running server is and what it wants to see, for commands of the same user.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::net::SocketAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use baton_engine::place::Place;
use serde_json::json;

use crate::fault::{FAILED, Fault};

/// There for as long as the server is; dropping it takes the file away.
pub struct ServerFile {
    path: PathBuf,
}

impl ServerFile {
    /// For its owner alone, and there as a whole or not at all.
    pub fn write(place: &Place, address: SocketAddr, token: Option<&str>) -> Result<Self, Fault> {
        let path = place.state_dir.join(format!("{}.server.json", place.namespace));
        let failed = |error: std::io::Error| Fault {
            message: format!("{} cannot be written: {error}", path.display()),
            hint: "check that you may write there".to_owned(),
            code: FAILED,
        };
        let text = json!({ "url": url(address), "token": token, "pid": std::process::id() });
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

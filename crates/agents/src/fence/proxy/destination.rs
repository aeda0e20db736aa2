//! Whether a host may be reached, and at which addresses.

use std::net::SocketAddr;

use tokio::net::{TcpStream, lookup_host};

use crate::fence::host_pattern::{HostPattern, HostPermission, RequestedHost, is_private, parse_host};

/// Connects to `host:port` if the list lets it through. The error says why not.
pub(super) async fn connect(allow: &[HostPattern], host: &str, port: u16) -> Result<TcpStream, ConnectError> {
    let refused = |reason: String| ConnectError::Refused(reason);
    let wanted = parse_host(host).map_err(|error| refused(error.to_string()))?;
    let permission =
        permission(allow, &wanted, port).ok_or_else(|| refused("it is not in allow".to_owned()))?;
    let unreachable = |error: std::io::Error| ConnectError::Unreachable(error.to_string());
    let addresses: Vec<SocketAddr> = match &wanted {
        RequestedHost::Address(address) => vec![(*address, port).into()],
        RequestedHost::Name(name) => lookup_host((name.as_str(), port)).await.map_err(unreachable)?.collect(),
    };
    let is_open = |address: &SocketAddr| permission == HostPermission::Anywhere || !is_private(address.ip());
    let open: Vec<SocketAddr> = addresses.iter().copied().filter(is_open).collect();
    if open.is_empty() && !addresses.is_empty() {
        let name =
            format!("it resolves to a private address; allow it as \"{host}:{port}\" if that is meant");
        return Err(refused(name));
    }
    TcpStream::connect(open.as_slice()).await.map_err(unreachable)
}

pub(super) enum ConnectError {
    /// It was not let through.
    Refused(String),
    /// It was, and nobody answers there.
    Unreachable(String),
}

/// The widest permission that any entry gives.
fn permission(allow: &[HostPattern], host: &RequestedHost, port: u16) -> Option<HostPermission> {
    let mut given = allow.iter().filter_map(|pattern| pattern.permits(host, port));
    let first = given.next()?;
    Some(if given.any(|other| other == HostPermission::Anywhere) { HostPermission::Anywhere } else { first })
}

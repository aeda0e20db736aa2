//! Carries connections of one fence to Baton's own server, and remembers whose they are (I19).
//!
//! A fence with a network of its own cannot reach the person's port. It gets a UNIX socket instead, which leads here. The
//! server asks [`attempt_of_address`] who is at the other end of a connection, so what comes through the relay is known as
//! the attempt's, whatever token it shows.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use baton_core::base::id::AttemptId;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpSocket, TcpStream, UnixListener, UnixStream};
use tokio::task::{JoinHandle, JoinSet};

static RELAYED: Mutex<BTreeMap<SocketAddr, AttemptId>> = Mutex::new(BTreeMap::new());

/// The attempt whose fence a connection comes from: by the client's address, as the server sees it.
pub fn attempt_of_address(peer: SocketAddr) -> Option<AttemptId> {
    RELAYED.lock().unwrap_or_else(PoisonError::into_inner).get(&peer).copied()
}

/// A running relay. Dropping it closes the socket and every connection.
pub struct Relay {
    socket: PathBuf,
    serving: JoinHandle<()>,
}

impl Relay {
    /// Listens at `socket`, which must not exist, and connects to `server`.
    pub fn open(socket: &Path, server: SocketAddr, attempt: AttemptId) -> io::Result<Self> {
        let listener = UnixListener::bind(socket)?;
        let serving = tokio::spawn(async move {
            let mut clients = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                clients.spawn(carry(stream, server, attempt));
                while clients.try_join_next().is_some() {}
            }
        });
        Ok(Self { socket: socket.to_owned(), serving })
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.serving.abort();
        let _ = std::fs::remove_file(&self.socket);
    }
}

async fn carry(mut inside: UnixStream, server: SocketAddr, attempt: AttemptId) {
    let Ok((mut outside, _known)) = connect(server, attempt).await else { return };
    let _ = copy_bidirectional(&mut inside, &mut outside).await;
}

/// Known before it is connected, so that the server never sees it without its name.
async fn connect(server: SocketAddr, attempt: AttemptId) -> io::Result<(TcpStream, RelayedAddress)> {
    let socket = if server.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.bind(SocketAddr::new(server.ip(), 0))?;
    let known = RelayedAddress::add(socket.local_addr()?, attempt);
    Ok((socket.connect(server).await?, known))
}

/// An address in the list as long as its connection lasts.
struct RelayedAddress(SocketAddr);

impl RelayedAddress {
    fn add(address: SocketAddr, attempt: AttemptId) -> Self {
        RELAYED.lock().unwrap_or_else(PoisonError::into_inner).insert(address, attempt);
        Self(address)
    }
}

impl Drop for RelayedAddress {
    fn drop(&mut self) {
        RELAYED.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
    }
}

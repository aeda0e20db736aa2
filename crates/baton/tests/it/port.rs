//! A port that no other program gets while a test needs it.

use std::net::SocketAddr;

use tokio::net::TcpSocket;

/// Bound, but not listening: whoever connects is refused, and only a program that asks for this very port gets it, as all
/// that reuse addresses may.
pub(crate) struct ReservedPort {
    _socket: TcpSocket,
    pub(crate) address: SocketAddr,
}

impl ReservedPort {
    pub(crate) fn new() -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_reuseaddr(true).unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = socket.local_addr().unwrap();
        Self { _socket: socket, address }
    }
}

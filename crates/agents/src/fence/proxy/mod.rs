//! The HTTP proxy of a fence with `network = "allow"`: lets connections to named hosts through and reports the others.
//!
//! It listens on a UNIX socket that is visible in one fence only. `CONNECT` opens a tunnel; plain HTTP is passed on request
//! by request, each checked. A host is resolved here, once, and the address that was checked is the one connected to.

mod destination;
mod service;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::UnixListener;
use tokio::task::JoinHandle;

use crate::fence::host_pattern::HostPattern;

/// A connection that was not let through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetworkRefusal {
    /// `host:port`, as the agent wrote it.
    pub host: String,
    /// One sentence.
    pub reason: String,
}

/// Is told about every refusal. It must not block.
pub type RefusalSink = Arc<dyn Fn(NetworkRefusal) + Send + Sync>;

/// A running proxy. Dropping it closes the socket and every connection.
pub struct Proxy {
    socket: PathBuf,
    serving: JoinHandle<()>,
}

impl Proxy {
    /// Listens at `socket`, which must not exist.
    pub fn open(socket: &Path, allow: Vec<HostPattern>, refused: RefusalSink) -> io::Result<Self> {
        let listener = UnixListener::bind(socket)?;
        let allow: Arc<[HostPattern]> = allow.into();
        let serving = tokio::spawn(async move {
            // Ends with this task.
            let mut clients = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (allow, refused) = (Arc::clone(&allow), Arc::clone(&refused));
                clients.spawn(async move {
                    let answer = service_fn(move |request| {
                        service::answer(request, Arc::clone(&allow), Arc::clone(&refused))
                    });
                    let connection = http1::Builder::new()
                        .preserve_header_case(true)
                        .serve_connection(TokioIo::new(stream), answer)
                        .with_upgrades();
                    // The agent closed it in the middle; nothing to do.
                    let _ = connection.await;
                });
                while clients.try_join_next().is_some() {}
            }
        });
        Ok(Self { socket: socket.to_owned(), serving })
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.serving.abort();
        let _ = std::fs::remove_file(&self.socket);
    }
}

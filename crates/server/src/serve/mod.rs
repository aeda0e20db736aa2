//! The listener: accepts connections, limits them, and shuts them down cleanly.

mod agents;
mod file_limit;
mod once;
pub mod router;

use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use crate::live::follower::LogProbe;
use axum::Router;
use baton_engine::base::supervisor::{AtEnd, ServiceName, Supervisor, Wake};
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::http::limits::{CONNECTIONS_MAX, ENDING_PATIENCE, HEAD_BYTES_MAX, HEAD_TIMEOUT, HEADERS_MAX};
use crate::http::peer::Peer;
use crate::serve::router::router;
use crate::state::App;

/// Pause after a failed accept, for example when file handles run out.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// A bound listener that does not serve yet.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
}

impl Server {
    /// Port 0 picks a free port.
    pub async fn bind(address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address })
    }

    /// The bound address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `stop` turns true, then accepts nothing new and returns when open requests have finished. Streams end
    /// once the app's `ending` turns true and all events were delivered.
    pub async fn run(self, app: App, mut stop: watch::Receiver<bool>) {
        let mut probing =
            Supervisor::new(app.workspace.services.clone(), app.workspace.announce.clone(), stop.clone());
        let tasks = app.tasks().clone();
        let wake = Wake::every(LogProbe::PERIOD);
        let make = move || LogProbe(tasks.clone());
        probing.start(ServiceName::Follower, wake, AtEnd::Cancel(Duration::ZERO), make);
        let mut clients = JoinSet::new();
        let places = Arc::new(Semaphore::new(places(file_limit::raise())));
        let service = TowerToHyperService::new(router(app.clone()));
        while !*stop.borrow() {
            let taken = async {
                let place = Arc::clone(&places).acquire_owned().await;
                (self.listener.accept().await, place)
            };
            let (accepted, place) = tokio::select! {
                taken = taken => taken,
                _ = stop.changed() => continue,
            };
            match accepted {
                Ok((stream, peer)) => {
                    let client = client(stream, peer, service.clone(), stop.clone());
                    clients.spawn(async move {
                        client.await;
                        drop(place);
                    });
                }
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    sleep(ACCEPT_PAUSE).await;
                }
            }
            // Reap finished connections.
            while clients.try_join_next().is_some() {}
        }
        drop(self.listener);
        let mut sockets = app.sockets.subscribe();
        let ended = async {
            while clients.join_next().await.is_some() {}
            // Fails only when the app is gone.
            let _ = sockets.wait_for(|open| *open == 0).await;
        };
        if timeout(ENDING_PATIENCE, ended).await.is_err() {
            tracing::warn!("some clients did not disconnect in time; closing their connections");
        }
    }
}

/// How many connections are served at once, where this many files may be open.
fn places(files_max: Option<u64>) -> usize {
    let quarter = files_max.and_then(|files| usize::try_from(files / 4).ok());
    quarter.unwrap_or(CONNECTIONS_MAX).clamp(1, CONNECTIONS_MAX)
}

/// Serves one connection within its limits. When `stop` turns true it may finish the request in progress.
async fn client(
    stream: TcpStream,
    peer: SocketAddr,
    service: TowerToHyperService<Router>,
    mut stop: watch::Receiver<bool>,
) {
    // Responses are small; send them at once.
    let _ = stream.set_nodelay(true);
    let ends = Peer::new(peer, stream.local_addr().ok());
    let with_peer = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(ends.clone());
        service.call(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(HEAD_BYTES_MAX)
        .max_headers(HEADERS_MAX)
        .serve_connection(TokioIo::new(stream), with_peer)
        .with_upgrades();
    let mut connection = pin!(connection);
    let ended = tokio::select! {
        ended = &mut connection => ended,
        () = async { drop(stop.wait_for(|stop| *stop).await) } => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, %peer, "connection broken");
    }
}

//! How requests reach the router: over TCP, or in this process.

use std::convert::Infallible;
use std::future::Future;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::header::{AUTHORIZATION, HOST, HeaderValue};
use axum::http::{Request, Response};
use hyper::client::conn::http1;
use hyper::service::Service;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpStream;
use tokio::time::timeout;

use baton_core::people::toolset::ClientPowers;

use crate::client::ClientError;
use crate::http::guard::ServerToken;
use crate::http::limits::REQUEST_TIMEOUT;
use crate::mcp::mount::ALLOW;
use crate::state::principal::PERSON;

/// A server on this machine accepts at once, or is not running.
const CONNECT_PATIENCE: Duration = Duration::from_secs(3);
/// Longer than the server's own timeout, so that its error arrives first.
const ANSWER_PATIENCE: Duration = Duration::from_secs(REQUEST_TIMEOUT.as_secs() + 10);

/// A server's address and the credentials for it.
#[derive(Debug, Clone)]
pub struct ServerAddress {
    authority: String,
    token: Option<ServerToken>,
    /// The name to act under when using the server's token.
    person: Option<String>,
    /// What the person lets this client decide.
    powers: ClientPowers,
    /// None waits forever.
    timeout_after: Option<Duration>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidAddress {
    #[error("invalid server address \"{0}\"")]
    NotHttp(String),
    #[error("the address or the token contains invalid characters")]
    Blank,
}

impl ServerAddress {
    /// `http://127.0.0.1:5678`
    pub fn new(url: &str, token: Option<String>) -> Result<Self, InvalidAddress> {
        let authority = url.strip_prefix("http://").filter(|rest| !rest.is_empty() && !rest.contains('/'));
        let authority = authority.ok_or_else(|| InvalidAddress::NotHttp(url.to_owned()))?;
        let is_clean = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic());
        if !is_clean(authority) || !token.as_deref().is_none_or(is_clean) {
            return Err(InvalidAddress::Blank);
        }
        let timeout_after = Some(ANSWER_PATIENCE);
        Ok(Self {
            authority: authority.to_owned(),
            token: token.map(ServerToken::new),
            person: None,
            powers: ClientPowers::default(),
            timeout_after,
        })
    }

    /// Acts under this name.
    pub fn acting_as(self, person: &str) -> Self {
        Self { person: Some(person.to_owned()), ..self }
    }

    /// Tells the server what the person lets this client decide.
    pub fn allowing(self, powers: ClientPowers) -> Self {
        Self { powers, ..self }
    }

    /// For calls that wait for a command or a person.
    pub fn without_timeout(self) -> Self {
        Self { timeout_after: None, ..self }
    }
}

#[derive(Clone)]
pub(super) enum Transport {
    Server(ServerAddress),
    InProcess(TowerToHyperService<Router>),
}

impl Transport {
    /// Connects to the server; none in this process.
    pub(super) async fn connect(&self) -> Result<Option<TcpStream>, ClientError> {
        let Self::Server(address) = self else { return Ok(None) };
        match timeout(CONNECT_PATIENCE, TcpStream::connect(&address.authority)).await {
            Ok(Ok(stream)) => Ok(Some(stream)),
            Ok(Err(error)) => Err(ClientError::Unreachable(error.to_string())),
            Err(_) => Err(ClientError::Silent(CONNECT_PATIENCE.as_secs())),
        }
    }

    /// Sends a request on a connection of its own: they are few, and local connections are cheap.
    pub(super) async fn send(&self, request: Request<Body>) -> Result<Response<Body>, ClientError> {
        match (self, self.connect().await?) {
            (Self::Server(address), Some(stream)) => {
                let request = add_headers(request, address)?;
                self.with_timeout(exchange(stream, request)).await
            }
            (Self::InProcess(calls), _) => {
                let answered: Result<_, Infallible> = calls.call(request).await;
                let Ok(response) = answered;
                Ok(response)
            }
            (Self::Server(_), None) => Err(ClientError::Unreachable("not connected".to_owned())),
        }
    }

    /// Applies the timeout. Calls in this process have none.
    pub(super) async fn with_timeout<T>(
        &self,
        work: impl Future<Output = Result<T, ClientError>>,
    ) -> Result<T, ClientError> {
        match self {
            Self::InProcess(_) | Self::Server(ServerAddress { timeout_after: None, .. }) => work.await,
            Self::Server(ServerAddress { timeout_after: Some(timeout_after), .. }) => {
                timeout(*timeout_after, work)
                    .await
                    .unwrap_or(Err(ClientError::Silent(timeout_after.as_secs())))
            }
        }
    }
}

fn add_headers(mut request: Request<Body>, address: &ServerAddress) -> Result<Request<Body>, ClientError> {
    let header =
        |text: &str| HeaderValue::from_str(text).map_err(|error| ClientError::Garbled(error.to_string()));
    let headers = request.headers_mut();
    headers.insert(HOST, header(&address.authority)?);
    if let Some(token) = &address.token {
        let mut bearer = header(&format!("Bearer {}", token.reveal()))?;
        bearer.set_sensitive(true);
        headers.insert(AUTHORIZATION, bearer);
    }
    if address.powers != ClientPowers::default() {
        headers.insert(ALLOW.clone(), header(&address.powers.to_string())?);
    }
    // A name that is not a valid header value is dropped; the owner's name is used instead.
    if let Some(Ok(person)) = address.person.as_ref().map(|name| HeaderValue::from_bytes(name.as_bytes())) {
        headers.insert(PERSON.clone(), person);
    }
    Ok(request)
}

async fn exchange(stream: TcpStream, request: Request<Body>) -> Result<Response<Body>, ClientError> {
    let broken = |error: hyper::Error| ClientError::Broken(error.to_string());
    // Requests are small; send them at once.
    let _ = stream.set_nodelay(true);
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(broken)?;
    // The task ends with the response, or when the caller drops it.
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "connection to the server broken");
        }
    });
    Ok(sender.send_request(request).await.map_err(broken)?.map(Body::new))
}

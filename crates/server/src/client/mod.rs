//! The API client of the command line: a running server over TCP, or the same router in this process.
//!
//! Both give the same answers, because both use the same router.

mod error;
mod events;
mod explained;
mod transport;

use std::fmt::Write;

use axum::body::Body;
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::http::{Method, Request, Response};
use futures_util::StreamExt;
use hyper_util::service::TowerToHyperService;
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use crate::client::error::ClientError;
pub use crate::client::events::EventStream;
use crate::client::transport::Transport;
pub use crate::client::transport::{InvalidAddress, ServerAddress};
use crate::serve::router;
use crate::state::App;

/// Larger than any response of ours.
const ANSWER_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Sends requests to the API. Cheap to clone.
#[derive(Clone)]
pub struct ApiClient {
    transport: Transport,
}

impl ApiClient {
    /// A client of a running server.
    pub fn for_server(address: ServerAddress) -> Self {
        Self { transport: Transport::Server(address) }
    }

    /// Calls the router in this process, on a store opened here. No authentication: nobody else can reach it.
    pub fn in_process(app: App) -> Self {
        Self { transport: Transport::InProcess(TowerToHyperService::new(router::owner_router(app))) }
    }

    /// Whether the server accepts connections.
    pub async fn is_reachable(&self) -> bool {
        self.transport.connect().await.is_ok()
    }

    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, ClientError> {
        self.send(Method::GET, path, None::<&()>).await
    }

    pub async fn post<B: Serialize + Sync, T: DeserializeOwned>(
        &self,
        path: &str,
        body: &B,
    ) -> Result<T, ClientError> {
        self.send(Method::POST, path, Some(body)).await
    }

    pub async fn patch<B: Serialize + Sync, T: DeserializeOwned>(
        &self,
        path: &str,
        body: &B,
    ) -> Result<T, ClientError> {
        self.send(Method::PATCH, path, Some(body)).await
    }

    pub async fn delete<T: DeserializeOwned>(&self, path: &str) -> Result<T, ClientError> {
        self.send(Method::DELETE, path, None::<&()>).await
    }

    /// All events after sequence number `after`.
    pub async fn events(&self, after: u64) -> Result<EventStream, ClientError> {
        let request = Request::get(format!("/api/events?after={after}"))
            .header(ACCEPT, "text/event-stream")
            .body(Body::empty())
            .map_err(|error| ClientError::Garbled(error.to_string()))?;
        let response = self.transport.send(request).await?;
        if response.status().is_success() {
            return Ok(EventStream::new(response.into_body()));
        }
        Err(read_error(response).await)
    }

    async fn send<B: Serialize + Sync, T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<&B>,
    ) -> Result<T, ClientError> {
        let garbled = |error: &dyn std::fmt::Display| ClientError::Garbled(error.to_string());
        let mut request = Request::builder().method(method).uri(path);
        let body = match body {
            Some(body) => {
                request = request.header(CONTENT_TYPE, "application/json");
                Body::from(serde_json::to_vec(body).map_err(|error| garbled(&error))?)
            }
            None => Body::empty(),
        };
        let request = request.body(body).map_err(|error| garbled(&error))?;
        let asking = async {
            let response = self.transport.send(request).await?;
            if !response.status().is_success() {
                return Err(read_error(response).await);
            }
            read_body(response.into_body()).await
        };
        let bytes = self.transport.with_timeout(asking).await?;
        serde_json::from_slice(&bytes).map_err(|error| garbled(&error))
    }
}

/// Parses an error response; anything else did not come from a Baton server.
async fn read_error(response: Response<Body>) -> ClientError {
    let status = response.status();
    let bytes = match read_body(response.into_body()).await {
        Ok(bytes) => bytes,
        Err(error) => return error,
    };
    match serde_json::from_slice(&bytes) {
        Ok(read_error) => ClientError::Refused(read_error),
        Err(_) => ClientError::Garbled(format!("status {status} without an error object")),
    }
}

async fn read_body(body: Body) -> Result<Vec<u8>, ClientError> {
    let mut chunks = body.into_data_stream();
    let mut bytes = Vec::new();
    while let Some(chunk) = chunks.next().await {
        bytes.extend_from_slice(&chunk.map_err(|error| ClientError::Broken(error.to_string()))?);
        if bytes.len() > ANSWER_BYTES_MAX {
            return Err(ClientError::Garbled("response too large".to_owned()));
        }
    }
    Ok(bytes)
}

/// Appends a query string with percent-encoded values.
pub fn with_query(path: &str, pairs: &[(&str, &str)]) -> String {
    let mut text = path.to_owned();
    for (number, (name, value)) in pairs.iter().enumerate() {
        text.push(if number == 0 { '?' } else { '&' });
        text.push_str(name);
        text.push('=');
        for byte in value.bytes() {
            if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
                text.push(byte.into());
            } else {
                // Writing to a String cannot fail.
                let _ = write!(text, "%{byte:02X}");
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_hanging_server_times_out() {
        // The kernel accepts connections, and nobody reads from them.
        let hanging = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", hanging.local_addr().unwrap());
        let client = ApiClient::for_server(ServerAddress::new(&url, None).unwrap());
        let asked = client.get::<serde_json::Value>("/api/tasks").await;
        assert!(matches!(asked, Err(ClientError::Silent(_))), "{asked:?}");
        drop(hanging);
        let asked = client.get::<serde_json::Value>("/api/tasks").await;
        assert!(matches!(asked, Err(ClientError::Unreachable(_))), "{asked:?}");
    }

    #[test]
    fn query_values_are_encoded() {
        assert_eq!(with_query("/api/tasks", &[]), "/api/tasks");
        let path = with_query("/api/tasks", &[("prefix", "a&b=c ü"), ("cursor", "17~TASK-1")]);
        assert_eq!(path, "/api/tasks?prefix=a%26b%3Dc%20%C3%BC&cursor=17~TASK-1");
    }
}

//! Sends what the OTLP exporter encoded, with Baton's one HTTP client.

use std::pin::Pin;
use std::sync::{Mutex, PoisonError};

use baton_engine::base::http_client::describe;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use reqwest::Client;
use tokio::runtime::Handle;

/// A collector's response is short; no more than this is read.
const RESPONSE_BYTES_MAX: usize = 64 << 10;

#[derive(Debug)]
pub(crate) struct OtlpTransport {
    client: Client,
    /// The SDK sends from a thread of its own, which has no runtime; the client needs one.
    runtime: Handle,
    /// What was logged last; the same failure is not logged again.
    last_failure: Mutex<Option<String>>,
}

impl OtlpTransport {
    /// Must be called inside the runtime that is to send.
    pub(crate) fn new(client: Client) -> Self {
        Self { client, runtime: Handle::current(), last_failure: Mutex::default() }
    }

    fn report(&self, failure: Option<String>) {
        let mut last = self.last_failure.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(failure) = failure.as_ref().filter(|failure| Some(*failure) != last.as_ref()) {
            tracing::warn!(failure, "cannot send traces to the collector");
        }
        *last = failure;
    }

    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let sending = self.runtime.spawn(exchange(self.client.clone(), request));
        let response = sending.await.map_err(HttpError::from).and_then(|response| response);
        self.report(match &response {
            Ok(response) if response.status().is_success() => None,
            Ok(response) => Some(format!("the response was {}", response.status())),
            Err(error) => Some(describe(error.as_ref())),
        });
        response
    }
}

async fn exchange(client: Client, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
    let request = reqwest::Request::try_from(request)?;
    let mut response = client.execute(request).await.map_err(reqwest::Error::without_url)?;
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if body.len().saturating_add(chunk.len()) > RESPONSE_BYTES_MAX {
            break;
        }
        body.extend_from_slice(&chunk);
    }
    let mut answer = Response::builder().status(response.status());
    if let Some(headers) = answer.headers_mut() {
        headers.extend(response.headers().clone());
    }
    Ok(answer.body(body.into())?)
}

impl HttpClient for OtlpTransport {
    // As `async_trait` writes it.
    fn send_bytes<'this, 'sending>(
        &'this self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'sending>>
    where
        'this: 'sending,
        Self: 'sending,
    {
        Box::pin(self.send(request))
    }
}

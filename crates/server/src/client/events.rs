//! Reads events from the server's event stream.

use std::time::Duration;

use axum::body::{Body, BodyDataStream};
use baton_engine::StoredEvent;
use futures_util::StreamExt;
use tokio::time::timeout;

use crate::client::ClientError;

/// The server sends keep-alives every 15 seconds; after this long without one it is gone.
const SILENCE_MAX: Duration = Duration::from_mins(1);
/// Far more than any event.
const EVENT_BYTES_MAX: usize = 16 * 1024 * 1024;

pub struct EventStream {
    chunks: BodyDataStream,
    /// Bytes of the incomplete line.
    buffer: Vec<u8>,
}

impl EventStream {
    pub(super) fn new(body: Body) -> Self {
        Self { chunks: body.into_data_stream(), buffer: Vec::new() }
    }

    /// The next event; none when the server ended the stream. Cancel-safe.
    pub async fn next(&mut self) -> Result<Option<StoredEvent>, ClientError> {
        loop {
            while let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.buffer.drain(..=end).collect();
                // Other lines repeat the id and the name, or are keep-alives.
                if let Some(data) = line.strip_prefix(b"data: ") {
                    return serde_json::from_slice(data)
                        .map(Some)
                        .map_err(|error| ClientError::Garbled(error.to_string()));
                }
            }
            match timeout(SILENCE_MAX, self.chunks.next()).await {
                Ok(Some(Ok(chunk))) => self.buffer.extend_from_slice(&chunk),
                Ok(Some(Err(error))) => return Err(ClientError::Broken(error.to_string())),
                Ok(None) => return Ok(None),
                Err(_) => return Err(ClientError::Silent(SILENCE_MAX.as_secs())),
            }
            if self.buffer.len() > EVENT_BYTES_MAX {
                return Err(ClientError::Garbled("event too large".to_owned()));
            }
        }
    }
}

//! The history as it grows, read from a stream of server-sent events.

use std::time::Duration;

use axum::body::{Body, BodyDataStream};
use baton_engine::StoredEvent;
use futures_util::StreamExt;
use tokio::time::timeout;

use super::ClientError;

/// A stream gives a sign of life every quarter of a minute; after this long without one nobody is there.
const SILENCE_MAX: Duration = Duration::from_mins(1);
/// One event holds a message at most, and a message is never this long.
const EVENT_BYTES_MAX: usize = 16 * 1024 * 1024;

pub struct Events {
    chunks: BodyDataStream,
    /// What has come of the next line.
    heard: Vec<u8>,
}

impl Events {
    pub(super) fn new(body: Body) -> Self {
        Self { chunks: body.into_data_stream(), heard: Vec::new() }
    }

    /// The next event; none when whoever tells them has ended. May be dropped and called again.
    pub async fn next(&mut self) -> Result<Option<StoredEvent>, ClientError> {
        loop {
            while let Some(end) = self.heard.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.heard.drain(..=end).collect();
                // Of the rest, the number and the name are in the data too, and others are signs of life.
                if let Some(data) = line.strip_prefix(b"data: ") {
                    return serde_json::from_slice(data)
                        .map(Some)
                        .map_err(|error| ClientError::Garbled(error.to_string()));
                }
            }
            match timeout(SILENCE_MAX, self.chunks.next()).await {
                Ok(Some(Ok(chunk))) => self.heard.extend_from_slice(&chunk),
                Ok(Some(Err(error))) => return Err(ClientError::Broken(error.to_string())),
                Ok(None) => return Ok(None),
                Err(_) => return Err(ClientError::Silent(SILENCE_MAX.as_secs())),
            }
            if self.heard.len() > EVENT_BYTES_MAX {
                return Err(ClientError::Garbled("an event has no end".to_owned()));
            }
        }
    }
}

//! One of an agent's streams, read without ever waiting for it alone.

use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};

/// What is read at once.
const CHUNK_BYTES: usize = 64 * 1024;
/// How long a pipe may stay open once nothing of the tree is left to write to it. Whoever holds it then is a
/// process that cannot be found, and what it writes is not the agent's word.
pub const DRAIN_PATIENCE: Duration = Duration::from_secs(1);

/// One of the agent's streams.
pub struct Pipe<R> {
    source: Option<R>,
    chunk: Vec<u8>,
}

impl<R: AsyncRead + Unpin> Pipe<R> {
    pub fn new(source: R) -> Self {
        Self { source: Some(source), chunk: vec![0; CHUNK_BYTES] }
    }

    pub fn is_open(&self) -> bool {
        self.source.is_some()
    }

    /// The next bytes; none at the end of the stream, once; after that it never returns. Safe to drop half-way.
    pub async fn next(&mut self) -> &[u8] {
        let Some(source) = &mut self.source else {
            return std::future::pending().await;
        };
        // A stream that cannot be read has ended as far as anyone can tell.
        let bytes = source.read(&mut self.chunk).await.unwrap_or(0);
        if bytes == 0 {
            self.source = None;
        }
        &self.chunk[..bytes]
    }
}

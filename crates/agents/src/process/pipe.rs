//! Reads one output stream of a process, for use in `select!`.

use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};

/// Bytes per read.
const CHUNK_BYTES: usize = 64 * 1024;
/// How long a pipe may stay open once the tree is gone. A process that still holds it cannot be found, and its output is
/// not the agent's.
pub(crate) const DRAIN_PATIENCE: Duration = Duration::from_secs(1);

pub(crate) struct PipeReader<R> {
    source: Option<R>,
    chunk: Vec<u8>,
}

impl<R: AsyncRead + Unpin> PipeReader<R> {
    pub(crate) fn new(source: R) -> Self {
        Self { source: Some(source), chunk: vec![0; CHUNK_BYTES] }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.source.is_some()
    }

    /// The next bytes; an empty slice once at the end of the stream, after which it pends forever. Cancel-safe.
    pub(crate) async fn next(&mut self) -> &[u8] {
        let Some(source) = &mut self.source else {
            return std::future::pending().await;
        };
        // A read error counts as the end of the stream.
        let bytes = source.read(&mut self.chunk).await.unwrap_or(0);
        if bytes == 0 {
            self.source = None;
        }
        &self.chunk[..bytes]
    }
}

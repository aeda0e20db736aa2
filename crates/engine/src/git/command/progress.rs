//! Progress of git while it writes the files of a worktree.

use std::fmt;
use std::io;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncReadExt};

/// Seconds before git reports progress: what ends sooner needs no bar.
pub(crate) const DELAY_SECONDS: &str = "1";
/// The start of git's progress line, in English (`LC_ALL=C`).
const PREFIX: &str = "Updating files:";
/// A longer line is not progress, and is taken in pieces.
const LINE_BYTES_MAX: usize = 4 << 10;

/// Files written so far. The last report says that all are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FilesWritten {
    pub written: u64,
    pub total: u64,
}

/// Receives the progress.
#[derive(Clone)]
pub struct Watcher(Arc<dyn Fn(FilesWritten) + Send + Sync>);

impl Watcher {
    pub fn new(report: impl Fn(FilesWritten) + Send + Sync + 'static) -> Self {
        Self(Arc::new(report))
    }

    /// Reads all of git's standard error: reports progress and returns the head of the rest.
    pub(crate) async fn read(
        &self,
        pipe: Option<impl AsyncRead + Unpin>,
        bytes_max: usize,
    ) -> io::Result<Vec<u8>> {
        let (mut kept, mut line, mut chunk) = (Vec::new(), Vec::new(), vec![0; LINE_BYTES_MAX]);
        let Some(mut pipe) = pipe else { return Ok(kept) };
        loop {
            let count = pipe.read(&mut chunk).await?;
            for byte in chunk.get(..count).unwrap_or_default() {
                line.push(*byte);
                if matches!(byte, b'\r' | b'\n') || line.len() == LINE_BYTES_MAX {
                    self.take_line(&line, &mut kept, bytes_max);
                    line.clear();
                }
            }
            if count == 0 {
                self.take_line(&line, &mut kept, bytes_max);
                return Ok(kept);
            }
        }
    }

    fn take_line(&self, line: &[u8], kept: &mut Vec<u8>, bytes_max: usize) {
        if let Some(files) = progress(&String::from_utf8_lossy(line)) {
            (self.0)(files);
        } else {
            let room = bytes_max.saturating_sub(kept.len()).min(line.len());
            kept.extend_from_slice(line.get(..room).unwrap_or_default());
        }
    }
}

impl fmt::Debug for Watcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watcher")
    }
}

/// `Updating files:  45% (4500/10000)`
fn progress(line: &str) -> Option<FilesWritten> {
    let (_, counts) = line.trim().strip_prefix(PREFIX)?.split_once('(')?;
    let (written, total) = counts.split_once(')')?.0.split_once('/')?;
    Some(FilesWritten { written: written.parse().ok()?, total: total.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[tokio::test]
    async fn progress_is_reported_and_errors_are_kept() {
        let reported: Arc<Mutex<Vec<FilesWritten>>> = Arc::default();
        let watcher = Watcher::new({
            let reported = Arc::clone(&reported);
            move |files| reported.lock().unwrap().push(files)
        });
        let stderr =
            "warning: a\nUpdating files:  50% (1/2)\rUpdating files: 100% (2/2), done.\nfatal: no room\n";
        let kept = watcher.read(Some(stderr.as_bytes()), 1_000).await.unwrap();
        assert_eq!(String::from_utf8(kept).unwrap(), "warning: a\nfatal: no room\n");
        let files = |written| FilesWritten { written, total: 2 };
        assert_eq!(*reported.lock().unwrap(), [files(1), files(2)]);
        assert_eq!(watcher.read(Some(stderr.as_bytes()), 4).await.unwrap(), b"warn");
    }
}

//! How far git is with writing the files of a worktree, for a person who waits for it.

use std::fmt;
use std::io;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncReadExt};

/// Seconds before git speaks of its progress: what is over sooner needs no bar.
pub(crate) const DELAY_SECONDS: &str = "1";
/// Git's word for it; its words are English (`LC_ALL=C`).
const WORD: &str = "Updating files:";
/// A line that is longer is not one of git's progress; it is taken as it stands.
const LINE_BYTES_MAX: usize = 4 << 10;

/// So many files of so many. The last one says that all are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FilesWritten {
    pub written: u64,
    pub total: u64,
}

/// Who is told.
#[derive(Clone)]
pub struct Watcher(Arc<dyn Fn(FilesWritten) + Send + Sync>);

impl Watcher {
    pub fn new(tell: impl Fn(FilesWritten) + Send + Sync + 'static) -> Self {
        Self(Arc::new(tell))
    }

    /// Reads all of git's standard error: progress is told, the head of the rest is kept.
    pub(crate) async fn listen(
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
                    self.hear(&line, &mut kept, bytes_max);
                    line.clear();
                }
            }
            if count == 0 {
                self.hear(&line, &mut kept, bytes_max);
                return Ok(kept);
            }
        }
    }

    fn hear(&self, line: &[u8], kept: &mut Vec<u8>, bytes_max: usize) {
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
    let (_, counts) = line.trim().strip_prefix(WORD)?.split_once('(')?;
    let (written, total) = counts.split_once(')')?.0.split_once('/')?;
    Some(FilesWritten { written: written.parse().ok()?, total: total.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[tokio::test]
    async fn progress_is_told_and_complaints_are_kept() {
        let told: Arc<Mutex<Vec<FilesWritten>>> = Arc::default();
        let watcher = Watcher::new({
            let told = Arc::clone(&told);
            move |files| told.lock().unwrap().push(files)
        });
        let said =
            "warning: a\nUpdating files:  50% (1/2)\rUpdating files: 100% (2/2), done.\nfatal: no room\n";
        let kept = watcher.listen(Some(said.as_bytes()), 1_000).await.unwrap();
        assert_eq!(String::from_utf8(kept).unwrap(), "warning: a\nfatal: no room\n");
        let files = |written| FilesWritten { written, total: 2 };
        assert_eq!(*told.lock().unwrap(), [files(1), files(2)]);
        assert_eq!(watcher.listen(Some(said.as_bytes()), 4).await.unwrap(), b"warn");
    }
}

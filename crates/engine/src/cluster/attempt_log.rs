//! What an agent wrote, in pieces that fit into an answer.

use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use tokio::fs;
use tokio::io::{AsyncReadExt, AsyncSeekExt};

/// The file with an attempt's log, in the attempt's folder.
pub const LOG_FILE: &str = "agent.log";

/// As much of a text as one answer holds.
const PIECE_BYTES_MAX: u64 = 1024 * 1024;

/// A part of a longer text.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct Piece {
    pub text: String,
    /// Whether there is more, before it or after it.
    pub is_cut: bool,
    /// Where the next piece begins; none at the end.
    pub next_offset: Option<u64>,
    /// Where this piece ends. What is written later begins there.
    pub end_offset: u64,
}

impl Piece {
    /// From `offset` on, or from the character it is in the middle of.
    pub fn of_text(text: &str, offset: u64) -> Self {
        let boundary = |wanted: u64| {
            let wanted = usize::try_from(wanted).unwrap_or(usize::MAX).min(text.len());
            (0..=wanted).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default()
        };
        let (from, to) = (boundary(offset), boundary(offset.saturating_add(PIECE_BYTES_MAX)));
        Self {
            text: text[from..to].to_owned(),
            is_cut: from > 0 || to < text.len(),
            next_offset: (to < text.len()).then_some(to as u64),
            end_offset: to as u64,
        }
    }

    /// Whole lines of a log that is `len` bytes long, from what was read of it at `from`. A piece of its end may begin
    /// in the middle of a line, which is left out.
    pub fn of_log(mut bytes: Vec<u8>, from: u64, len: u64, is_end: bool) -> Self {
        let mut to = from + bytes.len() as u64;
        if to < len
            && let Some(end) = bytes.iter().rposition(|byte| *byte == b'\n')
        {
            bytes.truncate(end + 1);
            to = from + bytes.len() as u64;
        }
        let text = String::from_utf8_lossy(&bytes);
        let begins_inside = is_end && from > 0;
        let text = if begins_inside { text.split_once('\n').map_or("", |(_, rest)| rest) } else { &*text };
        Self {
            text: text.to_owned(),
            is_cut: from > 0 || to < len,
            // A file that has become shorter meanwhile is at its end.
            next_offset: (from < to && to < len).then_some(to),
            end_offset: to,
        }
    }
}

/// The files of an attempt's log, oldest first: `agent.log`, `agent.2.log` and so on.
pub async fn logs(folder: &Path) -> Vec<PathBuf> {
    let (stem, extension) = LOG_FILE.split_once('.').unwrap_or((LOG_FILE, ""));
    let mut names = Vec::new();
    // A folder that is not there, or cannot be read to its end, has no more logs for us.
    let Ok(mut entries) = fs::read_dir(folder).await else { return Vec::new() };
    while let Ok(Some(entry)) = entries.next_entry().await {
        let Ok(name) = entry.file_name().into_string() else { continue };
        if name.starts_with(stem) && name.ends_with(extension) {
            names.push(name);
        }
    }
    // The first has no number, and the tenth comes after the ninth.
    names.sort_by_key(|name| (name.len(), name.clone()));
    names.into_iter().map(|name| folder.join(name)).collect()
}

/// The log of an attempt: one file for each time an agent was put to work in it, one after the other.
pub struct AttemptLog {
    files: Vec<(PathBuf, u64)>,
    len: u64,
}

impl AttemptLog {
    /// None where there is not even the first.
    pub async fn find(folder: &Path) -> io::Result<Option<Self>> {
        let (mut files, mut len) = (Vec::new(), 0);
        for path in logs(folder).await {
            let own = fs::metadata(&path).await?.len();
            len += own;
            files.push((path, own));
        }
        Ok((!files.is_empty()).then_some(Self { files, len }))
    }

    /// Its files, the first one first.
    pub async fn files(folder: &Path) -> Vec<PathBuf> {
        let found = Self::find(folder).await.ok().flatten();
        found.into_iter().flat_map(|log| log.files).map(|(path, _)| path).collect()
    }

    /// Where a piece begins that is wanted from `offset` on, or is the end of it, of at most `max` bytes.
    pub fn start(&self, offset: Option<u64>, max: u64) -> u64 {
        offset.unwrap_or_else(|| self.len.saturating_sub(max)).min(self.len)
    }

    #[expect(clippy::len_without_is_empty, reason = "a log that was found is a log, also when it is empty")]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whole lines from `offset` on; the last ones where there is none: the end is where the trouble is.
    pub async fn piece(&self, offset: Option<u64>) -> io::Result<Piece> {
        let from = self.start(offset, PIECE_BYTES_MAX);
        let bytes = self.bytes(from, PIECE_BYTES_MAX).await?;
        Ok(Piece::of_log(bytes, from, self.len, offset.is_none()))
    }

    /// At most `max` bytes from `from` on.
    pub async fn bytes(&self, from: u64, max: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut before = 0;
        for (path, len) in &self.files {
            let left = max.saturating_sub(bytes.len() as u64);
            let skipped = from.saturating_sub(before).min(*len);
            let wanted = (len - skipped).min(left);
            before += len;
            if wanted > 0 {
                let mut file = fs::File::open(path).await?;
                file.seek(io::SeekFrom::Start(skipped)).await?;
                file.take(wanted).read_to_end(&mut bytes).await?;
            }
        }
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn pieces_of_a_log_make_the_whole() {
        let folder = tempfile::tempdir().unwrap();
        assert!(AttemptLog::find(folder.path()).await.unwrap().is_none());
        let line = "ü".repeat(300) + "\n";
        let texts = [line.repeat(1_000), line.repeat(2_500), "the end\n".to_owned()];
        for (name, text) in ["agent.log", "agent.2.log", "agent.10.log"].iter().zip(&texts) {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let log = AttemptLog::find(folder.path()).await.unwrap().unwrap();
        let (mut read, mut offset) = (String::new(), Some(0));
        while let Some(at) = offset {
            let piece = log.piece(Some(at)).await.unwrap();
            assert!(piece.is_cut);
            read.push_str(&piece.text);
            offset = piece.next_offset;
        }
        assert!(read == texts.concat());
        let end = log.piece(None).await.unwrap();
        assert!(end.text.starts_with('ü') && end.text.ends_with("the end\n") && end.next_offset.is_none());
        assert_eq!(log.piece(Some(u64::MAX)).await.unwrap().text, "");
    }

    #[test]
    fn pieces_of_a_text_make_the_whole() {
        let text = "äöü".repeat(400_000);
        let first = Piece::of_text(&text, 0);
        let second = Piece::of_text(&text, first.next_offset.unwrap());
        let third = Piece::of_text(&text, second.next_offset.unwrap());
        assert!(third.next_offset.is_none());
        assert!(first.text + &second.text + &third.text == text);
        assert_eq!(Piece::of_text("", 7), Piece::default());
    }
}

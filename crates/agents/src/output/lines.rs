//! Splits a byte stream into lines in bounded memory.

/// Enough for a report with a full plan.
pub(crate) const LINE_BYTES_MAX: usize = 1024 * 1024;

/// One line, or a piece of an oversized one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputLine {
    /// Without the line end; invalid UTF-8 and NUL are replaced by U+FFFD.
    pub text: String,
    /// Not a whole line: more pieces precede or follow.
    pub is_piece: bool,
}

#[derive(Debug)]
pub struct LineSplitter {
    bytes_max: usize,
    rest: Vec<u8>,
    /// `rest` continues a line whose beginning was already emitted.
    is_in_piece: bool,
}

impl Default for LineSplitter {
    fn default() -> Self {
        Self::with_max_line(LINE_BYTES_MAX)
    }
}

impl LineSplitter {
    /// Longer lines are emitted in pieces of this size.
    pub fn with_max_line(bytes_max: usize) -> Self {
        Self { bytes_max: bytes_max.max(4), rest: Vec::new(), is_in_piece: false }
    }

    /// Adds bytes and emits every line they complete.
    pub fn push(&mut self, mut bytes: &[u8], mut take: impl FnMut(OutputLine)) {
        while let Some(end) = bytes.iter().position(|&byte| byte == b'\n') {
            self.add(&bytes[..end], &mut take);
            let is_piece = std::mem::take(&mut self.is_in_piece);
            let line = std::mem::take(&mut self.rest);
            take(OutputLine { text: decode(line.strip_suffix(b"\r").unwrap_or(&line)), is_piece });
            bytes = &bytes[end + 1..];
        }
        self.add(bytes, &mut take);
    }

    /// Emits what follows the last line end.
    pub fn finish(&mut self, mut take: impl FnMut(OutputLine)) {
        let is_piece = std::mem::take(&mut self.is_in_piece);
        let rest = std::mem::take(&mut self.rest);
        if !rest.is_empty() {
            take(OutputLine { text: decode(&rest), is_piece });
        }
    }

    fn add(&mut self, mut bytes: &[u8], take: &mut impl FnMut(OutputLine)) {
        while self.rest.len() + bytes.len() > self.bytes_max {
            let (now, later) = bytes.split_at(self.bytes_max - self.rest.len());
            self.rest.extend_from_slice(now);
            let kept_back = self.rest.split_off(character_end(&self.rest));
            take(OutputLine { text: decode(&self.rest), is_piece: true });
            self.rest = kept_back;
            self.is_in_piece = true;
            bytes = later;
        }
        self.rest.extend_from_slice(bytes);
    }
}

/// Where to cut without splitting a character: at most three bytes before the end.
fn character_end(bytes: &[u8]) -> usize {
    let is_lead = |byte: u8| byte >= 0xC0;
    let is_inside = |byte: u8| byte & 0xC0 == 0x80;
    let inside = bytes.iter().rev().take_while(|&&byte| is_inside(byte)).count();
    match bytes.len().checked_sub(inside + 1).map(|at| (at, bytes[at])) {
        Some((at, lead)) if inside < 3 && is_lead(lead) => at,
        _ => bytes.len(),
    }
}

fn decode(bytes: &[u8]) -> String {
    without_nul(String::from_utf8_lossy(bytes).into_owned())
}

/// NUL is valid UTF-8, but PostgreSQL text columns reject it.
pub fn without_nul(text: String) -> String {
    if text.contains('\0') { text.replace('\0', "\u{fffd}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn lines(chunks: &[&[u8]]) -> Vec<OutputLine> {
        let mut lines = LineSplitter::default();
        let mut found = Vec::new();
        for chunk in chunks {
            lines.push(chunk, |line| found.push(line));
        }
        lines.finish(|line| found.push(line));
        found
    }

    fn whole(text: &str) -> OutputLine {
        OutputLine { text: text.to_owned(), is_piece: false }
    }

    #[test]
    fn lines_are_cut_at_their_ends_and_the_last_needs_none() {
        assert_eq!(
            lines(&[b"one\r\nt", b"wo\n\nfour"]),
            [whole("one"), whole("two"), whole(""), whole("four")]
        );
    }

    #[test]
    fn bad_bytes_are_replaced() {
        assert_eq!(lines(&[b"a\xff\0b\n"]), [whole("a\u{fffd}\u{fffd}b")]);
    }

    #[test]
    fn a_line_without_end_comes_in_pieces_and_no_character_is_cut() {
        // One byte first, so that the limit falls inside a character.
        let text = format!("x{}", "ä".repeat(LINE_BYTES_MAX));
        let found = lines(&[text.as_bytes(), b"\nshort\n"]);
        assert_eq!(found.len(), 4);
        assert!(found[..3].iter().all(|line| line.is_piece && line.text.len() <= LINE_BYTES_MAX));
        assert_eq!(found[..3].iter().map(|line| line.text.as_str()).collect::<String>(), text);
        assert_eq!(found[3], whole("short"));
    }

    proptest! {
        #[test]
        fn chunks_do_not_matter_and_nothing_panics(chunks in vec(vec(any::<u8>(), 0..40), 0..20)) {
            let parts: Vec<&[u8]> = chunks.iter().map(Vec::as_slice).collect();
            let joined = chunks.concat();
            prop_assert_eq!(lines(&parts), lines(&[&joined]));
        }
    }
}

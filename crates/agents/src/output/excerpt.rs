//! Bounded text: keeps the beginning and the end, and counts what was dropped between.

/// Collects text and keeps head and tail.
#[derive(Debug, Clone)]
pub struct TextExcerpt {
    head: String,
    tail: String,
    head_max: usize,
    tail_max: usize,
    /// Bytes dropped between head and tail.
    left_out: u64,
}

impl TextExcerpt {
    /// Half of `bytes_max` each for head and tail; the line that marks the gap is extra.
    pub fn new(bytes_max: usize) -> Self {
        Self {
            head: String::new(),
            tail: String::new(),
            head_max: bytes_max / 2,
            tail_max: bytes_max - bytes_max / 2,
            left_out: 0,
        }
    }

    /// Keeps the tail only.
    pub fn tail(bytes_max: usize) -> Self {
        Self { head_max: 0, tail_max: bytes_max, ..Self::new(0) }
    }

    pub fn push(&mut self, text: &str) {
        let room = if self.tail.is_empty() { self.head_max - self.head.len() } else { 0 };
        let (head, rest) = text.split_at(text.floor_char_boundary(room));
        self.head.push_str(head);
        if !rest.is_empty() {
            // The head ends before a character that does not fit; the tail gets the unused bytes.
            self.tail_max += self.head_max - self.head.len();
            self.head_max = self.head.len();
            self.push_tail(rest);
        }
    }

    fn push_tail(&mut self, text: &str) {
        self.tail.push_str(text);
        // Cut in large steps to keep the cost per byte constant.
        if self.tail.len() > self.tail_max.saturating_mul(2) {
            self.cut_tail();
        }
    }

    fn cut_tail(&mut self) {
        let excess = self.tail.len().saturating_sub(self.tail_max);
        let cut = self.tail.ceil_char_boundary(excess);
        self.tail.drain(..cut);
        self.left_out += cut as u64;
    }

    pub fn is_empty(&self) -> bool {
        self.head.is_empty() && self.tail.is_empty()
    }

    /// The whole text if it fits, else head and tail around a line that says how much is missing.
    pub fn into_text(mut self) -> String {
        self.cut_tail();
        match (self.left_out, self.head.is_empty()) {
            (0, _) => self.head + &self.tail,
            (_, true) => self.tail,
            (left_out, false) => {
                let line_end = if self.head.ends_with('\n') { "" } else { "\n" };
                format!("{}{line_end}… {left_out} bytes left out …\n{}", self.head, self.tail)
            }
        }
    }
}

/// `text` cut to at most `bytes_max` bytes, plus the line that marks the gap.
pub fn excerpt(text: &str, bytes_max: usize) -> String {
    let mut excerpt = TextExcerpt::new(bytes_max);
    excerpt.push(text);
    excerpt.into_text()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    #[test]
    fn what_fits_is_whole_and_what_does_not_keeps_both_ends() {
        assert_eq!(excerpt("0123456789", 10), "0123456789");
        assert_eq!(excerpt("0123456789abc", 10), "01234\n… 3 bytes left out …\n89abc");
        assert_eq!(excerpt("äöüßé", 6), "ä\n… 4 bytes left out …\nßé");
        let mut end = TextExcerpt::tail(4);
        end.push("one\ntwo\n");
        assert_eq!(end.into_text(), "two\n");
    }

    proptest! {
        #[test]
        fn it_stays_in_bounds_and_loses_nothing_that_fits(pieces in vec(".{0,20}", 0..30), bytes_max in 0usize..200) {
            let whole = pieces.concat();
            let mut excerpt = TextExcerpt::new(bytes_max);
            for piece in &pieces {
                excerpt.push(piece);
                prop_assert!(excerpt.head.len() + excerpt.tail.len() <= bytes_max * 2);
            }
            let text = excerpt.into_text();
            prop_assert!(text.len() <= bytes_max + 64);
            if whole.len() <= bytes_max {
                prop_assert_eq!(text, whole);
            }
        }
    }
}

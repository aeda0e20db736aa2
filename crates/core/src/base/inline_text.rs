//! Formats and parses ids and timestamps without allocating: every row has a dozen of them.

use std::fmt::{self, Display};
use std::marker::PhantomData;
use std::str::FromStr;

use serde::Deserializer;
use serde::de::{Error, Visitor};

/// The longest value: a timestamp.
const BYTES_MAX: usize = 24;

/// A short text on the stack. Bytes that do not fit are dropped.
#[derive(Clone, Copy, Default)]
pub(crate) struct InlineText {
    bytes: [u8; BYTES_MAX],
    len: usize,
}

impl InlineText {
    pub(crate) fn text(self, text: &str) -> Self {
        text.bytes().fold(self, Self::byte)
    }

    /// Lower-case, zero-padded.
    pub(crate) fn hex(self, number: u64, digits: u32) -> Self {
        (0..digits).rev().fold(self, |so_far, place| so_far.digit(number >> (4 * place) & 0xf))
    }

    /// Zero-padded.
    pub(crate) fn decimal(self, number: u64, digits: u32) -> Self {
        (0..digits).rev().fold(self, |so_far, place| so_far.digit(number / 10_u64.pow(place) % 10))
    }

    pub(crate) fn as_str(&self) -> &str {
        self.bytes.get(..self.len).and_then(|bytes| str::from_utf8(bytes).ok()).unwrap_or_default()
    }

    fn digit(self, digit: u64) -> Self {
        const DIGITS: [u8; 16] = *b"0123456789abcdef";
        let digit = usize::try_from(digit).ok().and_then(|digit| DIGITS.get(digit));
        self.byte(digit.copied().unwrap_or(b'?'))
    }

    fn byte(mut self, byte: u8) -> Self {
        debug_assert!(self.len < BYTES_MAX, "{} and more is longer than any id or time", self.as_str());
        if let Some(place) = self.bytes.get_mut(self.len) {
            *place = byte;
            self.len += 1;
        }
        self
    }
}

/// Deserializes a value from its text form.
pub(crate) fn parse<'de, D, T>(deserializer: D, what: &'static str) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err: Display>,
{
    deserializer.deserialize_str(TextVisitor { what, made: PhantomData })
}

struct TextVisitor<T> {
    what: &'static str,
    made: PhantomData<T>,
}

impl<T: FromStr<Err: Display>> Visitor<'_> for TextVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.what)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }
}

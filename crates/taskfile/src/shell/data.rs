//! Text that comes from a caller's arguments and must stay data, whatever a template does with it.
//!
//! Each character that means something to a shell or a template is replaced by a private-use character while templates
//! are rendered. [`super::insert`] turns those into references to variables when the text becomes a command; for any
//! other use [`reveal`] restores them. Plain words contain no such characters and are not affected.

use std::borrow::Cow;

use super::quote::quote;

/// Where the data came from, which decides what it means outside of quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DataKind {
    /// Words quoted for a shell, as in `CLI_ARGS`: outside of quotes they are these words.
    Quoted,
    /// One word as it is.
    Word,
    /// Computed from arguments by a function or a command: whitespace separates words.
    Computed,
}

/// The first private-use character of each kind; the 128 from there stand for ASCII.
const BASES: [(DataKind, u32); 3] =
    [(DataKind::Quoted, 0x10_F000), (DataKind::Word, 0x10_F080), (DataKind::Computed, 0x10_F100)];
const FIRST: char = '\u{10F000}';
const LAST: char = '\u{10F17F}';

/// Marks the special characters of a text.
pub(crate) fn conceal(text: &str, kind: DataKind) -> String {
    text.chars().map(|c| if is_plain(c) { c } else { marked(c, kind) }).collect()
}

/// The value of `CLI_ARGS`: quoted words, separated by spaces.
pub(crate) fn conceal_words(words: &[String]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| quote(word)).collect();
    conceal(&quoted.join(" "), DataKind::Quoted)
}

/// Restores the text.
pub(crate) fn reveal(text: &str) -> Cow<'_, str> {
    if !has_data(text) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|c| read(c).map_or(c, |(_, c)| c)).collect())
}

pub(crate) fn has_data(text: &str) -> bool {
    // The first byte of each private-use character, which ordinary text hardly ever has.
    text.as_bytes().contains(&0xF4) && text.contains(|c| (FIRST..=LAST).contains(&c))
}

/// The kind and the character that a private-use character stands for.
pub(super) fn read(c: char) -> Option<(DataKind, char)> {
    if !(FIRST..=LAST).contains(&c) {
        return None;
    }
    let (kind, base) = BASES.into_iter().rev().find(|(_, base)| u32::from(c) >= *base)?;
    Some((kind, char::from_u32(u32::from(c) - base)?))
}

/// Characters that mean nothing to a shell anywhere.
pub(super) fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_-./:,+@%".contains(c) || (!c.is_ascii() && !(FIRST..=LAST).contains(&c))
}

fn marked(c: char, kind: DataKind) -> char {
    let base = BASES.into_iter().find(|(known, _)| *known == kind).map_or(0, |(_, base)| base);
    let code = if c.is_ascii() { char::from_u32(base + u32::from(c)) } else { None };
    code.unwrap_or(char::REPLACEMENT_CHARACTER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_survives_and_no_special_one_stays() {
        let all: String = (0..=0x7f_u8).map(char::from).collect::<String>() + "é 日本";
        for kind in [DataKind::Quoted, DataKind::Word, DataKind::Computed] {
            let hidden = conceal(&all, kind);
            assert_eq!(reveal(&hidden), all);
            assert!(!hidden.contains(|c: char| "$`'\"\\;&|<>(){}[]*?~#!=^ \t\n\0".contains(c)), "{hidden:?}");
        }
    }

    #[test]
    fn plain_words_are_not_changed() {
        assert_eq!(conceal("./...", DataKind::Word), "./...");
        assert!(!has_data("go test ./... -v"));
    }

    #[test]
    fn a_forged_mark_is_not_taken_for_data() {
        assert_eq!(conceal("\u{10F024}", DataKind::Word), "\u{FFFD}");
    }
}

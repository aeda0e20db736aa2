//! What others wrote, made safe for a terminal.

use std::borrow::Cow;

/// Shows control characters instead of sending them. Titles, questions and logs come from agents: an escape sequence
/// could repaint the screen or write the clipboard, and marks of writing direction could reorder a command to copy.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    if text.chars().any(is_dangerous) {
        text.chars().map(|c| if is_dangerous(c) { picture(c) } else { c }).collect::<String>().into()
    } else {
        text.into()
    }
}

fn is_dangerous(c: char) -> bool {
    let is_direction =
        matches!(c, '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    is_direction || (c.is_control() && !matches!(c, '\n' | '\t'))
}

/// `␛` for an escape and so on; a placeholder for those that have no picture.
fn picture(c: char) -> char {
    match u32::from(c) {
        code @ 0..0x20 => char::from_u32(0x2400 + code).unwrap_or(char::REPLACEMENT_CHARACTER),
        0x7f => '␡',
        _ => char::REPLACEMENT_CHARACTER,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_shown() {
        for (text, shown) in [
            ("plain, ä 漢字\n\tyes", "plain, ä 漢字\n\tyes"),
            ("\x1b[2J", "␛[2J"),
            ("a\rb", "a␍b"),
            ("\x1b]52;c;aGk=\x07", "␛]52;c;aGk=␇"),
            ("\u{9b}31m", "\u{fffd}31m"),
            ("\u{202e}txt.exe", "\u{fffd}txt.exe"),
            ("\x7f", "␡"),
        ] {
            assert_eq!(visible(text), shown);
        }
    }
}

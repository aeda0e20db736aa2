//! Text that programs print for terminals, as plain text.

/// Strips ANSI escape codes.
pub(crate) fn strip_ansi(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\u{1b}' {
            plain.push(c);
        } else if chars.next_if_eq(&'[').is_some() {
            while chars.next().is_some_and(|c| !('@'..='~').contains(&c)) {}
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_codes_are_stripped() {
        assert_eq!(strip_ansi("\u{1b}[1;31mred\u{1b}[0m plain \u{1b}"), "red plain ");
    }
}

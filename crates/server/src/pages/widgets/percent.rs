//! Percent-encoding of URL path segments.

use std::fmt::Write;

pub(crate) fn encode(text: &str) -> String {
    text.bytes().fold(String::new(), |mut encoded, byte| {
        if byte.is_ascii_alphanumeric() || b"-_.".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
        encoded
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_encoded() {
        assert_eq!(encode("docs:build"), "docs%3Abuild");
        assert_eq!(encode("../a?b#c d"), "..%2Fa%3Fb%23c%20d");
    }
}

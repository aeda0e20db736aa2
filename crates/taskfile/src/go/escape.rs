//! Escapes for characters that are not printable, in the notation Go writes and bash reads.

use std::fmt::Write as _;

/// Go's `IsPrint`: letters, marks, numbers, symbols and the plain space.
pub(crate) fn is_printable(c: char) -> bool {
    if c.is_ascii() {
        return c == ' ' || c.is_ascii_graphic();
    }
    let code = u32::from(c);
    let private = (0xE000..=0xF8FF).contains(&code) || code >= 0xF_0000;
    let invisible = matches!(code, 0xAD | 0x200B..=0x200F | 0x202A..=0x202E | 0x2060..=0x206F | 0xFEFF | 0xFFF0..=0xFFFB | 0xFFFE..=0xFFFF);
    !(c.is_control() || c.is_whitespace() || private || invisible)
}

/// Writes an unprintable character: `\n`, `\x1b`, `\u00ad`.
pub(crate) fn push_escaped(out: &mut String, c: char) {
    // Writing to a String cannot fail.
    match c {
        '\x07' => out.push_str("\\a"),
        '\x08' => out.push_str("\\b"),
        '\x0c' => out.push_str("\\f"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\x0b' => out.push_str("\\v"),
        c if u32::from(c) < 0x80 => _ = write!(out, "\\x{:02x}", u32::from(c)),
        c if u32::from(c) < 0x1_0000 => _ = write!(out, "\\u{:04x}", u32::from(c)),
        c => _ = write!(out, "\\U{:08x}", u32::from(c)),
    }
}

/// A quoted string as Go's encoding/json writes it, optionally with `<`, `>` and `&` escaped for HTML.
pub(crate) fn push_json(out: &mut String, text: &str, is_html: bool) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\x08' => out.push_str("\\b"),
            '\x0c' => out.push_str("\\f"),
            '<' | '>' | '&' if is_html => _ = write!(out, "\\u{:04x}", u32::from(c)),
            '\u{2028}' | '\u{2029}' => _ = write!(out, "\\u{:04x}", u32::from(c)),
            c if u32::from(c) < 0x20 => _ = write!(out, "\\u{:04x}", u32::from(c)),
            c => out.push(c),
        }
    }
    out.push('"');
}

/// Bytes as lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        _ = write!(out, "{byte:02x}");
    }
    out
}

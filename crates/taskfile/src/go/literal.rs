//! String, character and number literals of Go.

use super::escape::{self, is_printable};
use super::float;

/// Go's `%q`.
pub(crate) fn quote(text: &str) -> String {
    quote_with(text, '"', is_printable)
}

/// Go's `%+q`: non-ASCII characters are escaped.
pub(crate) fn quote_ascii(text: &str) -> String {
    quote_with(text, '"', |c| c.is_ascii() && is_printable(c))
}

/// A character as Go's `%q` shows a number.
pub(crate) fn quote_char(c: char) -> String {
    quote_with(c.encode_utf8(&mut [0; 4]), '\'', is_printable)
}

fn quote_with(text: &str, mark: char, shows: fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push(mark);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            c if c == mark => {
                out.push('\\');
                out.push(c);
            }
            c if shows(c) => out.push(c),
            c => escape::push_escaped(&mut out, c),
        }
    }
    out.push(mark);
    out
}

/// Go's `%#U`: `U+0041 'A'`.
pub(crate) fn code_point(c: char) -> String {
    if is_printable(c) { format!("U+{:04X} '{c}'", u32::from(c)) } else { format!("U+{:04X}", u32::from(c)) }
}

/// The text of a quoted string, raw string or character constant; `None` where Go says "invalid syntax".
pub(crate) fn unquote(quoted: &str) -> Option<String> {
    let mark = quoted.chars().next()?;
    let inner = quoted.strip_prefix(mark)?.strip_suffix(mark)?;
    if mark == '`' {
        return Some(inner.replace('\r', ""));
    }
    let mut bytes = Vec::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        if c == '\\' {
            unescape(&mut chars, mark, &mut bytes)?;
        } else {
            bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        }
    }
    Some(
        String::from_utf8(bytes)
            .unwrap_or_else(|broken| String::from_utf8_lossy(broken.as_bytes()).into_owned()),
    )
}

fn unescape(chars: &mut std::str::Chars<'_>, mark: char, bytes: &mut Vec<u8>) -> Option<()> {
    let byte = match chars.next()? {
        'a' => 0x07,
        'b' => 0x08,
        'f' => 0x0c,
        'n' => b'\n',
        'r' => b'\r',
        't' => b'\t',
        'v' => 0x0b,
        '\\' => b'\\',
        c @ ('"' | '\'') if c == mark => u8::try_from(c).ok()?,
        'x' => u8::try_from(digits(chars, 2, 16, 0)?).ok()?,
        c @ '0'..='7' => u8::try_from(digits(chars, 2, 8, c.to_digit(8)?)?).ok()?,
        c @ ('u' | 'U') => {
            let code = digits(chars, if c == 'u' { 4 } else { 8 }, 16, 0)?;
            bytes.extend_from_slice(char::from_u32(code)?.encode_utf8(&mut [0; 4]).as_bytes());
            return Some(());
        }
        _ => return None,
    };
    bytes.push(byte);
    Some(())
}

fn digits(chars: &mut std::str::Chars<'_>, count: usize, radix: u32, start: u32) -> Option<u32> {
    let mut number = start;
    for _ in 0..count {
        number = number.checked_mul(radix)?.checked_add(chars.next()?.to_digit(radix)?)?;
    }
    Some(number)
}

/// A number literal, with its value in each type that can hold it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Number {
    pub(crate) text: String,
    pub(crate) int: Option<i64>,
    pub(crate) float: Option<f64>,
}

impl Number {
    pub(crate) fn character(text: &str) -> Result<Number, String> {
        let inner = unquote(text).filter(|inner| !inner.is_empty()).ok_or("invalid syntax")?;
        let mut chars = inner.chars();
        match (chars.next(), chars.next()) {
            (Some(c), None) => {
                let code = u32::from(c);
                Ok(Number { text: text.to_owned(), int: Some(i64::from(code)), float: Some(f64::from(code)) })
            }
            _ => Err(format!("malformed character constant: {text}")),
        }
    }

    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        reason = "as Go converts constants"
    )]
    pub(crate) fn parse(text: &str) -> Result<Number, String> {
        let text = text.to_owned();
        if let Some(int) = parse_int(&text) {
            return Ok(Number { text, int: Some(int), float: Some(int as f64) });
        }
        if let Some(large) = parse_uint(&text) {
            return Ok(Number { text, int: None, float: Some(large as f64) });
        }
        let Some(float) = float::parse(&text) else {
            return Err(format!("illegal number syntax: {}", quote(&text)));
        };
        if !text.contains(['.', 'e', 'E', 'p', 'P']) {
            return Err(format!("integer overflow: {}", quote(&text)));
        }
        let int = (float.abs() < 9.2e18 && float.fract() == 0.0).then_some(float as i64);
        Ok(Number { text, int, float: Some(float) })
    }

    /// Whether it is a float where no type is expected.
    pub(crate) fn looks_like_float(&self) -> bool {
        let hex = self.text.starts_with("0x") || self.text.starts_with("0X");
        let hex_int = hex && !self.text.contains(['p', 'P']);
        !hex_int && !self.text.starts_with('\'') && self.text.contains(['.', 'e', 'E', 'p', 'P'])
    }
}

/// Go's `ParseInt(text, 0, 64)`: the prefix gives the base, and `_` may separate digits.
pub(crate) fn parse_int(text: &str) -> Option<i64> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let magnitude = i128::from(parse_uint(digits)?);
    i64::try_from(if negative { -magnitude } else { magnitude }).ok()
}

fn parse_uint(text: &str) -> Option<u64> {
    let lower = text.to_ascii_lowercase();
    let (radix, digits) = if let Some(hex) = lower.strip_prefix("0x") {
        (16, hex)
    } else if let Some(binary) = lower.strip_prefix("0b") {
        (2, binary)
    } else if let Some(octal) = lower.strip_prefix("0o") {
        (8, octal)
    } else if lower.len() > 1 && lower.starts_with('0') {
        (8, &lower[1..])
    } else {
        (10, lower.as_str())
    };
    let prefixed = digits.len() < lower.len();
    let misplaced = digits.ends_with('_') || digits.contains("__") || (!prefixed && digits.starts_with('_'));
    let plain = digits.replace('_', "");
    if misplaced || plain.is_empty() || !plain.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    u64::from_str_radix(&plain, radix).ok()
}

//! Floating-point numbers as Go writes them.

/// The first power of ten Go's `%v` and `%g` write with an exponent.
const EXPONENT_FROM: i32 = 6;

/// Go's `%v`.
pub(crate) fn display(number: f64) -> String {
    general(number, "e")
}

/// Go's `%g` with the shortest digits that round-trip.
pub(crate) fn general(number: f64, letter: &str) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "+Inf".to_owned() } else { "-Inf".to_owned() };
    }
    let scientific = format!("{number:e}");
    let (digits, power) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let power: i32 = power.parse().unwrap_or(0);
    if !(-4..EXPONENT_FROM).contains(&power) {
        return exponent(digits, power, letter);
    }
    format!("{number}")
}

/// Go always writes the sign of an exponent, and at least two digits.
pub(crate) fn exponent(digits: &str, power: i32, letter: &str) -> String {
    let sign = if power < 0 { '-' } else { '+' };
    format!("{digits}{letter}{sign}{:02}", power.abs())
}

/// Go's `ParseFloat`: decimal, hexadecimal with a binary exponent, infinities and NaN.
pub(crate) fn parse(text: &str) -> Option<f64> {
    let (sign, magnitude) = match text.as_bytes().first()? {
        b'-' => (-1.0, &text[1..]),
        b'+' => (1.0, &text[1..]),
        _ => (1.0, text),
    };
    let lower = magnitude.to_ascii_lowercase();
    if let Some(hex) = lower.strip_prefix("0x") {
        return parse_hex(hex).map(|number| sign * number);
    }
    match lower.as_str() {
        "inf" | "infinity" => return Some(sign * f64::INFINITY),
        "nan" => return Some(f64::NAN),
        _ => {}
    }
    if !lower.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    // Underscores may only stand between digits.
    if lower.ends_with('_') || lower.contains("__") {
        return None;
    }
    lower.replace('_', "").parse::<f64>().ok().filter(|number| number.is_finite()).map(|number| sign * number)
}

fn parse_hex(text: &str) -> Option<f64> {
    let (mantissa, power) = text.split_once('p')?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut number = 0.0_f64;
    for c in whole.chars().chain(fraction.chars()).filter(|c| *c != '_') {
        number = number * 16.0 + f64::from(c.to_digit(16)?);
    }
    let shift = i32::try_from(fraction.len()).ok()?.checked_mul(4)?;
    let power: i32 = power.parse().ok()?;
    let exact = number * 2.0_f64.powi(power.checked_sub(shift)?);
    exact.is_finite().then_some(exact)
}

/// Go's `%e` with a precision.
pub(crate) fn scientific(number: f64, precision: usize, letter: &str) -> String {
    let text = format!("{number:.precision$e}");
    let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
    exponent(digits, power.parse().unwrap_or(0), letter)
}

/// Go's `%g` with a precision: significant digits without trailing zeros.
pub(crate) fn general_rounded(number: f64, precision: usize, letter: &str) -> String {
    let precision = precision.max(1);
    let text = format!("{number:.*e}", precision - 1);
    let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
    let power: i32 = power.parse().unwrap_or(0);
    let trimmed = |text: &str| {
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text.to_owned()
        }
    };
    let whole = i64::try_from(precision).unwrap_or(i64::MAX);
    if !(-4..whole).contains(&i64::from(power)) {
        return exponent(&trimmed(digits), power, letter);
    }
    let behind = whole - 1 - i64::from(power);
    trimmed(&format!("{number:.*}", usize::try_from(behind).unwrap_or(0)))
}

//! Floating-point numbers as Go writes them.

/// Go's `%v`: the shortest digits that read back the same, an exponent below 1e-4 and from 1e21 on.
pub(crate) fn display(number: f64) -> String {
    general(number, 21, "e")
}

/// Go's `%g` with the shortest digits; `exponent_from` is the first power of ten written with an exponent.
pub(crate) fn general(number: f64, exponent_from: i32, letter: &str) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "+Inf".to_owned() } else { "-Inf".to_owned() };
    }
    let scientific = format!("{number:e}");
    let (digits, power) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let power: i32 = power.parse().unwrap_or(0);
    if power < -4 || power >= exponent_from {
        return exponent(digits, power, letter);
    }
    format!("{number}")
}

/// Go writes the sign of an exponent always, and two digits at least.
pub(crate) fn exponent(digits: &str, power: i32, letter: &str) -> String {
    let sign = if power < 0 { '-' } else { '+' };
    format!("{digits}{letter}{sign}{:02}", power.abs())
}

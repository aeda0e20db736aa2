//! Go's durations: `1h30m0s`.

use std::time::Duration;

use crate::go::literal;

/// Go's `Duration.String`.
pub(crate) fn format_duration(nanos: i64) -> String {
    if nanos == 0 {
        return "0s".to_owned();
    }
    let sign = if nanos < 0 { "-" } else { "" };
    let span = nanos.unsigned_abs();
    let decimal = |unit: u64| {
        let (whole, fraction) = (span / unit, span % unit);
        let width = unit.ilog10() as usize;
        let behind = if width == 0 { String::new() } else { format!("{fraction:0width$}") };
        let behind = behind.trim_end_matches('0');
        if behind.is_empty() { whole.to_string() } else { format!("{whole}.{behind}") }
    };
    if span < 1_000 {
        return format!("{sign}{span}ns");
    }
    if span < 1_000_000 {
        return format!("{sign}{}µs", decimal(1_000));
    }
    if span < 1_000_000_000 {
        return format!("{sign}{}ms", decimal(1_000_000));
    }
    let minutes = span / 60_000_000_000;
    let seconds = decimal(1_000_000_000);
    let (_, behind) = seconds.split_once('.').unwrap_or(("", ""));
    let point = if behind.is_empty() { "" } else { "." };
    let seconds = format!("{}{point}{behind}s", span / 1_000_000_000 % 60);
    match (minutes / 60, minutes % 60) {
        (0, 0) => format!("{sign}{seconds}"),
        (0, minutes) => format!("{sign}{minutes}m{seconds}"),
        (hours, minutes) => format!("{sign}{hours}h{minutes}m{seconds}"),
    }
}

/// Go's `time.ParseDuration`, in nanoseconds.
pub(crate) fn parse_duration(whole: &str) -> Result<i64, String> {
    let invalid = || format!("time: invalid duration {}", literal::quote(whole));
    let (negative, mut rest) = match whole.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, whole.strip_prefix('+').unwrap_or(whole)),
    };
    if rest == "0" {
        return Ok(0);
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    let mut total = 0_i128;
    while !rest.is_empty() {
        let number_end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(rest.len());
        let (number, behind) = rest.split_at(number_end);
        let (whole_part, fraction) = number.split_once('.').unwrap_or((number, ""));
        if (whole_part.is_empty() && fraction.is_empty()) || fraction.contains('.') || number.len() > 30 {
            return Err(invalid());
        }
        let unit_end = behind.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(behind.len());
        let (unit, after) = behind.split_at(unit_end);
        let nanos: i128 = match unit {
            "ns" => 1,
            "us" | "µs" | "μs" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            "" => return Err(format!("time: missing unit in duration {}", literal::quote(whole))),
            unit => {
                return Err(format!(
                    "time: unknown unit {} in duration {}",
                    literal::quote(unit),
                    literal::quote(whole)
                ));
            }
        };
        total += whole_part.parse::<i128>().unwrap_or(0).saturating_mul(nanos);
        let mut scale = nanos;
        for digit in fraction.chars() {
            scale /= 10;
            total += i128::from(digit.to_digit(10).unwrap_or(0)) * scale;
        }
        rest = after;
    }
    i64::try_from(if negative { -total } else { total }).map_err(|_| invalid())
}

/// A timeout as Go prints it.
pub(crate) fn format_timeout(timeout: Duration) -> String {
    format_duration(i64::try_from(timeout.as_nanos()).unwrap_or(i64::MAX))
}

/// A timeout in Go's notation; negative ones are invalid.
pub(crate) fn parse_timeout(text: &str) -> Option<Duration> {
    parse_duration(text).ok().and_then(|nanos| u64::try_from(nanos).ok()).map(Duration::from_nanos)
}

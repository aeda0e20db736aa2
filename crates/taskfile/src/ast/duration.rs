//! Durations as Go writes them: `1h30m`, `1.5s`, `300ms`.

use std::time::Duration;

/// Reads Go's notation. A number without a unit is no duration, except zero.
pub(super) fn parse(text: &str) -> Option<Duration> {
    let mut rest = text.strip_prefix('+').unwrap_or(text);
    if rest == "0" {
        return Some(Duration::ZERO);
    }
    if rest.is_empty() {
        return None;
    }
    let mut seconds = 0.0_f64;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let end = rest.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(rest.len());
        seconds += number
            * match &rest[..end] {
                "ns" => 1e-9,
                "us" | "µs" | "μs" => 1e-6,
                "ms" => 1e-3,
                "s" => 1.0,
                "m" => 60.0,
                "h" => 3600.0,
                _ => return None,
            };
        rest = &rest[end..];
    }
    Duration::try_from_secs_f64(seconds).ok()
}

/// A duration in Go's notation: the largest fitting units, no zero units in front.
pub fn go_duration(duration: Duration) -> String {
    let nanos = duration.as_nanos();
    if nanos == 0 {
        return "0s".to_owned();
    }
    let fraction = |divisor: u128, unit: &str| {
        let (whole, part) = (nanos / divisor, nanos % divisor);
        let width = divisor.ilog10() as usize;
        let part = format!("{part:0width$}");
        let part = part.trim_end_matches('0');
        if part.is_empty() { format!("{whole}{unit}") } else { format!("{whole}.{part}{unit}") }
    };
    match nanos {
        0..1_000 => format!("{nanos}ns"),
        1_000..1_000_000 => fraction(1_000, "µs"),
        1_000_000..1_000_000_000 => fraction(1_000_000, "ms"),
        _ => {
            let secs = duration.as_secs();
            let (hours, minutes) = (secs / 3600, secs % 3600 / 60);
            let below = Duration::new(secs % 60, duration.subsec_nanos());
            let seconds = below.as_secs_f64();
            match (hours, minutes) {
                (0, 0) => format!("{seconds}s"),
                (0, _) => format!("{minutes}m{seconds}s"),
                _ => format!("{hours}h{minutes}m{seconds}s"),
            }
        }
    }
}

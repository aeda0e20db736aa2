//! Extracts the time at which a limit ends from the message that announces it.
//!
//! Understands durations, Unix timestamps, RFC 3339 and times of day in UTC. A time of day in another zone is ignored:
//! retrying in a few minutes beats waiting until the wrong hour.

use baton_core::base::time::Timestamp;

/// Longer durations are mistakes.
const MS_MAX: i64 = 32 * DAY_MS;
const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// Words that precede a duration.
const SPAN_BEHIND: [&str; 8] = [
    "try again in",
    "retry in",
    "retry after",
    "retry-after",
    "retry_after",
    "retrydelay",
    "resets in",
    "available in",
];
/// Words that precede a point in time.
const MOMENT_BEHIND: [&str; 6] =
    ["limit reached|", "resets_at", "reset_at", "resets at", "try again at", "resets"];

pub(super) fn find(text: &str, now: Timestamp) -> Option<Timestamp> {
    let text = text.to_lowercase();
    let behind = |mark: &&str| text.find(*mark).map(|at| &text[at + mark.len()..]);
    let span = SPAN_BEHIND.iter().filter_map(behind).find_map(span_ms).map(|ms| now.plus_ms(ms));
    let moment = || MOMENT_BEHIND.iter().filter_map(behind).find_map(|rest| moment(rest, now));
    let until = span.or_else(moment)?;
    (until > now && until.ms_since(now) <= MS_MAX).then_some(until)
}

/// "12.5s", "5 minutes", "1h 30m", "30": a number without a unit is seconds.
fn span_ms(rest: &str) -> Option<i64> {
    let mut rest = rest.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
    let mut total: Option<f64> = None;
    loop {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').len();
        let Ok(number) = rest[..digits].trim_end_matches('.').parse::<f64>() else { break };
        let behind = rest[digits..].trim_start();
        let letters = behind.len() - behind.trim_start_matches(|c: char| c.is_ascii_alphabetic()).len();
        let unit = unit_ms(&behind[..letters]);
        if unit.is_none() && total.is_some() {
            break;
        }
        total = Some(total.unwrap_or(0.0) + number * unit.unwrap_or(1000.0));
        let Some(_) = unit else { break };
        rest = behind[letters..].trim_start_matches([' ', ',']).trim_start_matches("and ");
    }
    // Rounded up: slightly too late beats slightly too early.
    #[expect(clippy::cast_possible_truncation, reason = "saturates, and what is beyond bounds is refused")]
    total.map(|ms| ms.ceil() as i64)
}

fn unit_ms(unit: &str) -> Option<f64> {
    Some(match unit {
        "ms" | "millisecond" | "milliseconds" => 1.0,
        "s" | "sec" | "secs" | "second" | "seconds" => 1000.0,
        "m" | "min" | "mins" | "minute" | "minutes" => 60_000.0,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3_600_000.0,
        "d" | "day" | "days" => 86_400_000.0,
        _ => return None,
    })
}

fn moment(rest: &str, now: Timestamp) -> Option<Timestamp> {
    let rest = rest.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
    let word: &str = rest.split([' ', '"', ',', ')', '}', '\n']).next().unwrap_or_default();
    let word = word.trim_end_matches('.');
    if let Ok(number) = word.parse::<i64>() {
        // Unix seconds or milliseconds; smaller numbers are hours of the day.
        return match number {
            1_000_000_000..10_000_000_000 => Some(Timestamp::from_ms(number * 1000)),
            1_000_000_000_000..10_000_000_000_000 => Some(Timestamp::from_ms(number)),
            _ => None,
        };
    }
    word.to_uppercase().parse().ok().or_else(|| time_of_day(rest, now))
}

/// "3pm (utc)", "15:30 utc": the next occurrence.
fn time_of_day(rest: &str, now: Timestamp) -> Option<Timestamp> {
    let clock_end = rest.find("utc")?;
    let clock = rest[..clock_end].trim_end_matches([' ', '(']);
    let (clock, later) = match clock.strip_suffix("pm") {
        Some(clock) => (clock, 12),
        None => (clock.strip_suffix("am").unwrap_or(clock), 0),
    };
    let (hour, minute) = clock.trim().split_once(':').unwrap_or((clock.trim(), "0"));
    let hour: i64 = hour.parse().ok()?;
    let minute: i64 = minute.parse().ok()?;
    let is_twelve_hours = rest[..clock_end].contains("am") || later == 12;
    let hour = if is_twelve_hours { hour % 12 + later } else { hour };
    if !(0..24).contains(&hour) || !(0..60).contains(&minute) {
        return None;
    }
    let midnight = now.ms() - now.ms() % DAY_MS;
    let today = midnight + (hour * 60 + minute) * 60_000;
    Some(Timestamp::from_ms(if today > now.ms() { today } else { today + DAY_MS }))
}

//! `--at` and `--in`: when a task starts.

use baton_core::base::time::Timestamp;
use jiff::civil::{DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{Span, Zoned};

use crate::error::CliError;

const HINT: &str = "such as --at 2026-11-18T06:00, --at 06:00 or --in 2h30m";

/// The moment that a person means, if they gave one.
pub(super) fn parse(
    at: Option<&str>,
    within: Option<&str>,
    time_zone: Option<&str>,
) -> Result<Option<Timestamp>, CliError> {
    let zone = match time_zone {
        None => TimeZone::system(),
        Some(name) => TimeZone::get(name).map_err(|_| {
            CliError::usage(
                format!("\"{name}\" is not a time zone this machine knows"),
                "use a name such as Europe/Berlin or UTC",
            )
        })?,
    };
    let now = Zoned::now().with_time_zone(zone);
    let meant = match (at, within) {
        (Some(text), _) => at_time(text, &now),
        (None, Some(text)) => text.parse::<Span>().ok().and_then(|span| now.checked_add(span).ok()),
        (None, None) => return Ok(None),
    };
    let text = at.or(within).unwrap_or_default();
    let meant = meant.ok_or_else(|| CliError::usage(format!("\"{text}\" is not a time"), HINT))?;
    if meant <= now {
        return Err(CliError::usage(format!("\"{text}\" is in the past"), HINT));
    }
    Ok(Some(Timestamp::from_ms(meant.timestamp().as_millisecond())))
}

/// A moment with its offset or zone, or a local time; a time of day is the next one.
fn at_time(text: &str, now: &Zoned) -> Option<Zoned> {
    let zone = now.time_zone();
    if let Ok(moment) = text.parse::<jiff::Timestamp>() {
        return Some(moment.to_zoned(zone.clone()));
    }
    if let Ok(moment) = text.parse::<Zoned>() {
        return Some(moment);
    }
    // A date alone is no time of day, and a time of day no date.
    if let (Ok(time), false) = (text.parse::<Time>(), text.contains('-')) {
        let today = now.date().to_datetime(time).to_zoned(zone.clone()).ok()?;
        if today > *now {
            return Some(today);
        }
        return now.date().tomorrow().ok()?.to_datetime(time).to_zoned(zone.clone()).ok();
    }
    text.parse::<DateTime>().ok()?.to_zoned(zone.clone()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meant(text: &str) -> Option<String> {
        let now: Zoned = "2026-11-17T22:00[UTC]".parse().unwrap();
        at_time(text, &now).map(|moment| moment.timestamp().to_string())
    }

    #[test]
    fn a_time_is_a_moment_a_local_time_or_the_next_time_of_day() {
        for (text, moment) in [
            ("2026-11-18T06:00:00Z", "2026-11-18T06:00:00Z"),
            ("2026-11-18T06:00:00+01:00", "2026-11-18T05:00:00Z"),
            ("2026-11-18T06:00", "2026-11-18T06:00:00Z"),
            ("2026-11-18 06:00", "2026-11-18T06:00:00Z"),
            ("23:15", "2026-11-17T23:15:00Z"),
            ("06:00", "2026-11-18T06:00:00Z"),
        ] {
            assert_eq!(meant(text).as_deref(), Some(moment), "{text}");
        }
        for text in ["", "tomorrow", "25:00", "2026-13-01T06:00"] {
            assert_eq!(meant(text), None, "{text}");
        }
    }

    #[test]
    fn a_time_in_the_past_or_in_no_zone_is_refused() {
        assert!(parse(Some("2020-01-01T00:00:00Z"), None, None).is_err());
        assert!(parse(Some("06:00"), None, Some("Middle/Earth")).is_err());
        assert!(parse(None, Some("soon"), None).is_err());
        assert!(parse(None, Some("2h30m"), Some("UTC")).unwrap().is_some());
        assert_eq!(parse(None, None, None).unwrap(), None);
    }
}

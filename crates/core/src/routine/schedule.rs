//! When a routine is due: five fields as in crontab, read as local time of a time zone.
//!
//! A local time that does not exist, because clocks are put forward, is due as much later; one that occurs twice is due the
//! first time only. So what runs once a day runs once on each day. What runs in every hour also runs in the hour that occurs
//! twice, both times.

use std::fmt;
use std::str::FromStr;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use crate::base::time::Timestamp;

/// How far back local times are looked at that a change of the clocks made later. No zone has put its clocks forward by more
/// within a lifetime.
const SHIFT_MAX_MS: i64 = 3 * 60 * 60 * 1_000;
/// The year 9000: beyond it the calendar has no room to search.
const LAST_MS: i64 = 221_845_392_000_000;
/// Local times that are passed over in one search: an hour that occurs twice, minute by minute.
const STEPS_MAX: u32 = 2_000;
const FIELDS: usize = 5;

/// A valid expression.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Schedule(String);

/// A text that is not a schedule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidSchedule {
    #[error("\"{text}\" is not a cron expression: {detail}")]
    Cron { text: String, detail: String },
    #[error("\"{text}\" never happens")]
    Never { text: String },
    #[error(
        "\"{0}\" is not a time to repeat; such as \"06:00\", \"Mon 06:00\", \"Mon,Thu 18:30\", \"weekday 07:00\", \"hour\", \"15 minutes\" or \
         \"6 hours\""
    )]
    Every(String),
}

impl Schedule {
    /// `--cron`: minute, hour, day of the month, month, day of the week.
    pub fn cron(text: &str) -> Result<Self, InvalidSchedule> {
        let fields: Vec<&str> = text.split_whitespace().collect();
        let invalid = |detail: &dyn fmt::Display| InvalidSchedule::Cron {
            text: text.to_owned(),
            detail: detail.to_string(),
        };
        if fields.len() != FIELDS {
            return Err(invalid(&format!("it has {} fields instead of {FIELDS}", fields.len())));
        }
        let schedule = Self(fields.join(" "));
        let crontab = schedule.crontab().map_err(|error| invalid(&error))?;
        let from = cronexpr::MakeTimestamp(jiff::Timestamp::UNIX_EPOCH);
        if crontab.find_next(from).is_err() {
            return Err(InvalidSchedule::Never { text: text.to_owned() });
        }
        Ok(schedule)
    }

    /// `--every`: in words.
    pub fn every(text: &str) -> Result<Self, InvalidSchedule> {
        let invalid = || InvalidSchedule::Every(text.to_owned());
        let lower = text.trim().to_lowercase();
        let words: Vec<&str> = lower.split_whitespace().collect();
        let expression = match words[..] {
            ["hour"] => "0 * * * *".to_owned(),
            [time] if time.contains(':') => on_days("*", time).ok_or_else(invalid)?,
            ["day", time] => on_days("*", time).ok_or_else(invalid)?,
            ["weekday" | "weekdays", time] => on_days("1-5", time).ok_or_else(invalid)?,
            [days, time] if time.contains(':') => {
                on_days(&days_of_week(days).ok_or_else(invalid)?, time).ok_or_else(invalid)?
            }
            [number, "minute" | "minutes"] => {
                format!("{} * * * *", step(number, 60).ok_or_else(invalid)?)
            }
            [number, "hour" | "hours"] => format!("0 {} * * *", step(number, 24).ok_or_else(invalid)?),
            _ => return Err(invalid()),
        };
        Self::cron(&expression)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first moment after `now` at which it is due; none if there is none in sight.
    pub fn next_after(&self, now: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
        if now.ms() > LAST_MS {
            return None;
        }
        let crontab = self.crontab().ok()?;
        let moment = jiff::Timestamp::from_millisecond(now.ms()).ok()?;
        let local = zone.to_datetime(moment);
        let mut best: Option<Timestamp> = None;
        let mut civil = search_start(moment, zone, self.is_hourly())?;
        for _ in 0..STEPS_MAX {
            civil = next_civil(&crontab, civil)?;
            for at in self.moments(civil, zone)? {
                let at = Timestamp::from_ms(at.as_millisecond());
                if at > now && best.is_none_or(|best| at < best) {
                    best = Some(at);
                }
            }
            // Local times after this one are due later than whatever was found.
            if civil > local && best.is_some() {
                break;
            }
        }
        best
    }

    /// When it is due at this local time.
    fn moments(&self, civil: DateTime, zone: &TimeZone) -> Option<Vec<jiff::Timestamp>> {
        let found = zone.to_ambiguous_timestamp(civil);
        let first = found.compatible().ok()?;
        let again = found.later().ok().filter(|later| self.is_hourly() && *later > first);
        Some(std::iter::once(first).chain(again).collect())
    }

    /// Whether it runs in every hour.
    fn is_hourly(&self) -> bool {
        matches!(self.0.split(' ').nth(1), Some("*" | "*/1"))
    }

    /// Read as UTC: the fields are a local time's, and which moment that is is decided here.
    fn crontab(&self) -> Result<cronexpr::Crontab, cronexpr::Error> {
        let mut options = cronexpr::ParseOptions::default();
        options.fallback_timezone_option = cronexpr::FallbackTimezoneOption::UTC;
        cronexpr::parse_crontab_with(&self.0, options)
    }
}

/// The local time to begin at: that of the moment, or one before a change of the clocks nearby. Local times from before it are
/// due later where the clocks go forward, and again where they go back.
fn search_start(moment: jiff::Timestamp, zone: &TimeZone, is_hourly: bool) -> Option<DateTime> {
    let shifted =
        |by: i64| jiff::Timestamp::from_millisecond(moment.as_millisecond().saturating_add(by)).ok();
    let (before, after) = (shifted(-SHIFT_MAX_MS)?, shifted(SHIFT_MAX_MS)?);
    let changes = |at: jiff::Timestamp| zone.to_offset(at) != zone.to_offset(moment);
    let is_near = changes(before) || (is_hourly && changes(after));
    Some(zone.to_datetime(if is_near { before } else { moment }))
}

fn next_civil(crontab: &cronexpr::Crontab, civil: DateTime) -> Option<DateTime> {
    let as_utc = TimeZone::UTC.to_timestamp(civil).ok()?;
    crontab.find_next(cronexpr::MakeTimestamp(as_utc)).ok().map(|found| found.datetime())
}

fn on_days(days: &str, time: &str) -> Option<String> {
    let (hour, minute) = time.split_once(':')?;
    let is_number =
        |text: &str| (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(hour) || !is_number(minute) || minute.len() != 2 {
        return None;
    }
    let (hour, minute): (u8, u8) = (hour.parse().ok()?, minute.parse().ok()?);
    Some(format!("{minute} {hour} * * {days}"))
}

fn days_of_week(text: &str) -> Option<String> {
    const NAMES: [&str; 7] = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
    let number = |day: &str| {
        let found = NAMES.iter().position(|name| day.len() >= 3 && name.starts_with(day))?;
        Some(found.to_string())
    };
    Some(text.split(',').map(number).collect::<Option<Vec<_>>>()?.join(","))
}

/// Only steps that divide the whole: others would be due at odd distances.
fn step(number: &str, whole: u32) -> Option<String> {
    let number: u32 = number.parse().ok()?;
    (number > 0 && number < whole && whole.is_multiple_of(number)).then(|| format!("*/{number}"))
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Schedule {
    type Err = InvalidSchedule;

    fn from_str(text: &str) -> Result<Self, InvalidSchedule> {
        Self::cron(text)
    }
}

impl TryFrom<String> for Schedule {
    type Error = InvalidSchedule;

    fn try_from(text: String) -> Result<Self, InvalidSchedule> {
        Self::cron(&text)
    }
}

impl From<Schedule> for String {
    fn from(schedule: Schedule) -> String {
        schedule.0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Central Europe: forward on the last Sunday of March at 02:00, back on the last of October at 03:00.
    fn berlin() -> TimeZone {
        TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap()
    }

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    /// The next few moments after `from`.
    fn moments(schedule: &Schedule, from: &str, count: usize) -> Vec<String> {
        let mut now = at(from);
        let mut found = Vec::new();
        for _ in 0..count {
            now = schedule.next_after(now, &berlin()).unwrap();
            found.push(now.to_string().replace(":00.000Z", ""));
        }
        found
    }

    #[test]
    fn words_become_cron_fields() {
        for (words, fields) in [
            ("06:00", "0 6 * * *"),
            ("day 6:05", "5 6 * * *"),
            ("Mon 06:00", "0 6 * * 1"),
            ("monday,Thu 18:30", "30 18 * * 1,4"),
            ("weekday 07:00", "0 7 * * 1-5"),
            ("hour", "0 * * * *"),
            ("15 minutes", "*/15 * * * *"),
            ("6 hours", "0 */6 * * *"),
        ] {
            assert_eq!(Schedule::every(words).unwrap().as_str(), fields, "{words}");
        }
        for words in
            ["", "mo 06:00", "Mon", "24:00", "06:60", "6:5", "7 minutes", "0 hours", "Mon 06:00 CET", "-1:00"]
        {
            assert!(Schedule::every(words).is_err(), "{words}");
        }
    }

    #[test]
    fn expressions_that_are_wrong_or_never_happen_are_refused() {
        for text in ["", "* * * *", "* * * * * UTC", "61 * * * *", "0 0 30 2 *", "a b c d e"] {
            assert!(Schedule::cron(text).is_err(), "{text}");
        }
        assert_eq!(Schedule::cron("  0  6 * *  MON ").unwrap().as_str(), "0 6 * * MON");
    }

    #[test]
    fn a_time_that_does_not_exist_is_due_later_and_one_that_occurs_twice_once() {
        let daily = Schedule::every("02:30").unwrap();
        assert_eq!(
            moments(&daily, "2026-03-27T12:00:00Z", 3),
            ["2026-03-28T01:30", "2026-03-29T01:30", "2026-03-30T00:30"]
        );
        assert_eq!(
            moments(&daily, "2026-10-24T00:30:00Z", 3),
            ["2026-10-25T00:30", "2026-10-26T01:30", "2026-10-27T01:30"]
        );
        // Looked at between the change of the clocks and the moment itself.
        assert_eq!(moments(&daily, "2026-03-29T01:10:00Z", 1), ["2026-03-29T01:30"]);
        let quarters = Schedule::every("15 minutes").unwrap();
        assert_eq!(
            moments(&quarters, "2026-03-29T00:40:00Z", 3),
            ["2026-03-29T00:45", "2026-03-29T01:00", "2026-03-29T01:15"]
        );
    }

    #[test]
    fn what_runs_in_every_hour_runs_in_both_of_the_hour_that_occurs_twice() {
        // From 02:00 to 03:00 local time, from 00:00 and again from 01:00 UTC.
        let hours = Schedule::every("hour").unwrap();
        assert_eq!(
            moments(&hours, "2026-10-24T22:30:00Z", 5),
            [
                "2026-10-24T23:00",
                "2026-10-25T00:00",
                "2026-10-25T01:00",
                "2026-10-25T02:00",
                "2026-10-25T03:00"
            ]
        );
        let halves = Schedule::every("30 minutes").unwrap();
        assert_eq!(
            moments(&halves, "2026-10-25T00:10:00Z", 4),
            ["2026-10-25T00:30", "2026-10-25T01:00", "2026-10-25T01:30", "2026-10-25T02:00"]
        );
        // Every two hours is a matter of the day again.
        let rarely = Schedule::every("2 hours").unwrap();
        assert_eq!(moments(&rarely, "2026-10-24T23:30:00Z", 2), ["2026-10-25T00:00", "2026-10-25T03:00"]);
    }

    proptest! {
        /// From wherever it is asked, the answer is the first moment after it: no moment is passed over and none comes twice.
        #[test]
        fn the_next_moment_does_not_depend_on_when_it_is_asked_for(
            words in prop::sample::select(vec!["02:30", "Sun 02:00", "hour", "15 minutes", "Mon 06:00", "6 hours"]),
            start in 1_770_000_000_000_i64..1_810_000_000_000,
            share in 0.0_f64..1.0,
        ) {
            let (schedule, zone) = (Schedule::every(words).unwrap(), berlin());
            let now = Timestamp::from_ms(start);
            let next = schedule.next_after(now, &zone).unwrap();
            prop_assert!(next > now);
            #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "a share of it")]
            let between = now.plus_ms(((next.ms() - now.ms() - 1) as f64 * share) as i64);
            prop_assert_eq!(schedule.next_after(between, &zone), Some(next));
        }
    }
}

//! Time as a value. Core never reads a clock: every rule that depends on time takes `now`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::base::inline_text::{self, InlineText};

/// A moment, in milliseconds since 1970 UTC; RFC 3339 in text and JSON.
///
/// Milliseconds, because both stores keep them exactly and no rule needs finer ones.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

/// A text that is not a timestamp.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is not a time; one looks like 2026-11-15T09:30:00Z")]
pub struct InvalidTimestamp(String);

impl Timestamp {
    /// 9999-12-30T22:00:00Z, the last moment RFC 3339 writes with four digits in every time zone.
    const MS_MAX: i64 = 253_402_207_200_000;

    /// Moments outside the years RFC 3339 can write are clamped.
    pub const fn from_ms(ms: i64) -> Self {
        if ms > Self::MS_MAX {
            Self(Self::MS_MAX)
        } else if ms < 0 {
            Self(0)
        } else {
            Self(ms)
        }
    }

    pub const fn ms(self) -> i64 {
        self.0
    }

    pub const fn plus_ms(self, ms: i64) -> Self {
        Self::from_ms(self.0.saturating_add(ms))
    }

    /// The time since `earlier`; zero if the clock went backwards.
    pub const fn ms_since(self, earlier: Self) -> i64 {
        let span = self.0.saturating_sub(earlier.0);
        if span < 0 { 0 } else { span }
    }

    /// Formatted by hand rather than through a time-zone library, because every row has several timestamps.
    fn to_inline(self) -> InlineText {
        let ms = self.0.cast_unsigned();
        let (days, of_day) = (ms / DAY_MS, ms % DAY_MS);
        let Date { year, month, day } = Date::from_days(days);
        InlineText::default()
            .decimal(year, 4)
            .text("-")
            .decimal(month, 2)
            .text("-")
            .decimal(day, 2)
            .text("T")
            .decimal(of_day / HOUR_MS, 2)
            .text(":")
            .decimal(of_day / MINUTE_MS % 60, 2)
            .text(":")
            .decimal(of_day / 1_000 % 60, 2)
            .text(".")
            .decimal(of_day % 1_000, 3)
            .text("Z")
    }
}

const MINUTE_MS: u64 = 60_000;
const HOUR_MS: u64 = 60 * MINUTE_MS;
const DAY_MS: u64 = 24 * HOUR_MS;

/// A calendar day, from 1970 on.
struct Date {
    year: u64,
    month: u64,
    day: u64,
}

impl Date {
    /// Counts years that start in March, so that the leap day comes last; 400 of them have 146,097 days.
    fn from_days(days_since_1970: u64) -> Self {
        // Days since 1 March of year 0.
        let days = days_since_1970 + 719_468;
        let (era, of_era) = (days / 146_097, days % 146_097);
        let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        // Each run of five months from March has 153 days.
        let from_march = (5 * of_year + 2) / 153;
        let day = of_year - (153 * from_march + 2) / 5 + 1;
        let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
        let year = era * 400 + year_of_era + u64::from(month <= 2);
        Self { year, month, day }
    }

    /// The inverse. `None` for a day that does not exist or is before 1970.
    fn days_since_1970(&self) -> Option<u64> {
        let &Self { year, month, day } = self;
        let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let day_max = match month {
            1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
            4 | 6 | 9 | 11 => 30,
            2 if is_leap => 29,
            2 => 28,
            _ => return None,
        };
        if year < 1970 || day == 0 || day > day_max {
            return None;
        }
        let (year, from_march) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
        let of_year = (153 * from_march + 2) / 5 + day - 1;
        Some(365 * year + year / 4 - year / 100 + year / 400 + of_year - 719_468)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.to_inline().as_str())
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.to_inline().as_str())
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        inline_text::parse(deserializer, "a time")
    }
}

impl FromStr for Timestamp {
    type Err = InvalidTimestamp;

    fn from_str(text: &str) -> Result<Self, InvalidTimestamp> {
        if let Some(ms) = read_own(text.as_bytes()) {
            return Ok(Self::from_ms(ms));
        }
        let moment: jiff::Timestamp = text.parse().map_err(|_| InvalidTimestamp(text.to_owned()))?;
        Ok(Self::from_ms(moment.as_millisecond()))
    }
}

/// Parses only the form this module writes; everything else goes through the calendar library.
fn read_own(text: &[u8]) -> Option<i64> {
    let &[
        y0,
        y1,
        y2,
        y3,
        b'-',
        o0,
        o1,
        b'-',
        d0,
        d1,
        b'T',
        h0,
        h1,
        b':',
        m0,
        m1,
        b':',
        s0,
        s1,
        b'.',
        f0,
        f1,
        f2,
        b'Z',
    ] = text
    else {
        return None;
    };
    let date = Date { year: number(&[y0, y1, y2, y3])?, month: number(&[o0, o1])?, day: number(&[d0, d1])? };
    let (hour, minute) = (number(&[h0, h1])?, number(&[m0, m1])?);
    let (second, milli) = (number(&[s0, s1])?, number(&[f0, f1, f2])?);
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let of_day = hour * HOUR_MS + minute * MINUTE_MS + second * 1_000 + milli;
    i64::try_from(date.days_since_1970()? * DAY_MS + of_day).ok()
}

fn number(digits: &[u8]) -> Option<u64> {
    digits
        .iter()
        .try_fold(0, |so_far, digit| digit.is_ascii_digit().then(|| so_far * 10 + u64::from(digit - b'0')))
}

impl TryFrom<String> for Timestamp {
    type Error = InvalidTimestamp;

    fn try_from(text: String) -> Result<Self, InvalidTimestamp> {
        text.parse()
    }
}

impl From<Timestamp> for String {
    fn from(moment: Timestamp) -> String {
        moment.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_moment_reads_as_rfc_3339_utc() {
        assert_eq!(Timestamp::from_ms(0).to_string(), "1970-01-01T00:00:00.000Z");
        assert_eq!(Timestamp::from_ms(1_794_735_000_250).to_string(), "2026-11-15T09:30:00.250Z");
        assert_eq!("2026-11-15T10:30:00.250+01:00".parse(), Ok(Timestamp::from_ms(1_794_735_000_250)));
        assert!("yesterday".parse::<Timestamp>().is_err());
    }

    #[test]
    fn every_day_agrees_with_the_calendar_library() {
        let day_ms = i64::try_from(DAY_MS).unwrap();
        for ms in (0..=Timestamp::MS_MAX).step_by(usize::try_from(day_ms).unwrap()) {
            let moment = jiff::Timestamp::from_millisecond(ms).unwrap();
            assert_eq!(Timestamp::from_ms(ms).to_string(), format!("{moment:.3}"));
            assert_eq!(format!("{moment:.3}").parse(), Ok(Timestamp::from_ms(ms)));
        }
    }

    #[test]
    fn a_nonexistent_day_is_invalid() {
        for day in ["2026-02-29", "2100-02-29", "2026-04-31", "2026-13-01", "2026-00-10", "2026-01-00"] {
            assert!(format!("{day}T09:30:00.000Z").parse::<Timestamp>().is_err(), "{day}");
        }
        for hour in ["24:00:00", "09:60:00", "09:30:61", "0a:30:00"] {
            assert!(format!("2026-11-15T{hour}.000Z").parse::<Timestamp>().is_err(), "{hour}");
        }
        assert!("2028-02-29T23:59:59.999Z".parse::<Timestamp>().is_ok());
    }

    proptest! {
        #[test]
        fn any_timestamp_agrees_with_the_calendar_library(ms in 0..=Timestamp::MS_MAX) {
            let moment = jiff::Timestamp::from_millisecond(ms).unwrap();
            prop_assert_eq!(Timestamp::from_ms(ms).to_string(), format!("{moment:.3}"));
        }

        #[test]
        fn any_timestamp_round_trips(ms: i64) {
            let moment = Timestamp::from_ms(ms);
            prop_assert_eq!(moment.to_string().parse(), Ok(moment));
        }
    }
}

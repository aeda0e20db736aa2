//! Quiet hours: times of the day in which an account is left to its person.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::base::time::Timestamp;

const MINUTE_MS: i64 = 60_000;
const DAY_MINUTES: i64 = 24 * 60;

/// From one time of the day to another, in UTC; `22:00-06:00` goes over midnight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct QuietHours {
    from_minute: i64,
    to_minute: i64,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{text}\" is not a part of the day; write it like 22:00-06:00, in UTC")]
pub struct InvalidQuietHours {
    text: String,
}

impl QuietHours {
    /// When they end, if `now` is within them.
    pub fn until(&self, now: Timestamp) -> Option<Timestamp> {
        let minute = now.ms().div_euclid(MINUTE_MS).rem_euclid(DAY_MINUTES);
        let since = (minute - self.from_minute).rem_euclid(DAY_MINUTES);
        let length = (self.to_minute - self.from_minute).rem_euclid(DAY_MINUTES);
        let began = now.ms().div_euclid(MINUTE_MS) - since;
        (since < length).then(|| Timestamp::from_ms((began + length) * MINUTE_MS))
    }
}

impl FromStr for QuietHours {
    type Err = InvalidQuietHours;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = || InvalidQuietHours { text: text.to_owned() };
        let (from, to) = text.split_once('-').ok_or_else(invalid)?;
        let hours = Self {
            from_minute: minute_of(from).ok_or_else(invalid)?,
            to_minute: minute_of(to).ok_or_else(invalid)?,
        };
        // The same time twice could mean never or always.
        (hours.from_minute != hours.to_minute).then_some(hours).ok_or_else(invalid)
    }
}

impl TryFrom<String> for QuietHours {
    type Error = InvalidQuietHours;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<QuietHours> for String {
    fn from(hours: QuietHours) -> Self {
        hours.to_string()
    }
}

impl fmt::Display for QuietHours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (from, to) = (self.from_minute, self.to_minute);
        write!(f, "{:02}:{:02}-{:02}:{:02}", from / 60, from % 60, to / 60, to % 60)
    }
}

/// "22:00"; 24:00 is the end of the day.
fn minute_of(text: &str) -> Option<i64> {
    let (hour, minute) = text.trim().split_once(':')?;
    let is_number = |digits: &str| digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_digit());
    let (hour, minute): (i64, i64) = (is_number(hour) && is_number(minute))
        .then(|| Some((hour.parse().ok()?, minute.parse().ok()?)))??;
    let of_day = hour * 60 + minute;
    (minute < 60 && of_day <= DAY_MINUTES).then_some(of_day % DAY_MINUTES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(text: &str) -> Timestamp {
        format!("2026-11-17T{text}:00Z").parse().unwrap()
    }

    #[test]
    fn they_last_until_their_end_also_over_midnight() {
        let day: QuietHours = "09:00-17:30".parse().unwrap();
        assert_eq!(day.until(at("09:00")), Some(at("17:30")));
        assert_eq!(day.until(at("17:29")), Some(at("17:30")));
        assert_eq!((day.until(at("08:59")), day.until(at("17:30"))), (None, None));
        let night: QuietHours = "22:00-06:00".parse().unwrap();
        assert_eq!(night.until(at("05:59")), Some(at("06:00")));
        assert_eq!(night.until(at("23:00")), Some("2026-11-18T06:00:00Z".parse().unwrap()));
        assert_eq!(night.until(at("06:00")), None);
        assert_eq!(night.to_string(), "22:00-06:00");
    }

    #[test]
    fn what_is_not_a_part_of_the_day_is_refused() {
        for text in
            ["", "22:00", "22-06", "25:00-06:00", "22:60-06:00", "10:00-10:00", "aa:bb-cc:dd", "1:00-2:00"]
        {
            assert!(text.parse::<QuietHours>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn the_end_is_after_now_and_within_a_day(from in 0_i64..1440, length in 1_i64..1440, now in 0_i64..4_000_000_000_000) {
            let hours = QuietHours { from_minute: from, to_minute: (from + length) % DAY_MINUTES };
            if let Some(end) = hours.until(Timestamp::from_ms(now)) {
                prop_assert!(end.ms() > now && end.ms() - now <= DAY_MINUTES * MINUTE_MS);
                prop_assert_eq!(hours.until(end), None);
            }
        }
    }
}

//! Time as a value. Core never asks what time it is: every rule that needs to know takes `now`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize, Serializer};

/// A moment, in milliseconds since 1970 UTC; RFC 3339 in text and JSON.
///
/// Milliseconds, because both stores keep them exactly and no rule needs finer ones.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "String")]
pub struct Timestamp(i64);

/// A text that is not a moment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is not a time; one looks like 2026-11-15T09:30:00Z")]
pub struct BadTimestamp(String);

impl Timestamp {
    /// 9999-12-30T22:00:00Z, the last moment RFC 3339 has four digits for in every time zone.
    const MS_MAX: i64 = 253_402_207_200_000;

    /// Moments outside the years RFC 3339 can write are moved to the nearest one inside.
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

    /// How long from `earlier` to here; zero when the clock went backwards.
    pub const fn ms_since(self, earlier: Self) -> i64 {
        let span = self.0.saturating_sub(earlier.0);
        if span < 0 { 0 } else { span }
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Cannot fail: the constructor keeps the value inside jiff's range.
        let moment = jiff::Timestamp::from_millisecond(self.0).map_err(|_| fmt::Error)?;
        write!(f, "{moment:.3}")
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl FromStr for Timestamp {
    type Err = BadTimestamp;

    fn from_str(text: &str) -> Result<Self, BadTimestamp> {
        let moment: jiff::Timestamp = text.parse().map_err(|_| BadTimestamp(text.to_owned()))?;
        Ok(Self::from_ms(moment.as_millisecond()))
    }
}

impl TryFrom<String> for Timestamp {
    type Error = BadTimestamp;

    fn try_from(text: String) -> Result<Self, BadTimestamp> {
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

    proptest! {
        #[test]
        fn any_moment_survives_the_trip_through_text(ms: i64) {
            let moment = Timestamp::from_ms(ms);
            prop_assert_eq!(moment.to_string().parse(), Ok(moment));
        }
    }
}

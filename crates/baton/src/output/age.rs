//! Times as people read them.

use std::time::{SystemTime, UNIX_EPOCH};

use baton_core::base::time::Timestamp;

use crate::output::is_terminal;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// How long ago it was.
pub(crate) fn age(then: Timestamp, now: Timestamp) -> String {
    let seconds = now.ms_since(then) / 1000;
    match seconds {
        ..MINUTE => format!("{seconds} s"),
        MINUTE..HOUR => format!("{} min", seconds / MINUTE),
        HOUR..DAY => format!("{} h", seconds / HOUR),
        DAY.. => format!("{} d", seconds / DAY),
    }
}

/// A past time: how long ago at a terminal, and exactly for programs.
pub(crate) fn time(then: Timestamp) -> String {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now = Timestamp::from_ms(i64::try_from(since_1970.as_millis()).unwrap_or_default());
    if is_terminal() { format!("{} ago", age(then, now)) } else { then.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_have_one_unit() {
        let at = |seconds: i64| Timestamp::from_ms(seconds * 1000);
        let ages = [0, 59, 60, 3599, 3600, 86_399, 86_400, 900_000].map(|then| age(at(0), at(then)));
        assert_eq!(ages, ["0 s", "59 s", "1 min", "59 min", "1 h", "23 h", "1 d", "10 d"]);
    }
}

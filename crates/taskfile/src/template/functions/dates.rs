//! sprig's functions for dates and durations.

use std::rc::Rc;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, Zoned};

use super::super::val::{Result, Val};
use super::ParamType::{Any, Str, Time};
use super::{Function, FunctionContext, arg, fixed, text};
use crate::go::time;

pub(super) const FUNCTIONS: &[Function] = &[
    fixed("now", &[], |call, _| Ok(Val::Time(Rc::new(call.host.now())))),
    fixed("date", &[Str, Any], |call, args| {
        Ok(Val::text(format_in_zone(call, text(args, 0), arg(args, 1), "Local")))
    }),
    fixed("dateInZone", &[Str, Any, Str], date_in_zone),
    fixed("date_in_zone", &[Str, Any, Str], date_in_zone),
    fixed("htmlDate", &[Any], |call, args| {
        Ok(Val::text(format_in_zone(call, HTML_DATE, arg(args, 0), "Local")))
    }),
    fixed("htmlDateInZone", &[Any, Str], |call, args| {
        Ok(Val::text(format_in_zone(call, HTML_DATE, arg(args, 0), text(args, 1))))
    }),
    fixed("dateModify", &[Str, Time], modify),
    fixed("date_modify", &[Str, Time], modify),
    fixed("mustDateModify", &[Str, Time], must_modify),
    fixed("must_date_modify", &[Str, Time], must_modify),
    fixed("toDate", &[Str, Str], |call, args| {
        let zone = call.host.now().time_zone().clone();
        let parsed = time::parse(text(args, 0), text(args, 1), &zone);
        Ok(Val::Time(Rc::new(parsed.unwrap_or_else(|_| time::zero()))))
    }),
    fixed("mustToDate", &[Str, Str], |call, args| {
        let zone = call.host.now().time_zone().clone();
        time::parse(text(args, 0), text(args, 1), &zone).map(|time| Val::Time(Rc::new(time)))
    }),
    fixed("unixEpoch", &[Time], |_, args| match arg(args, 0) {
        Val::Time(time) => Ok(Val::text(time.timestamp().as_second().to_string())),
        _ => Ok(Val::text("0")),
    }),
    fixed("ago", &[Any], |call, args| {
        let now = call.host.now();
        let past = now.duration_since(&to_time(call, arg(args, 0)));
        let seconds = i64::try_from((past.as_nanos() + 500_000_000).div_euclid(1_000_000_000)).unwrap_or(0);
        Ok(Val::text(time::format_duration(seconds.saturating_mul(1_000_000_000))))
    }),
    fixed("duration", &[Any], |_, args| {
        let seconds = match arg(args, 0) {
            Val::Str(text) => text.parse().unwrap_or(0),
            Val::Int64(n) => *n,
            _ => 0,
        };
        Ok(Val::text(time::format_duration(seconds.saturating_mul(1_000_000_000))))
    }),
    fixed("durationRound", &[Any], duration_round),
];

const HTML_DATE: &str = "2006-01-02";

fn date_in_zone(call: &mut FunctionContext<'_>, args: &[Val]) -> Result<Val> {
    Ok(Val::text(format_in_zone(call, text(args, 0), arg(args, 1), text(args, 2))))
}

/// The time a value means: a time, or seconds since the epoch; anything else is now.
fn to_time(call: &FunctionContext<'_>, value: &Val) -> Zoned {
    match value {
        Val::Time(time) => (**time).clone(),
        Val::Int(seconds) | Val::Int64(seconds) => match Timestamp::from_second(*seconds) {
            Ok(time) => time.to_zoned(call.host.now().time_zone().clone()),
            Err(_) => call.host.now(),
        },
        _ => call.host.now(),
    }
}

fn format_in_zone(call: &FunctionContext<'_>, layout: &str, value: &Val, zone: &str) -> String {
    let time = to_time(call, value);
    let zone = match zone {
        "Local" => call.host.now().time_zone().clone(),
        "" | "UTC" => TimeZone::UTC,
        name => TimeZone::get(name).unwrap_or(TimeZone::UTC),
    };
    time::format(layout, &time.with_time_zone(zone))
}

fn shift_time(time: &Val, nanos: i64) -> Val {
    match time {
        Val::Time(time) => match time.checked_add(SignedDuration::from_nanos(nanos)) {
            Ok(moved) => Val::Time(Rc::new(moved)),
            Err(_) => Val::Time(time.clone()),
        },
        other => other.clone(),
    }
}

fn modify(_: &mut FunctionContext<'_>, args: &[Val]) -> Result<Val> {
    Ok(time::parse_duration(text(args, 0))
        .map_or_else(|_| arg(args, 1).clone(), |nanos| shift_time(arg(args, 1), nanos)))
}

fn must_modify(_: &mut FunctionContext<'_>, args: &[Val]) -> Result<Val> {
    time::parse_duration(text(args, 0)).map(|nanos| shift_time(arg(args, 1), nanos))
}

fn duration_round(call: &mut FunctionContext<'_>, args: &[Val]) -> Result<Val> {
    const SECOND: u64 = 1_000_000_000;
    const UNITS: [(u64, &str); 6] = [
        (365 * 24 * 3600 * SECOND, "y"),
        (30 * 24 * 3600 * SECOND, "mo"),
        (24 * 3600 * SECOND, "d"),
        (3600 * SECOND, "h"),
        (60 * SECOND, "m"),
        (SECOND, "s"),
    ];
    let nanos = match arg(args, 0) {
        Val::Str(text) => time::parse_duration(text).unwrap_or(0),
        Val::Int64(n) => *n,
        Val::Time(time) => i64::try_from(call.host.now().duration_since(time).as_nanos()).unwrap_or(i64::MAX),
        _ => 0,
    };
    let span = nanos.unsigned_abs();
    let rounded = UNITS.iter().find(|(unit, _)| span > *unit);
    Ok(Val::text(rounded.map_or("0s".to_owned(), |(unit, name)| format!("{}{name}", span / unit))))
}

//! Methods of Go's times and durations: `{{now.Year}}`, `{{now.Format "2006"}}`.

use std::rc::Rc;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, Zoned};

use super::super::val::{Result, Val};
use super::ParamType::{Int, Str, Time};
use super::{Function, FunctionContext, arg, fixed, int, text};
use crate::go::time;

/// The method of a value's type; its receiver is the first argument.
pub(crate) fn find(value: &Val, name: &str) -> Option<&'static Function> {
    let methods = match value {
        Val::Time(_) => TIME,
        Val::Duration(_) => DURATION,
        Val::Named(..) => NAMED,
        _ => return None,
    };
    methods.iter().find(|method| method.name == name)
}

const TIME: &[Function] = &[
    fixed("Year", &[], |_, args| number(args, |time| i64::from(time.year()))),
    fixed("Month", &[], |_, args| {
        Ok(time(args).map_or(Val::Nil, |time| {
            Val::Named("time.Month", i64::from(time.month()), time::month_name(time))
        }))
    }),
    fixed("Day", &[], |_, args| number(args, |time| i64::from(time.day()))),
    fixed("Hour", &[], |_, args| number(args, |time| i64::from(time.hour()))),
    fixed("Minute", &[], |_, args| number(args, |time| i64::from(time.minute()))),
    fixed("Second", &[], |_, args| number(args, |time| i64::from(time.second()))),
    fixed("Nanosecond", &[], |_, args| number(args, |time| i64::from(time.subsec_nanosecond()))),
    fixed("YearDay", &[], |_, args| number(args, |time| i64::from(time.day_of_year()))),
    fixed("Weekday", &[], |_, args| {
        Ok(time(args).map_or(Val::Nil, |time| {
            let day = i64::from(time.weekday().to_sunday_zero_offset());
            Val::Named("time.Weekday", day, time::weekday_name(time))
        }))
    }),
    fixed("Unix", &[], |_, args| number64(args, |time| time.timestamp().as_second())),
    fixed("UnixMilli", &[], |_, args| number64(args, |time| time.timestamp().as_millisecond())),
    fixed("UnixMicro", &[], |_, args| number64(args, |time| time.timestamp().as_microsecond())),
    fixed("UnixNano", &[], |_, args| {
        number64(args, |time| i64::try_from(time.timestamp().as_nanosecond()).unwrap_or(0))
    }),
    fixed("Format", &[Str], |_, args| {
        Ok(time(args).map_or(Val::Nil, |time| Val::text(time::format(text(args, 1), time))))
    }),
    fixed("String", &[], |_, args| Ok(time(args).map_or(Val::Nil, |time| Val::text(time::display(time))))),
    fixed("UTC", &[], |_, args| shift_time(args, |time| time.with_time_zone(TimeZone::UTC))),
    fixed("Local", &[], |call, args| {
        let zone = call.host.now().time_zone().clone();
        shift_time(args, |time| time.with_time_zone(zone))
    }),
    fixed("IsZero", &[], |_, args| Ok(Val::Bool(time(args) == Some(&time::zero())))),
    fixed("AddDate", &[Int, Int, Int], add_date),
    fixed("Before", &[Time], |_, args| Ok(Val::Bool(time(args) < time(&args[1..])))),
    fixed("After", &[Time], |_, args| Ok(Val::Bool(time(args) > time(&args[1..])))),
    fixed("Equal", &[Time], |_, args| Ok(Val::Bool(time(args) == time(&args[1..])))),
    fixed("Sub", &[Time], |_, args| match (time(args), time(&args[1..])) {
        (Some(later), Some(earlier)) => {
            let nanos = later.duration_since(earlier).as_nanos();
            Ok(Val::Duration(i64::try_from(nanos).unwrap_or(i64::MAX)))
        }
        _ => Ok(Val::Nil),
    }),
];

const DURATION: &[Function] = &[
    fixed("Hours", &[], |_, args| parts(args, 3600.0 * 1e9)),
    fixed("Minutes", &[], |_, args| parts(args, 60.0 * 1e9)),
    fixed("Seconds", &[], |_, args| parts(args, 1e9)),
    fixed("Milliseconds", &[], |_, args| Ok(Val::Int64(nanos(args) / 1_000_000))),
    fixed("Nanoseconds", &[], |_, args| Ok(Val::Int64(nanos(args)))),
    fixed("String", &[], |_, args| Ok(Val::text(time::format_duration(nanos(args))))),
];

const NAMED: &[Function] = &[fixed("String", &[], |_, args| match arg(args, 0) {
    Val::Named(_, _, name) => Ok(Val::text(*name)),
    _ => Ok(Val::Nil),
})];

fn time(args: &[Val]) -> Option<&Zoned> {
    match args.first() {
        Some(Val::Time(time)) => Some(time),
        _ => None,
    }
}

fn number(args: &[Val], read: fn(&Zoned) -> i64) -> Result<Val> {
    Ok(time(args).map_or(Val::Nil, |time| Val::Int(read(time))))
}

fn number64(args: &[Val], read: fn(&Zoned) -> i64) -> Result<Val> {
    Ok(time(args).map_or(Val::Nil, |time| Val::Int64(read(time))))
}

fn shift_time(args: &[Val], change: impl FnOnce(&Zoned) -> Zoned) -> Result<Val> {
    Ok(time(args).map_or(Val::Nil, |time| Val::Time(Rc::new(change(time)))))
}

/// Like Go, normalizes an invalid day into the next month: January 31 plus one month is in March.
fn add_date(_: &mut FunctionContext<'_>, args: &[Val]) -> Result<Val> {
    let Some(time) = time(args) else { return Ok(Val::Nil) };
    let out_of_range = || "the date is out of range".to_owned();
    let months = i64::from(time.year())
        .checked_add(int(args, 1))
        .and_then(|years| years.checked_mul(12))
        .and_then(|months| months.checked_add(i64::from(time.month()) - 1)?.checked_add(int(args, 2)));
    let months = months.ok_or_else(out_of_range)?;
    let year = i16::try_from(months.div_euclid(12)).map_err(|_| out_of_range())?;
    let month = i8::try_from(months.rem_euclid(12) + 1).map_err(|_| out_of_range())?;
    let days = int(args, 3).checked_add(i64::from(time.day()) - 1).ok_or_else(out_of_range)?;
    let date = Date::new(year, month, 1)
        .and_then(|first| first.checked_add(Span::new().try_days(days)?))
        .and_then(|date| date.to_datetime(time.time()).to_zoned(time.time_zone().clone()));
    date.map(|time| Val::Time(Rc::new(time))).map_err(|_| out_of_range())
}

fn nanos(args: &[Val]) -> i64 {
    match args.first() {
        Some(Val::Duration(nanos)) => *nanos,
        _ => 0,
    }
}

#[expect(clippy::cast_precision_loss, reason = "as Go's Duration.Seconds")]
fn parts(args: &[Val], unit: f64) -> Result<Val> {
    Ok(Val::Float(nanos(args) as f64 / unit))
}

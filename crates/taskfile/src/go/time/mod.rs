//! Times in Go's layouts, which are written as a sample date.

mod duration;
mod parse;

pub(crate) use duration::{format_duration, format_timeout, parse_duration, parse_timeout};
pub(crate) use parse::parse;

use jiff::tz::TimeZone;
use jiff::{Zoned, civil};

#[rustfmt::skip]
const MONTHS: [&str; 12] = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
    "November", "December",
];
const WEEKDAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

pub(crate) fn month_name(time: &Zoned) -> &'static str {
    usize::try_from(time.month() - 1).ok().and_then(|i| MONTHS.get(i)).copied().unwrap_or("")
}

pub(crate) fn weekday_name(time: &Zoned) -> &'static str {
    let day = time.weekday().to_sunday_zero_offset();
    usize::try_from(day).ok().and_then(|i| WEEKDAYS.get(i)).copied().unwrap_or("")
}

/// Go's zero time, which an unparsable date becomes.
pub(crate) fn zero() -> Zoned {
    civil::date(1, 1, 1).to_zoned(TimeZone::UTC).unwrap_or_default()
}

/// Go's `time.Time.String`.
pub(crate) fn display(time: &Zoned) -> String {
    format("2006-01-02 15:04:05.999999999 -0700 MST", time)
}

pub(crate) fn rfc3339(time: &Zoned) -> String {
    format("2006-01-02T15:04:05.999999999Z07:00", time)
}

/// An element of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LayoutPart {
    LongMonth,
    ShortMonth,
    Month,
    ZeroMonth,
    LongWeekday,
    ShortWeekday,
    Day,
    SpaceDay,
    ZeroDay,
    SpaceYearDay,
    ZeroYearDay,
    Hour24,
    Hour12,
    ZeroHour12,
    Minute,
    ZeroMinute,
    Second,
    ZeroSecond,
    LongYear,
    Year,
    UpperHalf,
    LowerHalf,
    Zone,
    Offset(OffsetStyle),
    /// Fractional seconds after a point or comma, with or without trailing zeros.
    Fraction {
        digits: usize,
        trimmed: bool,
        comma: bool,
    },
}

/// How an offset from UTC is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct OffsetStyle {
    /// Write `Z` for UTC.
    z: bool,
    separator: &'static str,
    /// How many of hours, minutes and seconds.
    parts: usize,
}

/// Longer samples come before their prefixes.
const SAMPLES: [(&str, LayoutPart); 33] = [
    ("January", LayoutPart::LongMonth),
    ("Jan", LayoutPart::ShortMonth),
    ("Monday", LayoutPart::LongWeekday),
    ("Mon", LayoutPart::ShortWeekday),
    ("MST", LayoutPart::Zone),
    ("2006", LayoutPart::LongYear),
    ("__2", LayoutPart::SpaceYearDay),
    ("_2", LayoutPart::SpaceDay),
    ("002", LayoutPart::ZeroYearDay),
    ("01", LayoutPart::ZeroMonth),
    ("02", LayoutPart::ZeroDay),
    ("03", LayoutPart::ZeroHour12),
    ("04", LayoutPart::ZeroMinute),
    ("05", LayoutPart::ZeroSecond),
    ("06", LayoutPart::Year),
    ("15", LayoutPart::Hour24),
    ("PM", LayoutPart::UpperHalf),
    ("pm", LayoutPart::LowerHalf),
    ("-07:00:00", LayoutPart::Offset(OffsetStyle { z: false, separator: ":", parts: 3 })),
    ("-070000", LayoutPart::Offset(OffsetStyle { z: false, separator: "", parts: 3 })),
    ("-07:00", LayoutPart::Offset(OffsetStyle { z: false, separator: ":", parts: 2 })),
    ("-0700", LayoutPart::Offset(OffsetStyle { z: false, separator: "", parts: 2 })),
    ("-07", LayoutPart::Offset(OffsetStyle { z: false, separator: "", parts: 1 })),
    ("Z07:00:00", LayoutPart::Offset(OffsetStyle { z: true, separator: ":", parts: 3 })),
    ("Z070000", LayoutPart::Offset(OffsetStyle { z: true, separator: "", parts: 3 })),
    ("Z07:00", LayoutPart::Offset(OffsetStyle { z: true, separator: ":", parts: 2 })),
    ("Z0700", LayoutPart::Offset(OffsetStyle { z: true, separator: "", parts: 2 })),
    ("Z07", LayoutPart::Offset(OffsetStyle { z: true, separator: "", parts: 1 })),
    ("1", LayoutPart::Month),
    ("2", LayoutPart::Day),
    ("3", LayoutPart::Hour12),
    ("4", LayoutPart::Minute),
    ("5", LayoutPart::Second),
];

/// The first element of a layout: its position, length and kind.
fn next_part(layout: &str) -> Option<(usize, usize, LayoutPart)> {
    for (at, _) in layout.char_indices() {
        let rest = &layout[at..];
        if let Some((length, part)) = fraction(rest) {
            return Some((at, length, part));
        }
        if rest.starts_with("_2006") {
            return Some((at + 1, 4, LayoutPart::LongYear));
        }
        for (sample, part) in &SAMPLES {
            let Some(after) = rest.strip_prefix(sample) else { continue };
            let in_a_word = after.starts_with(|c: char| c.is_ascii_lowercase());
            if matches!(part, LayoutPart::ShortMonth | LayoutPart::ShortWeekday) && in_a_word {
                continue;
            }
            return Some((at, sample.len(), *part));
        }
    }
    None
}

fn fraction(rest: &str) -> Option<(usize, LayoutPart)> {
    let comma = rest.starts_with(',');
    let digits = rest.strip_prefix(['.', ','])?;
    let digit = digits.chars().next().filter(|c| *c == '0' || *c == '9')?;
    let count = digits.len() - digits.trim_start_matches(digit).len();
    let ends = !digits[count..].starts_with(|c: char| c.is_ascii_digit());
    ends.then_some((count + 1, LayoutPart::Fraction { digits: count, trimmed: digit == '9', comma }))
}

/// Go's `Time.Format`.
pub(crate) fn format(layout: &str, time: &Zoned) -> String {
    let mut out = String::new();
    let mut rest = layout;
    while let Some((at, length, part)) = next_part(rest) {
        out.push_str(&rest[..at]);
        out.push_str(&format_part(part, time));
        rest = &rest[at + length..];
    }
    out.push_str(rest);
    out
}

fn format_part(part: LayoutPart, time: &Zoned) -> String {
    let hour12 = match time.hour() % 12 {
        0 => 12,
        hour => hour,
    };
    match part {
        LayoutPart::LongMonth => month_name(time).to_owned(),
        LayoutPart::ShortMonth => month_name(time).get(..3).unwrap_or("").to_owned(),
        LayoutPart::Month => time.month().to_string(),
        LayoutPart::ZeroMonth => format!("{:02}", time.month()),
        LayoutPart::LongWeekday => weekday_name(time).to_owned(),
        LayoutPart::ShortWeekday => weekday_name(time).get(..3).unwrap_or("").to_owned(),
        LayoutPart::Day => time.day().to_string(),
        LayoutPart::SpaceDay => format!("{:2}", time.day()),
        LayoutPart::ZeroDay => format!("{:02}", time.day()),
        LayoutPart::SpaceYearDay => format!("{:3}", time.day_of_year()),
        LayoutPart::ZeroYearDay => format!("{:03}", time.day_of_year()),
        LayoutPart::Hour24 => format!("{:02}", time.hour()),
        LayoutPart::Hour12 => hour12.to_string(),
        LayoutPart::ZeroHour12 => format!("{hour12:02}"),
        LayoutPart::Minute => time.minute().to_string(),
        LayoutPart::ZeroMinute => format!("{:02}", time.minute()),
        LayoutPart::Second => time.second().to_string(),
        LayoutPart::ZeroSecond => format!("{:02}", time.second()),
        LayoutPart::LongYear => format!("{:04}", time.year()),
        LayoutPart::Year => format!("{:02}", time.year().rem_euclid(100)),
        LayoutPart::UpperHalf => if time.hour() < 12 { "AM" } else { "PM" }.to_owned(),
        LayoutPart::LowerHalf => if time.hour() < 12 { "am" } else { "pm" }.to_owned(),
        LayoutPart::Zone => zone_name(time),
        LayoutPart::Offset(style) => offset(time.offset().seconds(), style),
        LayoutPart::Fraction { digits, trimmed, comma } => {
            second_fraction(time.subsec_nanosecond(), digits, trimmed, comma)
        }
    }
}

fn second_fraction(nanos: i32, digits: usize, trimmed: bool, comma: bool) -> String {
    let all = format!("{nanos:09}");
    let mut shown = all.get(..digits.min(9)).unwrap_or("");
    if trimmed {
        shown = shown.trim_end_matches('0');
    }
    if shown.is_empty() { String::new() } else { format!("{}{shown}", if comma { ',' } else { '.' }) }
}

fn offset(whole: i32, style: OffsetStyle) -> String {
    if style.z && whole == 0 {
        return "Z".to_owned();
    }
    let magnitude = whole.abs();
    let parts = [magnitude / 3600, magnitude % 3600 / 60, magnitude % 60];
    let shown: Vec<String> = parts.iter().take(style.parts).map(|part| format!("{part:02}")).collect();
    format!("{}{}", if whole < 0 { '-' } else { '+' }, shown.join(style.separator))
}

/// The zone's abbreviation; a fixed-offset zone has its offset as name.
fn zone_name(time: &Zoned) -> String {
    if *time.time_zone() == TimeZone::UTC {
        return "UTC".to_owned();
    }
    if time.time_zone().to_fixed_offset().is_ok() {
        return offset(time.offset().seconds(), OffsetStyle { z: false, separator: "", parts: 2 });
    }
    time.strftime("%Z").to_string()
}

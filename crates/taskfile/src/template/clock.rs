//! Moments and spans of time as Go writes and reads them: by the layout of a sample date.

use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone};
use jiff::{Zoned, civil};

use super::literal;

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const WEEKDAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

pub(crate) fn month_name(time: &Zoned) -> &'static str {
    usize::try_from(time.month() - 1).ok().and_then(|i| MONTHS.get(i)).copied().unwrap_or("")
}

pub(crate) fn weekday_name(time: &Zoned) -> &'static str {
    let day = time.weekday().to_sunday_zero_offset();
    usize::try_from(day).ok().and_then(|i| WEEKDAYS.get(i)).copied().unwrap_or("")
}

/// Go's zero time: what a date that could not be read becomes.
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

/// A part of a layout that stands for a part of a date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
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
    /// So many digits of a second, all of them or without trailing zeros, behind a point or comma.
    Fraction {
        digits: usize,
        trimmed: bool,
        comma: bool,
    },
}

/// How an offset from UTC is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct OffsetStyle {
    /// `Z` where there is none.
    z: bool,
    separator: &'static str,
    /// Hours, then minutes, then seconds.
    parts: usize,
}

/// Longer samples come before those they start with.
const SAMPLES: [(&str, Part); 33] = [
    ("January", Part::LongMonth),
    ("Jan", Part::ShortMonth),
    ("Monday", Part::LongWeekday),
    ("Mon", Part::ShortWeekday),
    ("MST", Part::Zone),
    ("2006", Part::LongYear),
    ("__2", Part::SpaceYearDay),
    ("_2", Part::SpaceDay),
    ("002", Part::ZeroYearDay),
    ("01", Part::ZeroMonth),
    ("02", Part::ZeroDay),
    ("03", Part::ZeroHour12),
    ("04", Part::ZeroMinute),
    ("05", Part::ZeroSecond),
    ("06", Part::Year),
    ("15", Part::Hour24),
    ("PM", Part::UpperHalf),
    ("pm", Part::LowerHalf),
    ("-07:00:00", Part::Offset(OffsetStyle { z: false, separator: ":", parts: 3 })),
    ("-070000", Part::Offset(OffsetStyle { z: false, separator: "", parts: 3 })),
    ("-07:00", Part::Offset(OffsetStyle { z: false, separator: ":", parts: 2 })),
    ("-0700", Part::Offset(OffsetStyle { z: false, separator: "", parts: 2 })),
    ("-07", Part::Offset(OffsetStyle { z: false, separator: "", parts: 1 })),
    ("Z07:00:00", Part::Offset(OffsetStyle { z: true, separator: ":", parts: 3 })),
    ("Z070000", Part::Offset(OffsetStyle { z: true, separator: "", parts: 3 })),
    ("Z07:00", Part::Offset(OffsetStyle { z: true, separator: ":", parts: 2 })),
    ("Z0700", Part::Offset(OffsetStyle { z: true, separator: "", parts: 2 })),
    ("Z07", Part::Offset(OffsetStyle { z: true, separator: "", parts: 1 })),
    ("1", Part::Month),
    ("2", Part::Day),
    ("3", Part::Hour12),
    ("4", Part::Minute),
    ("5", Part::Second),
];

/// The first part in a layout: where it starts, how long it is and which it is.
fn next_part(layout: &str) -> Option<(usize, usize, Part)> {
    for (at, _) in layout.char_indices() {
        let rest = &layout[at..];
        if let Some((length, part)) = fraction(rest) {
            return Some((at, length, part));
        }
        if rest.starts_with("_2006") {
            return Some((at + 1, 4, Part::LongYear));
        }
        for (sample, part) in &SAMPLES {
            let Some(after) = rest.strip_prefix(sample) else { continue };
            let in_a_word = after.starts_with(|c: char| c.is_ascii_lowercase());
            if matches!(part, Part::ShortMonth | Part::ShortWeekday) && in_a_word {
                continue;
            }
            return Some((at, sample.len(), *part));
        }
    }
    None
}

fn fraction(rest: &str) -> Option<(usize, Part)> {
    let comma = rest.starts_with(',');
    let digits = rest.strip_prefix(['.', ','])?;
    let digit = digits.chars().next().filter(|c| *c == '0' || *c == '9')?;
    let count = digits.len() - digits.trim_start_matches(digit).len();
    let ends = !digits[count..].starts_with(|c: char| c.is_ascii_digit());
    ends.then_some((count + 1, Part::Fraction { digits: count, trimmed: digit == '9', comma }))
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

fn format_part(part: Part, time: &Zoned) -> String {
    let hour12 = match time.hour() % 12 {
        0 => 12,
        hour => hour,
    };
    match part {
        Part::LongMonth => month_name(time).to_owned(),
        Part::ShortMonth => month_name(time).get(..3).unwrap_or("").to_owned(),
        Part::Month => time.month().to_string(),
        Part::ZeroMonth => format!("{:02}", time.month()),
        Part::LongWeekday => weekday_name(time).to_owned(),
        Part::ShortWeekday => weekday_name(time).get(..3).unwrap_or("").to_owned(),
        Part::Day => time.day().to_string(),
        Part::SpaceDay => format!("{:2}", time.day()),
        Part::ZeroDay => format!("{:02}", time.day()),
        Part::SpaceYearDay => format!("{:3}", time.day_of_year()),
        Part::ZeroYearDay => format!("{:03}", time.day_of_year()),
        Part::Hour24 => format!("{:02}", time.hour()),
        Part::Hour12 => hour12.to_string(),
        Part::ZeroHour12 => format!("{hour12:02}"),
        Part::Minute => time.minute().to_string(),
        Part::ZeroMinute => format!("{:02}", time.minute()),
        Part::Second => time.second().to_string(),
        Part::ZeroSecond => format!("{:02}", time.second()),
        Part::LongYear => format!("{:04}", time.year()),
        Part::Year => format!("{:02}", time.year().rem_euclid(100)),
        Part::UpperHalf => if time.hour() < 12 { "AM" } else { "PM" }.to_owned(),
        Part::LowerHalf => if time.hour() < 12 { "am" } else { "pm" }.to_owned(),
        Part::Zone => zone_name(time),
        Part::Offset(style) => offset(time.offset().seconds(), style),
        Part::Fraction { digits, trimmed, comma } => {
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

/// The zone's short name; a zone that is only an offset has that for a name.
fn zone_name(time: &Zoned) -> String {
    if *time.time_zone() == TimeZone::UTC {
        return "UTC".to_owned();
    }
    if time.time_zone().to_fixed_offset().is_ok() {
        return offset(time.offset().seconds(), OffsetStyle { z: false, separator: "", parts: 2 });
    }
    time.strftime("%Z").to_string()
}

/// Go's `time.ParseInLocation`.
pub(crate) fn parse(layout: &str, value: &str, zone: &TimeZone) -> Result<Zoned, String> {
    let mut reader = Reader { layout, value, rest: value, fields: Fields::default() };
    reader.read()?;
    reader.finish(zone)
}

struct Reader<'a> {
    layout: &'a str,
    value: &'a str,
    rest: &'a str,
    fields: Fields,
}

/// What has been read; everything starts as in Go's zero time.
struct Fields {
    year: i16,
    month: i8,
    day: i8,
    hour: i8,
    minute: i8,
    second: i8,
    nanos: i32,
    afternoon: Option<bool>,
    offset: Option<i32>,
    utc: bool,
}

impl Default for Fields {
    fn default() -> Self {
        Fields {
            year: 0,
            month: 1,
            day: 1,
            hour: 0,
            minute: 0,
            second: 0,
            nanos: 0,
            afternoon: None,
            offset: None,
            utc: false,
        }
    }
}

impl Reader<'_> {
    fn cannot(&self, wanted: &str) -> String {
        format!(
            "parsing time {} as {}: cannot parse {} as {}",
            literal::quote(self.value),
            literal::quote(self.layout),
            literal::quote(self.rest),
            literal::quote(wanted)
        )
    }

    fn out_of_range(&self, what: &str) -> String {
        format!("parsing time {}: {what} out of range", literal::quote(self.value))
    }

    fn read(&mut self) -> Result<(), String> {
        let mut layout = self.layout;
        loop {
            let found = next_part(layout);
            let prefix = found.map_or(layout, |(at, ..)| &layout[..at]);
            self.literal(prefix)?;
            let Some((at, length, part)) = found else { break };
            let sample = &layout[at..at + length];
            layout = &layout[at + length..];
            self.part(part, sample)?;
            // A fraction behind the seconds is read also where the layout has none.
            let seconds = matches!(part, Part::Second | Part::ZeroSecond);
            let follows = next_part(layout)
                .is_some_and(|(at, _, part)| at == 0 && matches!(part, Part::Fraction { .. }));
            if seconds && !follows && self.rest.starts_with('.') {
                self.fraction(9, false, sample)?;
            }
        }
        if !self.rest.is_empty() {
            return Err(format!(
                "parsing time {}: extra text: {}",
                literal::quote(self.value),
                literal::quote(self.rest)
            ));
        }
        Ok(())
    }

    fn literal(&mut self, prefix: &str) -> Result<(), String> {
        match self.rest.strip_prefix(prefix) {
            Some(rest) => {
                self.rest = rest;
                Ok(())
            }
            None => Err(self.cannot(prefix)),
        }
    }

    /// A number of at least and at most so many digits.
    fn number<T: std::str::FromStr>(&mut self, least: usize, most: usize, sample: &str) -> Result<T, String> {
        let digits = self.rest.bytes().take(most).take_while(u8::is_ascii_digit).count();
        if digits < least {
            return Err(self.cannot(sample));
        }
        let (number, rest) = self.rest.split_at(digits);
        let number = number.parse().map_err(|_| self.cannot(sample))?;
        self.rest = rest;
        Ok(number)
    }

    fn name(&mut self, names: &[&str], letters: Option<usize>, sample: &str) -> Result<i8, String> {
        for (number, name) in (1_i8..).zip(names) {
            let name = letters.and_then(|letters| name.get(..letters)).unwrap_or(name);
            if self.rest.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name)) {
                self.rest = &self.rest[name.len()..];
                return Ok(number);
            }
        }
        Err(self.cannot(sample))
    }

    fn part(&mut self, part: Part, sample: &str) -> Result<(), String> {
        match part {
            Part::LongMonth => self.fields.month = self.name(&MONTHS, None, sample)?,
            Part::ShortMonth => self.fields.month = self.name(&MONTHS, Some(3), sample)?,
            Part::Month => self.fields.month = self.number(1, 2, sample)?,
            Part::ZeroMonth => self.fields.month = self.number(2, 2, sample)?,
            Part::LongWeekday => _ = self.name(&WEEKDAYS, None, sample)?,
            Part::ShortWeekday => _ = self.name(&WEEKDAYS, Some(3), sample)?,
            Part::Day => self.fields.day = self.number(1, 2, sample)?,
            Part::SpaceDay => {
                self.rest = self.rest.strip_prefix(' ').unwrap_or(self.rest);
                self.fields.day = self.number(1, 2, sample)?;
            }
            Part::ZeroDay => self.fields.day = self.number(2, 2, sample)?,
            Part::SpaceYearDay | Part::ZeroYearDay => {
                self.rest = self.rest.trim_start_matches(' ');
                self.year_day(sample)?;
            }
            Part::Hour24 => self.fields.hour = self.number(2, 2, sample)?,
            Part::Hour12 => self.fields.hour = self.number(1, 2, sample)?,
            Part::ZeroHour12 => self.fields.hour = self.number(2, 2, sample)?,
            Part::Minute => self.fields.minute = self.number(1, 2, sample)?,
            Part::ZeroMinute => self.fields.minute = self.number(2, 2, sample)?,
            Part::Second => self.fields.second = self.number(1, 2, sample)?,
            Part::ZeroSecond => self.fields.second = self.number(2, 2, sample)?,
            Part::LongYear => self.fields.year = self.number(4, 4, sample)?,
            Part::Year => {
                let year: i16 = self.number(2, 2, sample)?;
                self.fields.year = if year >= 69 { 1900 + year } else { 2000 + year };
            }
            Part::UpperHalf => self.half(["AM", "PM"], sample)?,
            Part::LowerHalf => self.half(["am", "pm"], sample)?,
            Part::Zone => self.zone(sample)?,
            Part::Offset(style) => self.offset(style, sample)?,
            Part::Fraction { digits, trimmed, .. } => self.fraction(digits, !trimmed, sample)?,
        }
        Ok(())
    }

    fn year_day(&mut self, sample: &str) -> Result<(), String> {
        let day: i16 = self.number(1, 3, sample)?;
        let date = civil::Date::new(self.fields.year, 1, 1)
            .and_then(|first| first.with().day_of_year(day).build())
            .map_err(|_| self.out_of_range("day-of-year"))?;
        self.fields.month = date.month();
        self.fields.day = date.day();
        Ok(())
    }

    fn half(&mut self, halves: [&str; 2], sample: &str) -> Result<(), String> {
        for (afternoon, half) in [false, true].into_iter().zip(halves) {
            if let Some(rest) = self.rest.strip_prefix(half) {
                self.rest = rest;
                self.fields.afternoon = Some(afternoon);
                return Ok(());
            }
        }
        Err(self.cannot(sample))
    }

    /// An abbreviation says nothing certain about an offset; like Go, one that is not known means none.
    fn zone(&mut self, sample: &str) -> Result<(), String> {
        let letters = self.rest.bytes().take_while(u8::is_ascii_uppercase).count();
        if !(3..=5).contains(&letters) {
            return Err(self.cannot(sample));
        }
        self.fields.utc = true;
        self.rest = &self.rest[letters..];
        Ok(())
    }

    fn offset(&mut self, style: OffsetStyle, sample: &str) -> Result<(), String> {
        if style.z
            && let Some(rest) = self.rest.strip_prefix('Z')
        {
            self.rest = rest;
            self.fields.utc = true;
            return Ok(());
        }
        let sign = match self.rest.as_bytes().first() {
            Some(b'+') => 1,
            Some(b'-') => -1,
            _ => return Err(self.cannot(sample)),
        };
        let whole = self.rest;
        self.rest = &self.rest[1..];
        let mut total = 0_i32;
        for (i, unit) in [3600, 60, 1].into_iter().enumerate().take(style.parts) {
            let separator = if i == 0 { "" } else { style.separator };
            let Some(rest) = self.rest.strip_prefix(separator) else {
                self.rest = whole;
                return Err(self.cannot(sample));
            };
            self.rest = rest;
            total += unit * self.number::<i32>(2, 2, sample)?;
        }
        self.fields.offset = Some(sign * total);
        Ok(())
    }

    fn fraction(&mut self, digits: usize, exact: bool, sample: &str) -> Result<(), String> {
        let Some(rest) = self.rest.strip_prefix(['.', ',']) else {
            return if exact { Err(self.cannot(sample)) } else { Ok(()) };
        };
        let count = rest.bytes().take_while(u8::is_ascii_digit).count();
        if count == 0 || (exact && count != digits) {
            return Err(self.cannot(sample));
        }
        let padded = format!("{:0<9}", rest.get(..count.min(9)).unwrap_or("0"));
        self.fields.nanos = padded.parse().map_err(|_| self.cannot(sample))?;
        self.rest = &rest[count..];
        Ok(())
    }

    fn finish(mut self, zone: &TimeZone) -> Result<Zoned, String> {
        let range = |good: bool, what: &str| if good { Ok(()) } else { Err(self.out_of_range(what)) };
        let fields = &self.fields;
        range((1..=12).contains(&fields.month), "month")?;
        let days = civil::Date::new(fields.year, fields.month, 1).map_or(31, civil::Date::days_in_month);
        range((1..=days).contains(&fields.day), "day")?;
        range(fields.hour < 24 && (fields.afternoon.is_none() || fields.hour <= 12), "hour")?;
        range(fields.minute < 60, "minute")?;
        range(fields.second < 60, "second")?;
        self.fields.hour = match self.fields.afternoon {
            Some(true) if self.fields.hour < 12 => self.fields.hour + 12,
            Some(false) if self.fields.hour == 12 => 0,
            _ => self.fields.hour,
        };
        let fields = &self.fields;
        let zone = match (fields.utc, fields.offset) {
            (true, _) | (false, Some(0)) => TimeZone::UTC,
            (false, Some(seconds)) => match Offset::from_seconds(seconds) {
                Ok(offset) => TimeZone::fixed(offset),
                Err(_) => return Err(self.out_of_range("time zone offset")),
            },
            (false, None) => zone.clone(),
        };
        DateTime::new(
            fields.year,
            fields.month,
            fields.day,
            fields.hour,
            fields.minute,
            fields.second,
            fields.nanos,
        )
        .and_then(|time| time.to_zoned(zone))
        .map_err(|_| self.out_of_range("date"))
    }
}

/// Go's `Duration.String`.
pub(crate) fn duration(nanos: i64) -> String {
    if nanos == 0 {
        return "0s".to_owned();
    }
    let sign = if nanos < 0 { "-" } else { "" };
    let span = nanos.unsigned_abs();
    let decimal = |unit: u64| {
        let (whole, fraction) = (span / unit, span % unit);
        let width = unit.ilog10() as usize;
        let behind = if width == 0 { String::new() } else { format!("{fraction:0width$}") };
        let behind = behind.trim_end_matches('0');
        if behind.is_empty() { whole.to_string() } else { format!("{whole}.{behind}") }
    };
    if span < 1_000 {
        return format!("{sign}{span}ns");
    }
    if span < 1_000_000 {
        return format!("{sign}{}µs", decimal(1_000));
    }
    if span < 1_000_000_000 {
        return format!("{sign}{}ms", decimal(1_000_000));
    }
    let minutes = span / 60_000_000_000;
    let seconds = decimal(1_000_000_000);
    let (_, behind) = seconds.split_once('.').unwrap_or(("", ""));
    let point = if behind.is_empty() { "" } else { "." };
    let seconds = format!("{}{point}{behind}s", span / 1_000_000_000 % 60);
    match (minutes / 60, minutes % 60) {
        (0, 0) => format!("{sign}{seconds}"),
        (0, minutes) => format!("{sign}{minutes}m{seconds}"),
        (hours, minutes) => format!("{sign}{hours}h{minutes}m{seconds}"),
    }
}

/// Go's `time.ParseDuration`, in nanoseconds.
pub(crate) fn parse_duration(whole: &str) -> Result<i64, String> {
    let invalid = || format!("time: invalid duration {}", literal::quote(whole));
    let (negative, mut rest) = match whole.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, whole.strip_prefix('+').unwrap_or(whole)),
    };
    if rest == "0" {
        return Ok(0);
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    let mut total = 0_i128;
    while !rest.is_empty() {
        let number_end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(rest.len());
        let (number, behind) = rest.split_at(number_end);
        let (whole_part, fraction) = number.split_once('.').unwrap_or((number, ""));
        if (whole_part.is_empty() && fraction.is_empty()) || fraction.contains('.') || number.len() > 30 {
            return Err(invalid());
        }
        let unit_end = behind.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(behind.len());
        let (unit, after) = behind.split_at(unit_end);
        let nanos: i128 = match unit {
            "ns" => 1,
            "us" | "µs" | "μs" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            "" => return Err(format!("time: missing unit in duration {}", literal::quote(whole))),
            unit => {
                return Err(format!(
                    "time: unknown unit {} in duration {}",
                    literal::quote(unit),
                    literal::quote(whole)
                ));
            }
        };
        total += whole_part.parse::<i128>().unwrap_or(0).saturating_mul(nanos);
        let mut scale = nanos;
        for digit in fraction.chars() {
            scale /= 10;
            total += i128::from(digit.to_digit(10).unwrap_or(0)) * scale;
        }
        rest = after;
    }
    i64::try_from(if negative { -total } else { total }).map_err(|_| invalid())
}

//! Parses times by Go's layouts, with Go's error messages.

use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone};
use jiff::{Zoned, civil};

use super::{LayoutPart, MONTHS, OffsetStyle, WEEKDAYS, next_part};
use crate::go::literal;

/// Go's `time.ParseInLocation`.
pub(crate) fn parse(layout: &str, value: &str, zone: &TimeZone) -> Result<Zoned, String> {
    let mut reader = TimeParser { layout, value, rest: value, fields: DateFields::default() };
    reader.read()?;
    reader.finish(zone)
}

struct TimeParser<'a> {
    layout: &'a str,
    value: &'a str,
    rest: &'a str,
    fields: DateFields,
}

/// The fields parsed so far, starting with those of Go's zero time.
struct DateFields {
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

impl Default for DateFields {
    fn default() -> Self {
        DateFields {
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

impl TimeParser<'_> {
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
            // Like Go, accept fractional seconds even if the layout has none.
            let seconds = matches!(part, LayoutPart::Second | LayoutPart::ZeroSecond);
            let follows = next_part(layout)
                .is_some_and(|(at, _, part)| at == 0 && matches!(part, LayoutPart::Fraction { .. }));
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

    /// Parses a number of `least` to `most` digits.
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

    fn part(&mut self, part: LayoutPart, sample: &str) -> Result<(), String> {
        match part {
            LayoutPart::LongMonth => self.fields.month = self.name(&MONTHS, None, sample)?,
            LayoutPart::ShortMonth => self.fields.month = self.name(&MONTHS, Some(3), sample)?,
            LayoutPart::Month => self.fields.month = self.number(1, 2, sample)?,
            LayoutPart::ZeroMonth => self.fields.month = self.number(2, 2, sample)?,
            LayoutPart::LongWeekday => _ = self.name(&WEEKDAYS, None, sample)?,
            LayoutPart::ShortWeekday => _ = self.name(&WEEKDAYS, Some(3), sample)?,
            LayoutPart::Day => self.fields.day = self.number(1, 2, sample)?,
            LayoutPart::SpaceDay => {
                self.rest = self.rest.strip_prefix(' ').unwrap_or(self.rest);
                self.fields.day = self.number(1, 2, sample)?;
            }
            LayoutPart::ZeroDay => self.fields.day = self.number(2, 2, sample)?,
            LayoutPart::SpaceYearDay | LayoutPart::ZeroYearDay => {
                self.rest = self.rest.trim_start_matches(' ');
                self.year_day(sample)?;
            }
            LayoutPart::Hour24 => self.fields.hour = self.number(2, 2, sample)?,
            LayoutPart::Hour12 => self.fields.hour = self.number(1, 2, sample)?,
            LayoutPart::ZeroHour12 => self.fields.hour = self.number(2, 2, sample)?,
            LayoutPart::Minute => self.fields.minute = self.number(1, 2, sample)?,
            LayoutPart::ZeroMinute => self.fields.minute = self.number(2, 2, sample)?,
            LayoutPart::Second => self.fields.second = self.number(1, 2, sample)?,
            LayoutPart::ZeroSecond => self.fields.second = self.number(2, 2, sample)?,
            LayoutPart::LongYear => self.fields.year = self.number(4, 4, sample)?,
            LayoutPart::Year => {
                let year: i16 = self.number(2, 2, sample)?;
                self.fields.year = if year >= 69 { 1900 + year } else { 2000 + year };
            }
            LayoutPart::UpperHalf => self.half(["AM", "PM"], sample)?,
            LayoutPart::LowerHalf => self.half(["am", "pm"], sample)?,
            LayoutPart::Zone => self.zone(sample)?,
            LayoutPart::Offset(style) => self.offset(style, sample)?,
            LayoutPart::Fraction { digits, trimmed, .. } => self.fraction(digits, !trimmed, sample)?,
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

    /// Like Go, treats an unknown zone abbreviation as UTC.
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

//! Go's fmt: `print`, `println`, `printf` with its verbs and flags, and `%v` for every value.

mod verbs;

use super::limits::{TEXT_MAX, WIDTH_MAX};
use super::val::{Result, Val};
use verbs::write_value;

/// Go's `%v`.
pub(crate) fn display(value: &Val) -> Result<String> {
    let mut out = LimitedText::default();
    write_value(&mut out, value, 'v', &FormatFlags::default(), 0)?;
    Ok(out.text)
}

/// Go's `Sprint`: a space between two values if neither is a string.
pub(crate) fn print(values: &[Val]) -> Result<String> {
    let mut out = LimitedText::default();
    let mut text_before = true;
    for (i, value) in values.iter().enumerate() {
        let is_text = matches!(value, Val::Str(_));
        if i > 0 && !is_text && !text_before {
            out.push(" ")?;
        }
        write_value(&mut out, value, 'v', &FormatFlags::default(), 0)?;
        text_before = is_text;
    }
    Ok(out.text)
}

/// Go's `Sprintln`.
pub(crate) fn println(values: &[Val]) -> Result<String> {
    let mut out = LimitedText::default();
    for (i, value) in values.iter().enumerate() {
        if i > 0 {
            out.push(" ")?;
        }
        write_value(&mut out, value, 'v', &FormatFlags::default(), 0)?;
    }
    out.push("\n")?;
    Ok(out.text)
}

/// A string with a size limit.
#[derive(Default)]
struct LimitedText {
    text: String,
}

impl LimitedText {
    fn push(&mut self, text: &str) -> Result<()> {
        if self.text.len() + text.len() > TEXT_MAX {
            return Err(format!("a text of more than {TEXT_MAX} bytes"));
        }
        self.text.push_str(text);
        Ok(())
    }
}

#[derive(Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a character of its own between % and the verb")]
struct FormatFlags {
    plus: bool,
    minus: bool,
    sharp: bool,
    space: bool,
    zero: bool,
    width: Option<usize>,
    precision: Option<usize>,
}

/// Go's `Sprintf`.
pub(crate) fn printf(format: &str, values: &[Val]) -> Result<String> {
    let mut printer =
        Printer { out: LimitedText::default(), values, next: 0, reordered: false, chars: format };
    printer.run()?;
    Ok(printer.out.text)
}

struct Printer<'a> {
    out: LimitedText,
    values: &'a [Val],
    next: usize,
    /// An explicit `[n]` was used, so unused values are not reported.
    reordered: bool,
    chars: &'a str,
}

impl Printer<'_> {
    fn peek(&self) -> Option<char> {
        self.chars.chars().next()
    }

    fn take(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.chars = &self.chars[c.len_utf8()..];
        Some(c)
    }

    fn run(&mut self) -> Result<()> {
        loop {
            let Some(percent) = self.chars.find('%') else {
                let rest = self.chars;
                self.out.push(rest)?;
                return self.extra();
            };
            let (plain, rest) = self.chars.split_at(percent);
            self.out.push(plain)?;
            self.chars = &rest[1..];
            self.verb()?;
        }
    }

    fn extra(&mut self) -> Result<()> {
        if self.reordered || self.next >= self.values.len() {
            return Ok(());
        }
        self.out.push("%!(EXTRA ")?;
        for (i, value) in self.values.iter().enumerate().skip(self.next) {
            if i > self.next {
                self.out.push(", ")?;
            }
            if matches!(value, Val::Nil | Val::Invalid) {
                self.out.push("<nil>")?;
            } else {
                self.out.push(&value.type_name())?;
                self.out.push("=")?;
                write_value(&mut self.out, value, 'v', &FormatFlags::default(), 0)?;
            }
        }
        self.out.push(")")
    }

    fn flags(&mut self) -> FormatFlags {
        let mut flags = FormatFlags::default();
        while let Some(c) = self.peek() {
            match c {
                '+' => flags.plus = true,
                '-' => flags.minus = true,
                '#' => flags.sharp = true,
                ' ' => flags.space = true,
                '0' => flags.zero = true,
                _ => break,
            }
            self.take();
        }
        flags
    }

    /// `[3]`: which value is next. An invalid index is reported in place of the verb.
    fn index(&mut self) -> bool {
        if self.peek() != Some('[') {
            return true;
        }
        self.reordered = true;
        let Some(end) = self.chars.find(']') else {
            self.chars = &self.chars[1..];
            return false;
        };
        let number = self.chars[1..end].parse::<usize>();
        self.chars = &self.chars[end + 1..];
        match number {
            Ok(number) if (1..=self.values.len()).contains(&number) => {
                self.next = number - 1;
                true
            }
            _ => false,
        }
    }

    fn number(&mut self) -> Option<usize> {
        let digits = self.chars.len() - self.chars.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, rest) = self.chars.split_at(digits);
        self.chars = rest;
        if number.is_empty() {
            return None;
        }
        Some(number.parse::<usize>().map_or(WIDTH_MAX, |number| number.min(WIDTH_MAX)))
    }

    /// A `*` width or precision, taken from the arguments.
    fn star(&mut self, message: &str) -> Result<Option<i64>> {
        self.take();
        let number = match self.values.get(self.next) {
            Some(Val::Int(n) | Val::Int64(n)) if n.unsigned_abs() <= WIDTH_MAX as u64 => Some(*n),
            _ => None,
        };
        self.next += 1;
        if number.is_none() {
            self.out.push(message)?;
        }
        Ok(number)
    }

    fn verb(&mut self) -> Result<()> {
        let mut flags = self.flags();
        let mut good_index = self.index();
        if self.peek() == Some('*') {
            if let Some(width) = self.star("%!(BADWIDTH)")? {
                flags.minus |= width < 0;
                flags.width = usize::try_from(width.unsigned_abs()).ok();
            }
        } else {
            flags.width = self.number();
        }
        if self.peek() == Some('.') {
            self.take();
            good_index &= self.index();
            if self.peek() == Some('*') {
                flags.precision =
                    self.star("%!(BADPREC)")?.and_then(|precision| usize::try_from(precision).ok());
            } else {
                flags.precision = Some(self.number().unwrap_or(0));
            }
        }
        good_index &= self.index();
        let Some(verb) = self.take() else { return self.out.push("%!(NOVERB)") };
        if verb == '%' {
            return self.out.push("%");
        }
        if !good_index {
            return self.out.push(&format!("%!{verb}(BADINDEX)"));
        }
        let Some(value) = self.values.get(self.next) else {
            return self.out.push(&format!("%!{verb}(MISSING)"));
        };
        self.next += 1;
        if flags.minus {
            flags.zero = false;
        }
        if verb == 'v' {
            // `%+v` adds field names, which none of these values have.
            flags.plus = false;
        }
        write_value(&mut self.out, value, verb, &flags, 0)
    }
}

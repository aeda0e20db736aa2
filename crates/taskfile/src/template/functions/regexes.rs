//! sprig's functions for regular expressions. [`translate`] bridges the differences between Go's syntax (RE2) and the
//! `regex` crate's.

use regex::{Regex, RegexBuilder};

use super::super::val::{Result, Val};
use super::ParamType::{Int, Str};
use super::{Function, FunctionContext, check_text, fixed, int, text};

/// The size limit of a compiled expression, in bytes.
const COMPILED_MAX: usize = 4 << 20;
/// The nesting limit of groups.
const GROUPS_MAX: u32 = 100;

pub(super) const FUNCTIONS: &[Function] = &[
    fixed("regexMatch", &[Str, Str], |_, args| {
        Ok(Val::Bool(compile(text(args, 0)).is_ok_and(|regex| regex.is_match(text(args, 1)))))
    }),
    fixed("mustRegexMatch", &[Str, Str], |_, args| {
        Ok(Val::Bool(compile(text(args, 0))?.is_match(text(args, 1))))
    }),
    fixed("regexFind", &[Str, Str], |_, args| find(&compile_named(text(args, 0))?, args)),
    fixed("mustRegexFind", &[Str, Str], |_, args| find(&compile(text(args, 0))?, args)),
    fixed("regexFindAll", &[Str, Str, Int], |_, args| find_all(&compile_named(text(args, 0))?, args)),
    fixed("mustRegexFindAll", &[Str, Str, Int], |_, args| find_all(&compile(text(args, 0))?, args)),
    fixed("regexReplaceAll", &[Str, Str, Str], |_, args| replace(&compile_named(text(args, 0))?, args)),
    fixed("mustRegexReplaceAll", &[Str, Str, Str], |_, args| replace(&compile(text(args, 0))?, args)),
    fixed("regexReplaceAllLiteral", &[Str, Str, Str], |_, args| {
        replace_literal(&compile_named(text(args, 0))?, args)
    }),
    fixed("mustRegexReplaceAllLiteral", &[Str, Str, Str], |_, args| {
        replace_literal(&compile(text(args, 0))?, args)
    }),
    fixed("regexSplit", &[Str, Str, Int], |_, args| split(&compile_named(text(args, 0))?, args)),
    fixed("mustRegexSplit", &[Str, Str, Int], |_, args| split(&compile(text(args, 0))?, args)),
    fixed("regexQuoteMeta", &[Str], quote_meta),
];

fn compile(pattern: &str) -> Result<Regex> {
    check_repetitions(pattern)?;
    RegexBuilder::new(&translate(pattern))
        .size_limit(COMPILED_MAX)
        .nest_limit(GROUPS_MAX)
        .build()
        .map_err(|error| message(pattern, &error.to_string()))
}

/// Where sprig panics instead of returning an error, the message includes the expression.
fn compile_named(pattern: &str) -> Result<Regex> {
    compile(pattern).map_err(|message| format!("regexp: Compile(`{pattern}`): {message}"))
}

/// Rejects what Go rejects but the `regex` crate accepts: nested repetitions and counts over a thousand.
fn check_repetitions(pattern: &str) -> Result<()> {
    const REPEAT_MAX: usize = 1000;
    let mut in_class = false;
    let mut repeated: Option<usize> = None;
    let mut chars = pattern.char_indices();
    while let Some((at, c)) = chars.next() {
        let before = repeated.take();
        match c {
            '\\' => _ = chars.next(),
            '[' => in_class = true,
            ']' => in_class = false,
            '*' | '+' | '?' if in_class => {}
            // After a repetition, `?` makes it lazy.
            '?' if before.is_some() => {}
            '*' | '+' if before.is_some() => {
                let shown = &pattern[before.unwrap_or(at)..=at];
                return Err(format!("error parsing regexp: invalid nested repetition operator: `{shown}`"));
            }
            '*' | '+' => repeated = Some(at),
            '?' if !pattern[..at].ends_with('(') => repeated = Some(at),
            '{' if !in_class && is_repetition(&pattern[at + 1..]) => {
                let counts = pattern[at + 1..].split('}').next().unwrap_or("");
                let too_many =
                    |count: &str| !count.is_empty() && count.parse().map_or(true, |n: usize| n > REPEAT_MAX);
                if counts.split(',').any(too_many) {
                    return Err(format!("error parsing regexp: invalid repeat count: `{{{counts}}}`"));
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// The error in Go's words, if Go has a message for it.
fn message(pattern: &str, error: &str) -> String {
    let (what, shown) = if pattern.ends_with('\\') && !pattern.ends_with("\\\\") {
        ("trailing backslash at end of expression", "")
    } else if error.contains("unclosed character class") {
        ("missing closing ]", pattern.find('[').map_or(pattern, |at| &pattern[at..]))
    } else if error.contains("unclosed group") {
        ("missing closing )", pattern)
    } else if error.contains("unopened group") {
        ("unexpected )", pattern)
    } else if error.contains("repetition operator missing expression") {
        ("missing argument to repetition operator", pattern.get(..1).unwrap_or(pattern))
    } else if error.contains("look-around") {
        let at = pattern.find("(?").unwrap_or(0);
        ("invalid or unsupported Perl syntax", pattern.get(at..at + 3).unwrap_or(pattern))
    } else if error.contains("invalid character class range") {
        let at = pattern.find('-').map_or(0, |dash| dash.saturating_sub(1));
        ("invalid character class range", pattern.get(at..at + 3).unwrap_or(pattern))
    } else if error.contains("capture group name") {
        ("invalid named capture", pattern.find("(?").map_or(pattern, |at| &pattern[at..]))
    } else if error.contains("unrecognized escape") || error.contains("backreferences") {
        ("invalid escape sequence", pattern.find('\\').map_or(pattern, |at| &pattern[at..]))
    } else {
        ("invalid regexp", pattern)
    };
    format!("error parsing regexp: {what}: `{shown}`")
}

/// Go's classes are ASCII, and an unmatched brace or bracket is literal.
fn translate(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut in_class = false;
    let mut rest = pattern;
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        match c {
            '\\' if after.starts_with('Q') => {
                let quoted = after[1..].split("\\E").next().unwrap_or("");
                out.push_str(&regex::escape(quoted));
                rest = after[1 + quoted.len()..].strip_prefix("\\E").unwrap_or("");
                continue;
            }
            '\\' => {
                let escaped = after.chars().next();
                out.push_str(&escape(escaped));
                rest = &after[escaped.map_or(0, char::len_utf8)..];
                continue;
            }
            '[' if in_class && after.starts_with(':') => {
                let end = after.find(":]").map_or(0, |end| end + 2);
                out.push('[');
                out.push_str(&after[..end]);
                rest = &after[end..];
                continue;
            }
            '[' if in_class => out.push_str("\\["),
            '[' => {
                in_class = true;
                out.push('[');
                let negated = after.strip_prefix('^');
                out.push_str(if negated.is_some() { "^" } else { "" });
                rest = negated.unwrap_or(after);
                // A leading closing bracket is literal.
                if let Some(after_bracket) = rest.strip_prefix(']') {
                    out.push_str("\\]");
                    rest = after_bracket;
                }
                continue;
            }
            ']' if in_class => {
                in_class = false;
                out.push(']');
            }
            '&' | '~' if in_class => {
                out.push('\\');
                out.push(c);
            }
            '{' if !in_class && !is_repetition(after) => out.push_str("\\{"),
            c => out.push(c),
        }
        rest = after;
    }
    out
}

fn escape(escaped: Option<char>) -> String {
    match escaped {
        Some('d') => "[0-9]".to_owned(),
        Some('D') => "[^0-9]".to_owned(),
        Some('w') => "[0-9A-Za-z_]".to_owned(),
        Some('W') => "[^0-9A-Za-z_]".to_owned(),
        Some('s') => "[\\t\\n\\f\\r ]".to_owned(),
        Some('S') => "[^\\t\\n\\f\\r ]".to_owned(),
        Some('b') => "(?-u:\\b)".to_owned(),
        Some(other) => format!("\\{other}"),
        None => "\\".to_owned(),
    }
}

/// `3}`, `3,}` or `3,4}` after a brace.
fn is_repetition(after: &str) -> bool {
    let Some((counts, _)) = after.split_once('}') else { return false };
    let (least, most) = counts.split_once(',').unwrap_or((counts, "0"));
    let digits = |text: &str| text.chars().all(|c| c.is_ascii_digit());
    !least.is_empty() && digits(least) && digits(most)
}

/// The number of matches to return; a negative argument means all.
fn count(args: &[Val], i: usize) -> usize {
    usize::try_from(int(args, i)).unwrap_or(usize::MAX)
}

fn find(regex: &Regex, args: &[Val]) -> Result<Val> {
    Ok(Val::text(regex.find(text(args, 1)).map_or("", |found| found.as_str())))
}

fn find_all(regex: &Regex, args: &[Val]) -> Result<Val> {
    Val::strings(regex.find_iter(text(args, 1)).take(count(args, 2)).map(|found| found.as_str()))
}

fn replace(regex: &Regex, args: &[Val]) -> Result<Val> {
    let (whole, new) = (text(args, 1), text(args, 2));
    let mut out = String::new();
    let mut last = 0;
    for captures in regex.captures_iter(whole) {
        let Some(found) = captures.get(0) else { continue };
        out.push_str(&whole[last..found.start()]);
        captures.expand(new, &mut out);
        last = found.end();
        check_text(out.len() as u128)?;
    }
    out.push_str(&whole[last..]);
    Ok(Val::text(out))
}

fn replace_literal(regex: &Regex, args: &[Val]) -> Result<Val> {
    let (whole, new) = (text(args, 1), text(args, 2));
    check_text(whole.len() as u128 + regex.find_iter(whole).count() as u128 * new.len() as u128)?;
    Ok(Val::text(regex.replace_all(whole, regex::NoExpand(new)).into_owned()))
}

/// Go's `Regexp.Split`: no empty part before an empty match at the start or after one at the end.
fn split(regex: &Regex, args: &[Val]) -> Result<Val> {
    let (whole, count) = (text(args, 1), count(args, 2));
    if count == 0 {
        return Val::strings(Vec::<&str>::new());
    }
    if !regex.as_str().is_empty() && whole.is_empty() {
        return Val::strings([""]);
    }
    let mut parts = Vec::new();
    let (mut from, mut to) = (0, 0);
    for found in regex.find_iter(whole) {
        if parts.len() + 1 >= count {
            break;
        }
        to = found.start();
        if found.end() != 0 {
            parts.push(&whole[from..to]);
        }
        from = found.end();
    }
    if to != whole.len() {
        parts.push(&whole[from..]);
    }
    Val::strings(parts)
}

fn quote_meta(_: &mut FunctionContext<'_>, args: &[Val]) -> Result<Val> {
    let mut out = String::new();
    for c in text(args, 0).chars() {
        if "\\.+*?()|[]{}^$".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    Ok(Val::text(out))
}

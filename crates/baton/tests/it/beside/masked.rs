//! Replaces what differs between runs in the output of commands: ids by their order, times, cursors.

use std::collections::BTreeMap;

const PREFIXES: [(&str, usize); 5] = [("TASK-", 8), ("PROJ-", 8), ("RUN-", 8), ("ATT-", 16), ("Q-", 8)];

/// Strings whose values differ: the worker is named after the state folder, and base and head are commits with
/// their times.
const STRINGS: [&str; 3] = ["\"worker\": \"", "\"base\": \"", "\"head\": \""];

/// Remembers the ids it has seen, so that several outputs are masked alike.
#[derive(Default)]
pub(crate) struct Mask(BTreeMap<String, String>);

impl Mask {
    pub(crate) fn over(&mut self, text: &str) -> String {
        let mut masked = String::new();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            if let Some((id, prefix)) = id_at(rest) {
                let number = self.0.values().filter(|name| name.starts_with(prefix)).count();
                let name = self.0.entry(id.to_owned()).or_insert_with(|| format!("{prefix}#{number}"));
                masked.push_str(name);
                rest = &rest[id.len()..];
            } else if let Some((before, after)) = counted_at(rest) {
                masked.push_str(before);
                masked.push_str("NUMBER");
                rest = after.trim_start_matches(|c: char| c.is_ascii_digit());
            } else if let Some((before, after)) =
                STRINGS.iter().find_map(|before| Some((before, rest.strip_prefix(before)?)))
            {
                masked.push_str(before);
                masked.push_str("VALUE");
                rest = after.trim_start_matches(|c| c != '"');
            } else if let Some(len) = time_at(rest) {
                masked.push_str("TIME");
                rest = &rest[len..];
            } else {
                masked.push(first);
                rest = &rest[first.len_utf8()..];
            }
        }
        masked
    }
}

/// Process ids and durations.
fn counted_at(text: &str) -> Option<(&'static str, &str)> {
    ["as process ", "\"duration_ms\": "]
        .into_iter()
        .find_map(|before| Some((before, text.strip_prefix(before)?)))
}

fn id_at(text: &str) -> Option<(&str, &'static str)> {
    PREFIXES.iter().find_map(|(prefix, digits)| {
        let id = text.get(..prefix.len() + digits)?;
        let is_one = id.strip_prefix(prefix)?.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_one.then_some((id, *prefix))
    })
}

/// `2026-11-16T02:30:00.123Z`, or the milliseconds of a cursor.
fn time_at(text: &str) -> Option<usize> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 13 && text[digits..].starts_with('~') {
        return Some(digits);
    }
    let is_time = digits == 4 && text.get(10..11) == Some("T") && text.starts_with("20");
    is_time.then(|| text.find('Z').map(|end| end + 1)).flatten().filter(|len| *len <= 32)
}

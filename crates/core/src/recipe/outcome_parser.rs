//! Finds the outcome in an agent's last message.
//!
//! The last JSON object with an `outcome` key counts, fenced or not, on one line or several, even if it is invalid:
//! an earlier one is often the prompt's own list, echoed. An object inside another object never counts. Accepts any
//! text without panicking.

use serde_json::{Map, Value};

use crate::base::text::OutcomeName;
use crate::recipe::outcome::OutcomeMistake;
use crate::recipe::outcome::{Outcome, QUOTED_CHARS_MAX};

/// Only the end of a message is read: the outcome is there, and a runaway message stays cheap.
pub const MESSAGE_TAIL_BYTES_MAX: usize = 256 * 1024;

const KEY: &str = "outcome";

/// The spellings of the description key that agents use, the documented one first.
const DESCRIPTION_KEYS: [&str; 3] = ["otherDescription", "other_description", "description"];

/// The outcome an agent reported in its message, or its mistake.
pub fn parse(message: &str, allowed: &[OutcomeName]) -> Result<Outcome, OutcomeMistake> {
    let start = message.ceil_char_boundary(message.len().saturating_sub(MESSAGE_TAIL_BYTES_MAX));
    let text = &message[start..];
    match last(text, candidates(text)) {
        None => Err(OutcomeMistake::NoneFound),
        Some(OutcomeCandidate { at, body: CandidateBody::Broken { .. } }) => {
            Err(OutcomeMistake::MalformedJson {
                excerpt: text[at..]
                    .lines()
                    .next()
                    .unwrap_or_default()
                    .chars()
                    .take(QUOTED_CHARS_MAX)
                    .collect(),
            })
        }
        Some(OutcomeCandidate { body: CandidateBody::Object(object), .. }) => judge(&object, allowed),
    }
}

fn judge(object: &Map<String, Value>, allowed: &[OutcomeName]) -> Result<Outcome, OutcomeMistake> {
    let name = match object.get(KEY) {
        Some(Value::String(name)) => name,
        Some(other) => return Err(OutcomeMistake::NotAString { found: kind_of(other).to_owned() }),
        None => return Err(OutcomeMistake::NoneFound),
    };
    let description = DESCRIPTION_KEYS
        .iter()
        .filter_map(|key| object.get(*key)?.as_str())
        .find(|words| !words.trim().is_empty());
    Outcome::report(name, description, allowed)
}

pub(crate) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// An outcome object, or an attempt at one, and the position of its brace.
struct OutcomeCandidate {
    at: usize,
    body: CandidateBody,
}

enum CandidateBody {
    Object(Map<String, Value>),
    /// It does not parse. It ends at its closing brace, or at the end of its key's line if it has none.
    Broken {
        key_at: usize,
        closed_at: Option<usize>,
    },
}

/// A brace that opened nothing that parses.
struct OpenBrace {
    at: usize,
    /// The candidate it became when an `outcome` key followed.
    broken: Option<usize>,
}

/// One pass. What parses is skipped as a whole, which excludes inner objects. The JSON parser's depth limit bounds
/// how often a byte is read again, so the time stays linear.
fn candidates(text: &str) -> Vec<OutcomeCandidate> {
    let mut found = Vec::new();
    let mut open: Vec<OpenBrace> = Vec::new();
    let mut at = 0;
    while let Some(byte) = text.as_bytes().get(at) {
        match byte {
            b'{' => {
                if let Some((object, len)) = object_at(&text[at..]) {
                    if object.contains_key(KEY) {
                        found.push(OutcomeCandidate { at, body: CandidateBody::Object(object) });
                    }
                    at += len;
                    continue;
                }
                open.push(OpenBrace { at, broken: None });
            }
            b'}' => {
                let closed = open.pop().and_then(|brace| found.get_mut(brace.broken?));
                if let Some(OutcomeCandidate { body: CandidateBody::Broken { closed_at, .. }, .. }) = closed {
                    *closed_at = Some(at);
                }
            }
            b'o' => {
                if let Some(brace) = open.last_mut()
                    && brace.broken.is_none()
                    && is_key_at(text, at)
                {
                    brace.broken = Some(found.len());
                    let body = CandidateBody::Broken { key_at: at, closed_at: None };
                    found.push(OutcomeCandidate { at: brace.at, body });
                }
            }
            _ => {}
        }
        at += 1;
    }
    found
}

fn object_at(text: &str) -> Option<(Map<String, Value>, usize)> {
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<Map<String, Value>>();
    let object = stream.next()?.ok()?;
    Some((object, stream.byte_offset()))
}

/// Whether the word at `at` is meant as the key `outcome`: quoted as JSON, or in any other way right after a brace or
/// a comma. The word in prose is not.
fn is_key_at(text: &str, at: usize) -> bool {
    const OTHER_QUOTES: [char; 4] = ['\'', '`', '“', '”'];
    let Some(after) = text[at..].strip_prefix(KEY) else { return false };
    let before = &text[..at];
    if let (Some(before), Some(after)) = (before.strip_suffix('"'), after.strip_prefix('"')) {
        return !before.ends_with('\\') && after.trim_start().starts_with(':');
    }
    let before = before.strip_suffix(OTHER_QUOTES).unwrap_or(before).trim_end();
    let after = after.strip_prefix(OTHER_QUOTES).unwrap_or(after).trim_start();
    before.ends_with(['{', ',']) && after.starts_with([':', '='])
}

/// The last candidate that is not inside a broken one.
fn last(text: &str, mut candidates: Vec<OutcomeCandidate>) -> Option<OutcomeCandidate> {
    candidates.sort_by_key(|candidate| candidate.at);
    let mut covered_until = 0;
    let mut last = None;
    for candidate in candidates {
        if candidate.at < covered_until {
            continue;
        }
        if let CandidateBody::Broken { key_at, closed_at } = candidate.body {
            let line_end = || text[key_at..].find('\n').map_or(text.len(), |len| key_at + len);
            covered_until = closed_at.unwrap_or_else(line_end);
        }
        last = Some(candidate);
    }
    last
}

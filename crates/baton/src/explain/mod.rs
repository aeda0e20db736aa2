//! `baton explain`: the rules Baton goes by, and what every error code means, as the program itself has them.

pub mod catalogue;
mod exit_codes;
pub mod topics;

use std::fmt::Write;

use baton_core::text::nearest_few;
use serde_json::{Value, json};

use crate::error::CliError;
use crate::explain::catalogue::{CodeEntry, CodeFamily};
use crate::explain::topics::ExplainTopic;
use crate::output;

/// Names offered for one nobody knows; more would be a list to read.
const OFFERED_MAX: usize = 5;

pub fn run(what: Option<&str>, is_json: bool) -> Result<String, CliError> {
    let Some(what) = what else {
        return if is_json { output::json(&all_as_json()) } else { Ok(overview()) };
    };
    if let Some(topic) = ExplainTopic::ALL.into_iter().find(|topic| topic.name().eq_ignore_ascii_case(what)) {
        return if is_json { output::json(&topics::as_json(topic)) } else { Ok(topics::text(topic)) };
    }
    let found = catalogue::find(what);
    if found.is_empty() {
        return Err(unknown(what));
    }
    if is_json {
        return output::json(&json!({ "codes": found }));
    }
    let texts: Vec<String> = found.iter().map(text).collect();
    Ok(texts.join("\n"))
}

/// Everything that can be explained, by name.
pub fn names() -> Vec<&'static str> {
    let topics = ExplainTopic::ALL.iter().map(|topic| topic.name());
    topics.chain(catalogue::entries().iter().map(|entry| entry.explanation.code)).collect()
}

fn unknown(what: &str) -> CliError {
    let lower = what.to_lowercase().replace(['-', ' '], "_");
    let mut near = nearest_few(&lower, names(), OFFERED_MAX);
    near.dedup();
    let hint = if near.is_empty() {
        "see everything there is: baton explain".to_owned()
    } else {
        format!("did you mean {}? See everything there is: baton explain", near.join(", "))
    };
    CliError::usage(format!("there is nothing called \"{what}\" to explain"), hint)
}

fn text(entry: &CodeEntry) -> String {
    let CodeEntry { family, explanation } = entry;
    format!(
        "{} ({family})\n\n{}\n\nWhy:   {}\n\nNext:  {}\n",
        explanation.code,
        wrapped(explanation.means, 0),
        wrapped(explanation.cause, LABEL_CHARS),
        wrapped(explanation.next, LABEL_CHARS)
    )
}

/// As wide as a page is read easily.
const LINE_CHARS_MAX: usize = 98;
/// `Why:   `
const LABEL_CHARS: usize = 7;

/// Lines of a readable length; all but the first begin with `indent` blanks.
fn wrapped(text: &str, indent: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if indent + line.chars().count() + 1 + word.chars().count() <= LINE_CHARS_MAX => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.join(&format!("\n{}", " ".repeat(indent)))
}

fn overview() -> String {
    let mut text = String::from("Topics\n");
    for topic in ExplainTopic::ALL {
        let _ = writeln!(text, "  {:<28} {}", topic.name(), topic.about());
    }
    for CodeFamily { title, rows } in catalogue::families() {
        let _ = writeln!(text, "\n{title}");
        for row in rows {
            let _ = writeln!(text, "  {:<28} {}", row.code, first_sentence(row.means));
        }
    }
    text.push_str("\nOne of them: baton explain NAME\n");
    text
}

/// Enough for a list.
fn first_sentence(means: &str) -> &str {
    means.split_once(". ").map_or(means, |(first, _)| first).trim_end_matches('.')
}

fn all_as_json() -> Value {
    let topics = ExplainTopic::ALL.map(|topic| json!({ "topic": topic.name(), "about": topic.about() }));
    json!({ "topics": topics, "codes": catalogue::entries() })
}

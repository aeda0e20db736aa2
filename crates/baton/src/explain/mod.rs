//! `baton explain`: error codes, exit codes and topics, from the tables the program runs on.

pub(crate) mod catalogue;
mod exit_codes;
mod landing;
pub(crate) mod topics;

use std::fmt::Write;

use baton_core::base::text::nearest_few;
use serde_json::{Value, json};

use crate::error::CliError;
use crate::explain::catalogue::{CodeEntry, CodeFamily};
use crate::explain::topics::ExplainTopic;
use crate::output;

/// Most suggestions for an unknown name.
const SUGGESTIONS_MAX: usize = 5;

pub(crate) fn run(what: Option<&str>, is_json: bool) -> Result<String, CliError> {
    let Some(what) = what else {
        return if is_json { output::json(&all_as_json()) } else { Ok(overview()) };
    };
    if let Some(topic) = ExplainTopic::find(what) {
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

/// The names of everything that can be explained.
pub(crate) fn names() -> Vec<&'static str> {
    let topics = ExplainTopic::ALL.iter().map(|topic| topic.name());
    topics.chain(catalogue::entries().iter().map(|entry| entry.explanation.code)).collect()
}

fn unknown(what: &str) -> CliError {
    let lower = what.to_lowercase().replace(['-', ' '], "_");
    let mut near = nearest_few(&lower, names(), SUGGESTIONS_MAX);
    near.dedup();
    let hint = if near.is_empty() {
        "list everything: baton explain".to_owned()
    } else {
        format!("did you mean {}? List everything: baton explain", near.join(", "))
    };
    CliError::usage(format!("no explanation for \"{what}\""), hint)
}

fn text(entry: &CodeEntry) -> String {
    let CodeEntry { family, explanation, commands } = entry;
    let mut text = format!(
        "{} ({family})\n\n{}\n\nWhy:   {}\n\nNext:  {}\n",
        explanation.code,
        wrap(explanation.means, 0),
        wrap(explanation.cause, LABEL_CHARS),
        wrap(explanation.next, LABEL_CHARS)
    );
    if !commands.is_empty() {
        let _ = writeln!(text, "\nRun:   {}", commands.join(&format!("\n{}", " ".repeat(LABEL_CHARS))));
    }
    text
}

/// A readable line length.
const LINE_CHARS_MAX: usize = 98;
/// `Why:   `
const LABEL_CHARS: usize = 7;

/// Wraps text; all lines but the first are indented.
fn wrap(text: &str, indent: usize) -> String {
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
    text.push_str("\nDetails: baton explain NAME\n");
    text
}

fn first_sentence(means: &str) -> &str {
    means.split_once(". ").map_or(means, |(first, _)| first).trim_end_matches('.')
}

fn all_as_json() -> Value {
    let topics = ExplainTopic::ALL.map(|topic| json!({ "topic": topic.name(), "about": topic.about() }));
    json!({ "topics": topics, "codes": catalogue::entries() })
}

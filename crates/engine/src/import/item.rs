//! A task of another tool, and helpers to read it.

use baton_core::base::priority::Priority;
use baton_core::base::time::Timestamp;
use baton_core::transition::arrival::ImportedState;
use serde_json::{Map, Value};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExternalTask {
    /// Its id in the other tool.
    pub name: String,
    pub title: String,
    pub text: String,
    pub priority: Priority,
    pub arrival: ImportedState,
    /// The names of its dependencies.
    pub waits_on: Vec<String>,
    pub created_at: Option<Timestamp>,
}

/// All tasks found at one path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExternalTasks {
    /// Identifies the collection; names are unique within it.
    pub origin: String,
    pub items: Vec<ExternalTask>,
    /// What was left out and why, for the user.
    pub left_out: Vec<String>,
}

/// Builds a description from the fields of another tool. Skips blank ones.
#[derive(Debug, Default)]
pub(super) struct DescriptionBuilder(String);

impl DescriptionBuilder {
    pub(super) fn new(lead: &str) -> Self {
        Self(lead.trim().to_owned())
    }

    pub(super) fn section(mut self, heading: &str, body: &str) -> Self {
        let body = body.trim();
        if !body.is_empty() {
            self.gap();
            self.0.push_str("## ");
            self.0.push_str(heading);
            self.0.push_str("\n\n");
            self.0.push_str(body);
        }
        self
    }

    /// One line per fact.
    pub(super) fn facts<'a>(mut self, facts: impl IntoIterator<Item = (&'a str, String)>) -> Self {
        let lines: Vec<String> = facts
            .into_iter()
            .filter(|(_, value)| !value.trim().is_empty())
            .map(|(name, value)| format!("{name}: {}", value.trim()))
            .collect();
        if !lines.is_empty() {
            self.gap();
            self.0.push_str(&lines.join("\n"));
        }
        self
    }

    fn gap(&mut self) {
        if !self.0.is_empty() {
            self.0.push_str("\n\n");
        }
    }

    pub(super) fn into_string(self) -> String {
        self.0
    }
}

/// Parses RFC 3339, or a date with or without a time; without a zone it is UTC.
pub(super) fn parse_time(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    let date_and_time = || format!("{}Z", text.replacen(' ', "T", 1)).parse();
    let without_seconds = || format!("{}:00Z", text.replacen(' ', "T", 1)).parse();
    let date_only = || format!("{text}T00:00:00Z").parse();
    text.parse().or_else(|_| date_and_time()).or_else(|_| without_seconds()).or_else(|_| date_only()).ok()
}

/// Parses the usual names of priorities; unknown ones are P2.
pub(super) fn parse_priority(word: &str) -> Priority {
    match word.trim().to_lowercase().as_str() {
        "critical" | "urgent" | "highest" | "p0" | "0" => Priority::P0,
        "high" | "p1" | "1" => Priority::P1,
        "low" | "lowest" | "p3" | "p4" | "3" | "4" | "backlog" => Priority::P3,
        _ => Priority::P2,
    }
}

/// The string or number under a key, or an empty string.
pub(super) fn text(row: &Map<String, Value>, key: &str) -> String {
    row.get(key).map(as_text).unwrap_or_default()
}

pub(super) fn as_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => String::new(),
    }
}

/// The objects of a list under a key.
pub(super) fn objects<'a>(
    row: &'a Map<String, Value>,
    key: &str,
) -> impl Iterator<Item = &'a Map<String, Value>> {
    row.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object)
}

/// The strings and numbers of a list under a key.
pub(super) fn texts(row: &Map<String, Value>, key: &str) -> Vec<String> {
    row.get(key).and_then(Value::as_array).into_iter().flatten().map(as_text).collect()
}

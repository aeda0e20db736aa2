//! One task as another tool had it, and all that was found.

use baton_core::base::priority::Priority;
use baton_core::base::time::Timestamp;
use baton_core::transition::arrival::ImportedState;
use serde_json::{Map, Value};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// What it is called over there.
    pub name: String,
    pub title: String,
    pub text: String,
    pub priority: Priority,
    pub arrival: ImportedState,
    /// The names of what it waits on.
    pub waits_on: Vec<String>,
    pub created_at: Option<Timestamp>,
}

/// Everything one tool had.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// Which collection of that tool it is; names are unique within it.
    pub origin: String,
    pub items: Vec<Item>,
    /// What was left out, in words for the person.
    pub left_out: Vec<String>,
}

/// A description put together from the parts another tool keeps apart. Nothing of it is lost, nothing blank stays.
#[derive(Debug, Default)]
pub struct Text(String);

impl Text {
    pub fn new(lead: &str) -> Self {
        Self(lead.trim().to_owned())
    }

    /// A part under its heading.
    pub fn section(mut self, heading: &str, body: &str) -> Self {
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

    /// Small facts, each on a line of its own.
    pub fn facts<'a>(mut self, facts: impl IntoIterator<Item = (&'a str, String)>) -> Self {
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

    pub fn into_string(self) -> String {
        self.0
    }
}

/// A time as tools write it: RFC 3339, or a date with or without a time of day and no zone, which is read as UTC.
pub fn time(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    let date_and_time = || format!("{}Z", text.replacen(' ', "T", 1)).parse();
    let to_the_minute = || format!("{}:00Z", text.replacen(' ', "T", 1)).parse();
    let date_alone = || format!("{text}T00:00:00Z").parse();
    text.parse().or_else(|_| date_and_time()).or_else(|_| to_the_minute()).or_else(|_| date_alone()).ok()
}

/// Words for how much something matters, as people and tools write them.
pub fn priority(word: &str) -> Priority {
    match word.trim().to_lowercase().as_str() {
        "critical" | "urgent" | "highest" | "p0" | "0" => Priority::P0,
        "high" | "p1" | "1" => Priority::P1,
        "low" | "lowest" | "p3" | "p4" | "3" | "4" | "backlog" => Priority::P3,
        _ => Priority::P2,
    }
}

/// What stands under a key, as text; blank where there is nothing to show.
pub fn text(row: &Map<String, Value>, key: &str) -> String {
    row.get(key).map(as_text).unwrap_or_default()
}

pub fn as_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => String::new(),
    }
}

/// The objects of a list under a key.
pub fn objects<'a>(row: &'a Map<String, Value>, key: &str) -> impl Iterator<Item = &'a Map<String, Value>> {
    row.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object)
}

/// The single words of a list under a key.
pub fn words(row: &Map<String, Value>, key: &str) -> Vec<String> {
    row.get(key).and_then(Value::as_array).into_iter().flatten().map(as_text).collect()
}

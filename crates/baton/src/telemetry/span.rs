//! A piece of work that has ended, in the form a collector takes.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};
use tracing::field::{Field, Visit};

/// What was said of a span or an event, by name.
#[derive(Debug, Clone, Default)]
pub struct Fields(Map<String, Value>);

impl Fields {
    /// A text that is left out of what is sent beside the rest, because it has a place of its own.
    pub fn take(&mut self, name: &str) -> Option<Value> {
        self.0.remove(name)
    }

    fn attributes(&self) -> Vec<Value> {
        let typed = |value: &Value| match value {
            Value::Bool(value) => json!({ "boolValue": value }),
            // Whole numbers travel as text, as 64 bits do in this protocol.
            Value::Number(number) if number.is_f64() => json!({ "doubleValue": number }),
            Value::Number(number) => json!({ "intValue": number.to_string() }),
            Value::String(text) => json!({ "stringValue": text }),
            other => json!({ "stringValue": other.to_string() }),
        };
        self.0.iter().map(|(key, value)| json!({ "key": key, "value": typed(value) })).collect()
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.0.insert(field.name().to_owned(), Value::from(format!("{value:?}")));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), Value::from(value));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.0.insert(field.name().to_owned(), Value::from(value));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.0.insert(field.name().to_owned(), Value::from(value));
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.0.insert(field.name().to_owned(), Value::from(value));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.0.insert(field.name().to_owned(), Value::from(value));
    }
}

/// Something that happened meanwhile.
#[derive(Debug, Clone)]
pub struct Happening {
    pub at: SystemTime,
    pub name: String,
    pub fields: Fields,
}

#[derive(Debug, Clone)]
pub struct Span {
    /// 32 and 16 hex digits.
    pub trace_id: String,
    pub id: String,
    pub parent_id: Option<String>,
    pub name: &'static str,
    pub started: SystemTime,
    pub ended: SystemTime,
    pub fields: Fields,
    pub happenings: Vec<Happening>,
}

/// A span of a server, as the protocol counts kinds.
const KIND_SERVER: u32 = 2;
/// Not unset and not fine, as the protocol counts.
const STATUS_ERROR: u32 = 2;

impl Span {
    pub fn json(&self) -> Value {
        let happenings: Vec<Value> = self
            .happenings
            .iter()
            .map(|one| {
                json!({
                    "timeUnixNano": nanos(one.at),
                    "name": one.name,
                    "attributes": one.fields.attributes(),
                })
            })
            .collect();
        let has_failed = self.fields.0.get("status").and_then(Value::as_u64).is_some_and(|code| code >= 500);
        json!({
            "traceId": self.trace_id,
            "spanId": self.id,
            "parentSpanId": self.parent_id.clone().unwrap_or_default(),
            "name": self.name,
            "kind": KIND_SERVER,
            "startTimeUnixNano": nanos(self.started),
            "endTimeUnixNano": nanos(self.ended),
            "attributes": self.fields.attributes(),
            "events": happenings,
            "status": if has_failed { json!({ "code": STATUS_ERROR }) } else { json!({}) },
        })
    }
}

fn nanos(at: SystemTime) -> String {
    at.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos().to_string()
}

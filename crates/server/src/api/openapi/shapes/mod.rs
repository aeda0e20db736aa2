//! The shapes of requests and answers, by name. A test holds every real answer against them, key by key.

mod conversations;
mod machines;
mod other;
mod people;
mod plans;
mod questions;
mod reports;
mod requests;
mod sessions;
mod tasks;
mod tools;
mod words;

use serde_json::{Map, Value, json};

pub fn refer(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

/// Whether a body of this shape may be left out.
pub fn may_be_empty(name: &str) -> bool {
    all().get(name).is_some_and(|shape| shape.get("required").is_none())
}

pub fn all() -> Map<String, Value> {
    [
        words::shapes(),
        plans::shapes(),
        requests::shapes(),
        tasks::shapes(),
        questions::shapes(),
        reports::shapes(),
        sessions::shapes(),
        tools::shapes(),
        conversations::shapes(),
        machines::shapes(),
        other::shapes(),
        people::shapes(),
    ]
    .into_iter()
    .flatten()
    .map(|(name, shape)| (name.to_owned(), shape))
    .collect()
}

type Shapes = Vec<(&'static str, Value)>;

/// An object; names that end in `?` may be absent.
fn object(fields: &[(&str, Value)]) -> Value {
    let required: Vec<&str> =
        fields.iter().map(|(name, _)| *name).filter(|name| !name.ends_with('?')).collect();
    let properties: Map<String, Value> =
        fields.iter().map(|(name, shape)| (name.trim_end_matches('?').to_owned(), shape.clone())).collect();
    let mut shape = json!({ "type": "object", "properties": properties });
    if !required.is_empty() {
        shape["required"] = json!(required);
    }
    shape
}

/// A request takes nothing it does not know.
fn request(fields: &[(&str, Value)]) -> Value {
    let mut shape = object(fields);
    shape["additionalProperties"] = json!(false);
    shape
}

fn text() -> Value {
    json!({ "type": "string" })
}

/// A text that says something.
fn said() -> Value {
    json!({ "type": "string", "minLength": 1, "pattern": "\\S" })
}

fn flag() -> Value {
    json!({ "type": "boolean" })
}

fn count() -> Value {
    json!({ "type": "integer", "minimum": 0 })
}

fn time() -> Value {
    json!({ "type": "string", "format": "date-time" })
}

fn list(shape: &Value) -> Value {
    json!({ "type": "array", "items": shape })
}

fn or_null(shape: &Value) -> Value {
    json!({ "anyOf": [shape, { "type": "null" }] })
}

fn one_of(words: &[&str]) -> Value {
    json!({ "type": "string", "enum": words })
}

/// Whatever else it says depends on its kind.
fn open(mut shape: Value) -> Value {
    shape["additionalProperties"] = json!(true);
    shape
}

fn page(name: &str, items: &str) -> Value {
    object(&[(name, list(&refer(items))), ("next_cursor", or_null(&text()))])
}

fn id(prefix: &str, digits: u32) -> Value {
    json!({ "type": "string", "pattern": format!("^{prefix}[0-9a-f]{{{digits}}}$") })
}

/// A place in a list: a time in milliseconds, and the key of what stands there.
fn cursor(key: &str) -> Value {
    json!({ "type": "string", "pattern": format!("^[0-9]{{1,15}}~{key}$") })
}

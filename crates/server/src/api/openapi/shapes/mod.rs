//! Schemas of types of core and the engine, which do not derive theirs, and of the lists that hold them. A test checks
//! every real response against them, key by key.

mod conversations;
mod landing;
mod machines;
mod other;
mod plans;
mod questions;
mod reports;
mod runs;
mod sessions;
mod tasks;
mod tools;

use schemars::generate::SchemaGenerator;
use serde_json::{Map, Value, json};

use crate::api::views::group::GroupView;
use crate::api::views::recipe::RecipeView;
use crate::mcp::ToolSpec;
use crate::schema::{AddSchema, refer};

/// Types that the shapes here refer to.
pub(crate) const VIEWS: [AddSchema; 3] = [
    SchemaGenerator::subschema_for::<GroupView>,
    SchemaGenerator::subschema_for::<RecipeView>,
    SchemaGenerator::subschema_for::<ToolSpec>,
];

pub(crate) fn all() -> Map<String, Value> {
    [
        plans::shapes(),
        tasks::shapes(),
        questions::shapes(),
        reports::shapes(),
        runs::shapes(),
        sessions::shapes(),
        tools::shapes(),
        conversations::shapes(),
        landing::shapes(),
        machines::shapes(),
        other::shapes(),
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

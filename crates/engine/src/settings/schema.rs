//! The JSON Schema of the settings, derived from their types, and what is read from it: which keys exist.

use std::path::Path;
use std::sync::LazyLock;

use baton_core::base::text::nearest;
use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value};

use crate::settings::{Settings, SettingsError};

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<Settings>().to_value()
});

/// The schema of the settings file.
pub fn schema() -> &'static Value {
    &SCHEMA
}

/// `checks`, whose type has a deserializer of its own.
pub(super) fn checks(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "anyOf": [
            { "type": "array", "items": { "type": "string" } },
            { "type": "object", "additionalProperties": {
                "anyOf": [
                    { "type": "string" },
                    { "type": "array", "items": { "type": "string" } },
                    {
                        "type": "object",
                        "properties": {
                            "command": { "type": "array", "items": { "type": "string" } },
                            "task": { "type": "string" },
                            "timeout_seconds": { "type": "integer", "minimum": 1 }
                        },
                        "additionalProperties": false
                    }
                ]
            } }
        ]
    })
}

/// The path of every setting that is not inside a table with names of the user's choice.
pub(crate) fn leaves() -> Vec<Vec<&'static str>> {
    let mut leaves = Vec::new();
    add_leaves(schema(), &mut Vec::new(), &mut leaves);
    leaves
}

fn add_leaves<'a>(schema: &'a Value, path: &mut Vec<&'a str>, leaves: &mut Vec<Vec<&'a str>>) {
    for (key, inner) in properties(schema).into_iter().flatten() {
        path.push(key);
        if properties(inner).is_some() {
            add_leaves(inner, path, leaves);
        } else if !accepts_table(inner) {
            leaves.push(path.clone());
        }
        path.pop();
    }
}

fn properties(schema: &Value) -> Option<&Map<String, Value>> {
    schema.get("properties")?.as_object()
}

fn accepts_table(schema: &Value) -> bool {
    let alternatives = schema.get("anyOf").and_then(Value::as_array);
    schema["type"] == "object" || alternatives.into_iter().flatten().any(accepts_table)
}

/// Fails at the first key that is not a setting.
pub(super) fn check_keys(table: &toml::Table, path: &Path) -> Result<(), SettingsError> {
    check_table(table, schema(), &mut Vec::new(), path)
}

fn check_table(
    table: &toml::Table,
    schema: &Value,
    parents: &mut Vec<String>,
    path: &Path,
) -> Result<(), SettingsError> {
    for (key, value) in table {
        let known = properties(schema);
        let inner = match known {
            Some(known) => known.get(key).ok_or_else(|| SettingsError::UnknownKey {
                path: path.to_owned(),
                table: table_name(parents),
                key: key.clone(),
                hint: nearest(key, known.keys().map(String::as_str)).map(str::to_owned),
            })?,
            None => &schema["additionalProperties"],
        };
        if let toml::Value::Table(nested) = value {
            parents.push(key.clone());
            check_table(nested, inner, parents, path)?;
            parents.pop();
        }
    }
    Ok(())
}

fn table_name(parents: &[String]) -> String {
    if parents.is_empty() { "the file".to_owned() } else { format!("[{}]", parents.join(".")) }
}

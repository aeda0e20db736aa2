//! JSON schemas, derived from the Rust types of requests, responses and tool inputs.
//!
//! [`words`] describes the single values those types are made of. Nothing here knows a route or a tool.

pub(crate) mod words;

use schemars::generate::{Contract, SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

/// Where an `OpenAPI` document keeps its schemas.
const COMPONENTS: &str = "/components/schemas";

/// A reference to a schema of the `OpenAPI` document.
pub(crate) fn refer(name: &str) -> Value {
    json!({ "$ref": format!("#{COMPONENTS}/{name}") })
}

/// A type's schema, added to the definitions of a generator.
pub(crate) type AddSchema = fn(&mut SchemaGenerator) -> Schema;

/// Collects the schemas of types for an `OpenAPI` document. Requests and responses differ in which fields are required.
pub(crate) struct Components {
    requests: SchemaGenerator,
    responses: SchemaGenerator,
}

impl Default for Components {
    fn default() -> Self {
        let generator = |contract: Contract| {
            let settings = SchemaSettings::draft2020_12().with(|settings| {
                settings.definitions_path = COMPONENTS.into();
                settings.meta_schema = None;
                settings.contract = contract;
            });
            settings.into_generator()
        };
        Self { requests: generator(Contract::Deserialize), responses: generator(Contract::Serialize) }
    }
}

impl Components {
    pub(crate) fn add_request(&mut self, add: AddSchema) {
        add(&mut self.requests);
    }

    pub(crate) fn add_response(&mut self, add: AddSchema) {
        add(&mut self.responses);
    }

    /// All schemas by name.
    pub(crate) fn into_schemas(mut self) -> Map<String, Value> {
        let mut schemas = self.requests.take_definitions(true);
        schemas.extend(self.responses.take_definitions(true));
        schemas
    }
}

/// The schema of a tool's input: self-contained, and without `null`, which counts as absent.
pub(crate) fn tool_input<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    if let Some(fields) = schema.as_object_mut() {
        fields.remove("title");
        fields.remove("description");
        fields.entry("properties").or_insert_with(|| json!({}));
        fields.entry("required").or_insert_with(|| json!([]));
    }
    remove_null(&mut schema);
    schema
}

/// Some MCP clients reject types with alternatives, so optional values are described by their type alone.
fn remove_null(schema: &mut Value) {
    if let Some(kinds) = schema.get_mut("type")
        && let Some(first) = kinds.as_array().and_then(|kinds| kinds.iter().find(|kind| *kind != "null"))
    {
        *kinds = first.clone();
    }
    if let Some(choices) = schema["anyOf"].as_array()
        && let Some(Value::Object(only)) = choices.iter().find(|choice| choice["type"] != "null").cloned()
        && let Some(fields) = schema.as_object_mut()
    {
        fields.remove("anyOf");
        fields.extend(only);
    }
    if let Some(values) = schema.get_mut("enum").and_then(Value::as_array_mut) {
        values.retain(|value| !value.is_null());
    }
    if let Some(fields) = schema.as_object_mut() {
        fields.remove("default");
        fields.remove("format");
        if let Some(properties) = fields.get_mut("properties").and_then(Value::as_object_mut) {
            properties.values_mut().for_each(remove_null);
        }
        if let Some(items) = fields.get_mut("items") {
            remove_null(items);
        }
    }
}

//! The JSON Schema of a recipe file, for editors. The check itself is core's; a test holds the two together.

use baton_core::recipe::{GUARDRAIL_MAX, OUTCOMES_PER_STEP_MAX, PROMPT_BYTES_MAX, STEPS_MAX, TEXT_BYTES_MAX};
use serde_json::{Value, json};

/// What a name may look like.
const NAME: &str = "^[a-z0-9][a-z0-9_-]{0,63}$";

pub fn schema() -> Value {
    let text = json!({ "type": "string", "minLength": 1, "maxLength": TEXT_BYTES_MAX });
    let name = json!({ "type": "string", "pattern": NAME });
    let limit = |default: u32| json!({ "type": "integer", "minimum": 1, "maximum": GUARDRAIL_MAX, "default": default });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Baton recipe",
        "description": "A workflow of steps: what the agent is told, what it may report, and where that leads.",
        "type": "object",
        "additionalProperties": false,
        "required": ["id", "label", "description", "initial_step", "steps"],
        "properties": {
            "id": name,
            "label": text,
            "description": text,
            "initial_step": name,
            "takes_task": { "type": "boolean", "default": false,
                "description": "Work on the next ready task of the queue, where there is one." },
            "guardrails": {
                "type": "object",
                "additionalProperties": false,
                "properties": { "max_step_visits": limit(3), "max_total_steps": limit(100) }
            },
            "steps": {
                "type": "object",
                "minProperties": 1,
                "maxProperties": STEPS_MAX,
                "propertyNames": { "pattern": NAME },
                "additionalProperties": { "$ref": "#/$defs/step" }
            }
        },
        "$defs": { "step": step(&text, &name), "transition": transition(&name) }
    })
}

fn step(text: &Value, name: &Value) -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["prompt", "outcomes", "on_outcome"],
        "properties": {
            "prompt": { "type": "string", "minLength": 1, "maxLength": PROMPT_BYTES_MAX },
            "outcomes": { "type": "array", "items": name, "uniqueItems": true,
                "minItems": 1, "maxItems": OUTCOMES_PER_STEP_MAX },
            "on_outcome": { "type": "object", "propertyNames": { "pattern": NAME }, "minProperties": 1,
                "maxProperties": OUTCOMES_PER_STEP_MAX, "additionalProperties": { "$ref": "#/$defs/transition" } },
            "default_outcome": { "$ref": "#/properties/id",
                "description": "Counts as reported when the agent reports nothing." },
            "fresh": { "type": "boolean", "default": false,
                "description": "An agent session of its own, without what was said before." },
            "role": name,
            "model": text,
            "gate": {
                "type": "object",
                "additionalProperties": false,
                "required": ["question", "yes"],
                "properties": { "question": text, "yes": name, "no": name }
            }
        }
    })
}

fn transition(name: &Value) -> Value {
    let form = |key: &str, value: Value| json!({ "type": "object", "additionalProperties": false, "required": [key], "properties": { key: value } });
    json!({ "oneOf": [
        form("next_step", name.clone()),
        form("exit", json!({ "type": "string", "minLength": 1, "maxLength": 200 })),
        form("restart_new_session", json!({ "const": true }))
    ] })
}

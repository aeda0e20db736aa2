//! The JSON Schema of recipe files, for editors. It is written by hand because core reads recipes as drafts that accept
//! any value, in order to report every error with its position. A test checks that it accepts what core accepts.

use baton_core::recipe::{GUARDRAIL_MAX, OUTCOMES_PER_STEP_MAX, PROMPT_BYTES_MAX, STEPS_MAX, TEXT_BYTES_MAX};
use serde_json::{Value, json};

const NAME: &str = "^[a-z0-9][a-z0-9_-]{0,63}$";

pub fn schema() -> Value {
    let text = json!({ "type": "string", "minLength": 1, "maxLength": TEXT_BYTES_MAX });
    let name = json!({ "type": "string", "pattern": NAME });
    let limit = |default: u32| json!({ "type": "integer", "minimum": 1, "maximum": GUARDRAIL_MAX, "default": default });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Baton recipe",
        "description": "A workflow of steps: the prompt of each, the outcomes an agent may report, and the transition for each outcome.",
        "type": "object",
        "additionalProperties": false,
        "required": ["id", "label", "description", "initial_step", "steps"],
        "properties": {
            "id": name,
            "label": text,
            "description": text,
            "initial_step": name,
            "takes_task": { "type": "boolean", "default": false,
                "description": "Work on the next ready task of the queue, if there is one." },
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
                "description": "Used if the agent reports no outcome." },
            "fresh": { "type": "boolean", "default": false,
                "description": "Start a new agent session, without the conversation so far." },
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

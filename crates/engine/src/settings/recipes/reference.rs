//! `docs/reference/recipe-files.md`, generated from the schema.

use std::fmt::Write;

use serde_json::Value;

use crate::kept_page::holds;
use crate::settings::recipes::schema;

#[test]
fn reference_of_recipes_is_what_the_code_says() {
    let text = format!(
        "# Recipe files\n\n<!-- Written by `scripts/reference` from crates/engine/src/settings/recipes/schema.rs. Do not edit. -->\n\n\
         `.agent/recipes/*.yml`, one recipe in each. What they are for, and an example: [recipes](../recipes.md).\n\
         `baton recipe schema` prints the schema below for your editor; `baton recipe check` names every fault with file, line\n\
         and column, and [the error codes](errors.md#recipe-file-errors) explain each kind of fault.\n\n{}\n\
         ## JSON Schema\n\n```json\n{}\n```\n",
        fields(),
        serde_json::to_string_pretty(&schema()).unwrap()
    );
    holds("reference/recipe-files.md", &text);
}

/// The fields of a recipe and of its steps, from the schema.
fn fields() -> String {
    let schema = schema();
    let mut text = String::new();
    for (title, at) in
        [("A recipe", ""), ("A step", "/$defs/step"), ("A gate", "/$defs/step/properties/gate")]
    {
        let of = schema.pointer(at).unwrap();
        let required: Vec<&str> =
            of["required"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        let _ = writeln!(text, "## {title}\n\n| field | needed | form |\n| --- | --- | --- |");
        for (name, form) in of["properties"].as_object().unwrap() {
            let needed = if required.contains(&name.as_str()) { "yes" } else { "" };
            let _ = writeln!(text, "| `{name}` | {needed} | {} |", form_of(name, form));
        }
        text.push('\n');
    }
    text.push_str(
        "## A transition\n\nExactly one of `next_step: NAME`, `exit: REASON` and `restart_new_session: true`.\n",
    );
    text
}

fn form_of(name: &str, form: &Value) -> String {
    let told = match (name, form["type"].as_str()) {
        ("steps", _) => "a table: the step's name and the step".to_owned(),
        ("on_outcome", _) => "a table: each outcome and its transition".to_owned(),
        ("guardrails", _) => {
            "`max_step_visits` (3 unless you say otherwise) and `max_total_steps` (100)".to_owned()
        }
        ("gate", _) => "see below".to_owned(),
        (_, Some("array")) => "a list of names".to_owned(),
        (_, Some("boolean")) => "true or false".to_owned(),
        (_, Some("string")) if form.get("pattern").is_some() => "a name".to_owned(),
        (_, Some("string")) => format!("a text, {} bytes at most", form["maxLength"]),
        _ => "a name".to_owned(),
    };
    form["description"].as_str().map_or_else(|| told.clone(), |said| format!("{told}. {said}"))
}

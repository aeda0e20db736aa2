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
        let _ = writeln!(text, "## {title}\n\n| field | required | form |\n| --- | --- | --- |");
        for (name, form) in of["properties"].as_object().unwrap() {
            let required_text = if required.contains(&name.as_str()) { "yes" } else { "" };
            let _ = writeln!(text, "| `{name}` | {required_text} | {} |", describe_field(name, form));
        }
        text.push('\n');
    }
    text.push_str(
        "## A transition\n\nExactly one of `next_step: NAME`, `exit: REASON` and `restart_new_session: true`.\n",
    );
    text
}

fn describe_field(name: &str, form: &Value) -> String {
    let kind = match (name, form["type"].as_str()) {
        ("steps", _) => "mapping from names to steps".to_owned(),
        ("on_outcome", _) => "mapping from outcomes to transitions".to_owned(),
        ("guardrails", _) => "`max_step_visits` (default 3) and `max_total_steps` (default 100)".to_owned(),
        ("gate", _) => "see below".to_owned(),
        (_, Some("array")) => "list of names".to_owned(),
        (_, Some("boolean")) => "boolean".to_owned(),
        (_, Some("string")) if form.get("pattern").is_some() => "name".to_owned(),
        (_, Some("string")) => format!("text, at most {} bytes", form["maxLength"]),
        _ => "name".to_owned(),
    };
    form["description"].as_str().map_or_else(|| kind.clone(), |text| format!("{kind}. {text}"))
}

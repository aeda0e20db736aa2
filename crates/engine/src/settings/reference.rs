//! `docs/reference/configuration.md`, generated from the schema of the settings.

use std::fmt::Write;

use serde_json::Value;

use crate::kept_page::holds;
use crate::settings::schema::schema;

const INTRO: &str = "# Configuration\n\n\
<!-- Written by `scripts/reference` from crates/engine/src/settings. Do not edit. -->\n\n\
Settings come from flags, then `BATON_*` variables, then `.agent/baton.toml` in the repository, then\n\
`~/.config/baton/config.toml`, then the defaults. `baton config` shows each value and where it came from. An unknown key\n\
is an error that suggests the nearest known one. `baton init` writes a commented file to start from.\n";

const OTHER_VARIABLES: &str = "\n## Other variables\n\n| variable | meaning |\n| --- | --- |\n\
| `BATON_ROOT`, `BATON_STATE_DIR`, `BATON_NAMESPACE`, `BATON_STORE` | as the flags of the same name, see [the command line](cli.md) |\n\
| `BATON_SERVER_TOKEN` | the token that clients of `baton up` must send |\n\
| `BATON_LOG` | how much `baton up` and `baton worker` log on standard error: a level such as `debug`, or a list such as `info,baton_engine=debug`; see [monitoring](../guides/monitoring.md) |\n\
| `BATON_LOG_FORMAT` | `text` or `json`, as `--log-format` of `baton up` and `baton worker` |\n\
| `BATON_USER` | the name your decisions are recorded under; else `USER` |\n";

/// The sections of the page in reading order: the table, the path of its keys, and what to add to its description.
const SECTIONS: [(&str, &str, &str); 17] = [
    ("", "", "Keys at the top of the file."),
    ("agents", "agents.NAME", "See [agents](../agents.md)."),
    ("accounts", "accounts.NAME", "See [agents](../agents.md#accounts)."),
    ("roles", "roles.NAME", ""),
    ("asking", "asking", "See [asking](../asking.md)."),
    ("notify", "notify", "See [notifications](../guides/notifications.md)."),
    ("worktree", "worktree", ""),
    ("hooks", "hooks", "See [several agents](../guides/several-agents.md#hooks)."),
    ("room", "room", "See [several agents](../guides/several-agents.md#room-on-the-machine)."),
    ("budgets", "budgets.SCOPE", "SCOPE is `task`, `project` or `day`. See [agents](../agents.md#budgets)."),
    ("progress", "progress", "See [agents](../agents.md#agents-that-get-nowhere)."),
    (
        "projects",
        "projects.NAME",
        "NAME is the id of the project. See [user tasks](../user-tasks.md#checks-and-set-up).",
    ),
    ("recycle", "recycle", "`recycle = \"MODE\"` sets the mode alone."),
    ("retention", "retention", ""),
    ("user_tasks", "user_tasks", "See [user tasks](../user-tasks.md)."),
    ("telemetry", "telemetry", ""),
    ("person", "person", ""),
];

fn page() -> String {
    let mut text = INTRO.to_owned();
    for (table, path, link) in SECTIONS {
        let (schema, title) = match table {
            "" => (schema(), "General".to_owned()),
            _ => (&schema()["properties"][table], format!("`[{path}]`")),
        };
        let intro = if table.is_empty() { String::new() } else { description(schema) };
        let intro = [&*intro, link].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
        let _ = writeln!(
            text,
            "\n## {title}\n\n{intro}\n\n| key | type | default | meaning | variable |\n| --- | --- | --- | --- | --- |"
        );
        let keys = match path.split_once('.') {
            Some((_, "NAME")) => &schema["additionalProperties"],
            Some(_) => &schema["properties"]["task"],
            None => schema,
        };
        for (key, setting) in keys["properties"].as_object().unwrap() {
            if SECTIONS.iter().all(|(table, ..)| table != key) || !table.is_empty() {
                text.push_str(&row(key, setting, path));
            }
        }
    }
    text + OTHER_VARIABLES
}

fn row(key: &str, setting: &Value, path: &str) -> String {
    let full = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    let default = match &setting["default"] {
        _ if full == "default_agent" => "–".to_owned(),
        Value::Null => "–".to_owned(),
        Value::Array(list) if list.is_empty() => "–".to_owned(),
        Value::Object(table) if table.is_empty() => "–".to_owned(),
        Value::String(text) => format!("`{text}`"),
        value => format!("`{value}`"),
    };
    let has_variable = !full.contains(".NAME.") && full != "checks" && setting["type"] != "object";
    let variable = if has_variable {
        format!("`BATON_{}`", full.replace('.', "_").to_uppercase())
    } else {
        "–".to_owned()
    };
    let meaning = description(setting) + &choices(setting);
    format!("| `{key}` | {} | {default} | {meaning} | {variable} |\n", type_name(setting))
}

fn description(schema: &Value) -> String {
    let text = schema["description"].as_str().unwrap_or_else(|| panic!("add a doc comment: {schema}"));
    text.replace('\n', " ")
}

/// The type in words. A value that may be absent is described by its type alone.
fn type_name(schema: &Value) -> String {
    match &*type_names(schema) {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

fn type_names(schema: &Value) -> Vec<String> {
    if let Some(values) = schema["enum"].as_array() {
        return values.iter().filter_map(Value::as_str).map(|word| format!("`{word}`")).collect();
    }
    if let Some(alternatives) = schema["anyOf"].as_array() {
        return alternatives.iter().flat_map(type_names).collect();
    }
    if let Some(values) = schema["oneOf"].as_array() {
        return values.iter().map(|value| format!("`{}`", word(value))).collect();
    }
    let kind = schema["type"].as_str().or_else(|| schema["type"][0].as_str()).unwrap();
    vec![match kind {
        "array" => format!("list of {}s", type_name(&schema["items"])),
        "object" => "a table".to_owned(),
        kind => kind.to_owned(),
    }]
}

/// What each value of an enumeration means, from its own doc comment.
fn choices(schema: &Value) -> String {
    let values = schema["oneOf"].as_array().into_iter().flatten();
    let meanings: Vec<String> =
        values.map(|value| format!("`{}`: {}", word(value), description(value))).collect();
    if meanings.is_empty() { String::new() } else { format!(" {}.", meanings.join("; ")) }
}

fn word(value: &Value) -> &str {
    value["const"].as_str().unwrap()
}

#[test]
fn reference_has_every_table() {
    for (key, setting) in schema()["properties"].as_object().unwrap() {
        let is_table = setting.get("properties").is_some() || setting.get("additionalProperties").is_some();
        let has_section = SECTIONS.iter().any(|(table, ..)| table == key);
        assert_eq!(is_table, has_section, "{key} has a section of the page exactly if it is a table");
    }
}

#[test]
fn reference_of_the_configuration_is_what_the_code_says() {
    holds("reference/configuration.md", &page());
}

//! Writes `docs/reference/rest.md` from the `OpenAPI` document.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::Value;

use crate::api::openapi::document;
use crate::kept_page::holds;

const INTRO: &str = "# REST\n\n\
<!-- Written by `scripts/reference` from the routes in crates/server. Do not edit. -->\n\n\
`baton up` serves these calls; `GET /api/openapi.json` describes them as OpenAPI 3.1. Keys are snake_case, times are\n\
RFC 3339 in UTC. Every example below is a real response.\n\n\
- **Errors** are `{\"error\": CODE, \"message\": …, \"hint\": …}`; `reason`, if present, names the exact case.\n  \
  See [error codes](errors.md) or `baton explain`.\n\
- **Lists** are paged: pass `limit`, and as `cursor` the `next_cursor` of the previous page.\n\
- **`Idempotency-Key`**, of your choice, on calls that create something: for 24 hours, repeating one with the same key and body\n  \
  returns the first response; with another body it is refused. A token needs none: its name exists once.\n\
- **A token** is needed if the server listens on more than loopback: `Authorization: Bearer TOKEN`. Requests from pages of\n  \
  other origins and with other host names are refused.\n\
- **Events** are a durable log: `GET /api/events?after=SEQ` streams it from any sequence number; `Last-Event-ID` resumes it.\n";

/// Section titles, by the path segment after `/api/`.
fn title(group: &str) -> &str {
    match group {
        "task-groups" => "Task groups",
        "user-tasks" => "User tasks",
        "openapi.json" => "OpenAPI document",
        other => other,
    }
}

fn page() -> String {
    let document = document();
    let mut groups: BTreeMap<String, Vec<(String, String, &Value)>> = BTreeMap::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        let group = path.trim_start_matches("/api/").split('/').next().unwrap().to_owned();
        for (method, operation) in methods.as_object().unwrap() {
            groups.entry(group.clone()).or_default().push((path.clone(), method.to_uppercase(), operation));
        }
    }
    let mut text = INTRO.to_owned();
    for (group, calls) in groups {
        let mut heading = title(&group).to_owned();
        heading[..1].make_ascii_uppercase();
        let _ = writeln!(text, "\n## {heading}");
        for (path, method, operation) in calls {
            let _ = writeln!(text, "\n### `{method} {path}`\n\n{}.", sentence(operation));
            parameters(&mut text, operation);
            body(&mut text, operation, &document);
            answer(&mut text, operation);
        }
    }
    text
}

fn sentence(operation: &Value) -> &str {
    operation["summary"].as_str().unwrap().trim_end_matches('.')
}

fn parameters(text: &mut String, operation: &Value) {
    let all = operation["parameters"].as_array().unwrap();
    let asked: Vec<&Value> = all.iter().filter(|one| one["in"] != "path").collect();
    if asked.is_empty() {
        return;
    }
    text.push_str("\n| parameter | in | type | description |\n| --- | --- | --- | --- |\n");
    for one in asked {
        let (name, place) = (one["name"].as_str().unwrap(), one["in"].as_str().unwrap());
        let _ = writeln!(
            text,
            "| `{name}` | {place} | {} | {} |",
            form(&one["schema"]),
            one["description"].as_str().unwrap()
        );
    }
}

fn body(text: &mut String, operation: &Value, document: &Value) {
    let content = &operation["requestBody"]["content"]["application/json"];
    let Some(name) = content["schema"]["$ref"].as_str() else { return };
    let shape = document.pointer(name.trim_start_matches('#')).unwrap();
    if shape["properties"].as_object().is_some_and(|fields| !fields.is_empty()) {
        text.push_str("\n| field | required | type | description |\n| --- | --- | --- | --- |\n");
        fields(text, "", shape, document);
    }
    if let Some(example) = content.get("example") {
        let _ = write!(text, "\n```json\n{}\n```\n", serde_json::to_string_pretty(example).unwrap());
    }
}

/// A row for each field, and for those of the objects in a list.
fn fields(text: &mut String, within: &str, shape: &Value, document: &Value) {
    let required: Vec<&str> =
        shape["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for (field, of) in shape["properties"].as_object().into_iter().flatten() {
        let needed = if required.contains(&field.as_str()) { "yes" } else { "" };
        let about = of["description"].as_str().unwrap_or_default().replace('\n', " ");
        let _ = writeln!(text, "| `{within}{field}` | {needed} | {} | {about} |", form(of));
        let item =
            of["items"]["$ref"].as_str().and_then(|name| document.pointer(name.trim_start_matches('#')));
        if let Some(item) = item.filter(|_| within.is_empty()) {
            fields(text, &format!("{field}[]."), item, document);
        }
    }
}

/// A short description of a schema.
fn form(shape: &Value) -> String {
    if let Some(name) = shape["$ref"].as_str() {
        return name.rsplit('/').next().unwrap().to_owned();
    }
    if let Some(several) = shape["anyOf"].as_array() {
        return several.iter().map(form).collect::<Vec<_>>().join(" or ");
    }
    if let Some(words) = shape["enum"].as_array() {
        return words
            .iter()
            .map(|word| format!("`{}`", word.as_str().unwrap_or("null")))
            .collect::<Vec<_>>()
            .join(", ");
    }
    let kinds: Vec<&str> = match &shape["type"] {
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        kind => kind.as_str().into_iter().collect(),
    };
    let describe = |kind: &&str| match *kind {
        "array" => format!("list of {}", form(&shape["items"])),
        "string" => "text".to_owned(),
        "integer" => "number".to_owned(),
        "boolean" => "true or false".to_owned(),
        other => other.to_owned(),
    };
    if kinds.is_empty() {
        return "anything".to_owned();
    }
    kinds.iter().map(describe).collect::<Vec<_>>().join(" or ")
}

fn answer(text: &mut String, operation: &Value) {
    for (status, answer) in operation["responses"].as_object().unwrap() {
        let Some(content) = answer["content"].as_object() else { continue };
        let Some((media_type, of)) = content.iter().next() else { continue };
        match (of.get("example"), media_type.as_str()) {
            (Some(example), _) => {
                let _ = write!(
                    text,
                    "\nReturns {status}, {}:\n\n```json\n{}\n```\n",
                    form(&of["schema"]),
                    serde_json::to_string_pretty(example).unwrap()
                );
            }
            (None, "text/event-stream") => {
                let _ =
                    write!(text, "\nReturns {status} with server-sent events, one per [event](events.md).\n");
            }
            (None, _) => {
                let _ = writeln!(text, "\nReturns {status}, {}.", form(&of["schema"]));
            }
        }
    }
}

#[test]
fn reference_of_the_api_is_current() {
    holds("reference/rest.md", &page());
}

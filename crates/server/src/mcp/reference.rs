//! Writes `docs/reference/mcp.md` from the tool catalog.

use std::fmt::Write;

use baton_core::people::toolset::{ToolClient, USER_TASK_TOOLS, tools_for};
use serde_json::Value;

use crate::kept_page::holds;
use crate::mcp::catalog::{SideEffects, ToolSpec};

const INTRO: &str = "# MCP tools\n\n\
<!-- Written by `scripts/reference` from crates/server/src/mcp/catalog.rs. Do not edit. -->\n\n\
`baton mcp` on stdio, `/mcp` of the running server as streamable HTTP. [Tools for agents](../tools.md) describes who is offered\n\
what, and how asking works. *Attempt* is an agent started by Baton, identified by its token; *breakdown* one that\n\
plans; *you* your own client, for some tools only with `baton mcp --allow`. The last two tools are offered exactly while `.agent/Taskfile.yml` exists.\n";

fn page() -> String {
    let mut text = INTRO.to_owned();
    let person = |powers: &str| tools_for(ToolClient::Person { powers: powers.parse().unwrap() }, true);
    let breakdown = tools_for(ToolClient::Attempt { is_breakdown: true }, true);
    let attempt = tools_for(ToolClient::Attempt { is_breakdown: false }, true);
    let own = person("answer,accept").into_iter().filter(|name| !breakdown.contains(name));
    // The tools of user tasks come last.
    let (last, first) = breakdown.iter().partition::<Vec<&str>, _>(|name| USER_TASK_TOOLS.contains(name));
    for name in first.into_iter().chain(own).chain(last) {
        let spec = ToolSpec::find(name).unwrap();
        let mut offered = Vec::new();
        if attempt.contains(&name) {
            offered.push("an attempt");
        } else if breakdown.contains(&name) {
            offered.push("a breakdown");
        }
        if person("").contains(&name) {
            offered.push("you");
        } else if person("answer").contains(&name) {
            offered.push("you, with `--allow answer`");
        } else if person("accept").contains(&name) {
            offered.push("you, with `--allow accept`");
        }
        let touches = match spec.touches {
            SideEffects::Nothing => "Changes nothing.",
            SideEffects::Records => "Changes Baton's own records.",
            SideEffects::Anything => "Changes whatever the command changes.",
        };
        let _ = write!(
            text,
            "\n## `{name}`\n\n{}\n\nFor {}. {touches}\n",
            spec.description,
            offered.join(" and ")
        );
        arguments(&mut text, &spec.input_schema);
    }
    text
}

fn arguments(text: &mut String, schema: &Value) {
    let required: Vec<&str> =
        schema["required"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let properties = schema["properties"].as_object().unwrap();
    if properties.is_empty() {
        text.push_str("\nNo arguments.\n");
        return;
    }
    text.push_str("\n| argument | required | type | description |\n| --- | --- | --- | --- |\n");
    for (name, of) in properties {
        let needed = if required.contains(&name.as_str()) { "yes" } else { "" };
        let _ = writeln!(
            text,
            "| `{name}` | {needed} | {} | {} |",
            form(of),
            of["description"].as_str().unwrap_or_default()
        );
    }
    if let Some(items) = properties.get("items").map(|items| &items["items"]) {
        text.push_str(
            "\nEach of `items`:\n\n| field | required | type | description |\n| --- | --- | --- | --- |\n",
        );
        let required: Vec<&str> =
            items["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        for (name, of) in items["properties"].as_object().unwrap() {
            let needed = if required.contains(&name.as_str()) { "yes" } else { "" };
            let about = of["description"].as_str().unwrap_or_default();
            let _ = writeln!(text, "| `{name}` | {needed} | {} | {about} |", form(of));
        }
    }
}

fn form(of: &Value) -> String {
    if let Some(words) = of["enum"].as_array() {
        return words
            .iter()
            .filter_map(Value::as_str)
            .map(|word| format!("`{word}`"))
            .collect::<Vec<_>>()
            .join(", ");
    }
    match of["type"].as_str() {
        Some("array") if of["items"]["type"] == "object" => "list, see below".to_owned(),
        Some("array") => format!("list of {}s", form(&of["items"])),
        Some("string") => "text".to_owned(),
        Some("integer") => "number".to_owned(),
        other => other.unwrap_or("anything").to_owned(),
    }
}

#[test]
fn reference_of_the_tools_is_current() {
    holds("reference/mcp.md", &page());
}

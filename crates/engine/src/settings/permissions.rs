//! `permissions`: what an agent may do without asking.
//!
//! `permissions = "ask"`, or a table of command prefixes: `{ otherwise = "ask", allow = ["cargo "], deny = ["git push"] }`.
//! `deny` takes precedence over `ask`, and `ask` over `allow`. Baton's own tools need no permission; the attempt's token
//! decides what they may do.

use std::borrow::Cow;

use baton_agents::asking::permission::{
    PermissionDecision, PermissionPolicy, PermissionRequest, PermissionRule, PermissionRules,
};
use baton_agents::report::tool_call::ToolKind;
use baton_core::base::text::nearest;
use baton_core::people::toolset::{ToolClient, tools_for};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::json;

use crate::settings::error::did_you_mean;

/// The keys of the table.
const KEYS: [&str; 4] = ["otherwise", "allow", "ask", "deny"];
const WORDS: [&str; 3] = ["allow", "ask", "deny"];
/// The name of Baton's MCP server in the configuration of agents.
pub const SERVER_NAME: &str = "baton";
/// An entry with this prefix names a kind of tool instead of a command.
const KIND_PREFIX: &str = "kind:";
const KINDS: [ToolKind; 9] = [
    ToolKind::Read,
    ToolKind::Edit,
    ToolKind::Delete,
    ToolKind::Move,
    ToolKind::Search,
    ToolKind::Execute,
    ToolKind::Think,
    ToolKind::Fetch,
    ToolKind::Other,
];

/// None asks a person about everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PermissionSettings(Option<PermissionRules>);

impl PermissionSettings {
    /// These, or `other` if these are not set.
    pub fn or<'a>(&'a self, other: &'a Self) -> &'a Self {
        if self.0.is_some() { self } else { other }
    }

    /// Whether nothing is done without asking a person.
    pub fn ask_always(&self) -> bool {
        let Some(rules) = &self.0 else { return true };
        let allows = |decision: &PermissionDecision| matches!(decision, PermissionDecision::Allow);
        !allows(&rules.otherwise) && !rules.rules.iter().any(|rule| allows(&rule.decision))
    }

    pub fn policy(&self) -> AgentPolicy {
        let ask = || PermissionRules { rules: Vec::new(), otherwise: PermissionDecision::AskHuman };
        AgentPolicy(self.0.clone().unwrap_or_else(ask))
    }
}

impl JsonSchema for PermissionSettings {
    fn schema_name() -> Cow<'static, str> {
        "PermissionSettings".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let list = json!({ "type": "array", "items": { "type": "string" } });
        json_schema!({
            "anyOf": [
                { "enum": WORDS },
                { "type": "object", "additionalProperties": false,
                  "properties": { "otherwise": { "enum": WORDS }, "allow": list, "ask": list, "deny": list } }
            ],
            "default": "ask"
        })
    }
}

impl<'de> Deserialize<'de> for PermissionSettings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let rules = match toml::Value::deserialize(deserializer)? {
            toml::Value::String(word) => PermissionRules { rules: Vec::new(), otherwise: decision(&word)? },
            toml::Value::Table(table) => rules(&table)?,
            other => {
                return Err(D::Error::custom(format!(
                    "permissions must be \"allow\", \"ask\", \"deny\" or a table of {}, not {}",
                    KEYS.join(", "),
                    other.type_str()
                )));
            }
        };
        Ok(Self(Some(rules)))
    }
}

fn rules<E: serde::de::Error>(table: &toml::Table) -> Result<PermissionRules, E> {
    if let Some(unknown) = table.keys().find(|key| !KEYS.contains(&key.as_str())) {
        let hint = did_you_mean(nearest(unknown, KEYS));
        return Err(E::custom(format!("permissions has no setting \"{unknown}\"{hint}")));
    }
    let mut rules = Vec::new();
    for (key, decision) in [
        ("deny", PermissionDecision::Deny),
        ("ask", PermissionDecision::AskHuman),
        ("allow", PermissionDecision::Allow),
    ] {
        for entry in table.get(key).and_then(toml::Value::as_array).into_iter().flatten() {
            let text = entry.as_str().ok_or_else(|| E::custom(format!("{key} must be a list of strings")))?;
            rules.push(rule(text, decision)?);
        }
        if table.get(key).is_some_and(|value| !value.is_array()) {
            return Err(E::custom(format!("{key} must be a list of command prefixes")));
        }
    }
    let otherwise = match table.get("otherwise") {
        None => PermissionDecision::AskHuman,
        Some(word) => decision(word.as_str().unwrap_or_default())?,
    };
    Ok(PermissionRules { rules, otherwise })
}

fn rule<E: serde::de::Error>(text: &str, decision: PermissionDecision) -> Result<PermissionRule, E> {
    let Some(name) = text.strip_prefix(KIND_PREFIX) else {
        if text.trim().is_empty() {
            return Err(E::custom("an empty prefix matches every command; use otherwise instead"));
        }
        return Ok(PermissionRule { kind: None, begins_with: Some(text.to_owned()), decision });
    };
    let kind = KINDS.into_iter().find(|kind| kind.as_str() == name).ok_or_else(|| {
        let names = KINDS.map(ToolKind::as_str);
        E::custom(format!("\"{name}\" is not a kind of tool ({})", names.join(", ")))
    })?;
    Ok(PermissionRule { kind: Some(kind), begins_with: None, decision })
}

fn decision<E: serde::de::Error>(word: &str) -> Result<PermissionDecision, E> {
    match word {
        "allow" => Ok(PermissionDecision::Allow),
        "ask" => Ok(PermissionDecision::AskHuman),
        "deny" => Ok(PermissionDecision::Deny),
        _ => Err(E::custom(format!("a permission is one of {}, not \"{word}\"", WORDS.join(", ")))),
    }
}

/// The rules of the settings; Baton's own tools are always allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentPolicy(PermissionRules);

impl PermissionPolicy for AgentPolicy {
    fn decide(&self, request: &PermissionRequest) -> PermissionDecision {
        if is_own_tool(&request.call.title) { PermissionDecision::Allow } else { self.0.decide(request) }
    }
}

/// Each agent formats the name of an MCP tool differently. The whole title must match: a command that only mentions a
/// tool is not one.
fn is_own_tool(title: &str) -> bool {
    let parts = title.split(|c: char| !c.is_ascii_alphanumeric()).filter(|part| !part.is_empty());
    let name = parts.collect::<Vec<_>>().join("_").to_lowercase();
    let name = name.strip_prefix("mcp_").unwrap_or(&name);
    let Some(name) = name.strip_prefix(SERVER_NAME).and_then(|rest| rest.strip_prefix('_')) else {
        return false;
    };
    let client = ToolClient::Attempt { is_breakdown: true };
    tools_for(client, true).contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use baton_agents::report::tool_call::ToolCall;

    fn parse(text: &str) -> Result<PermissionSettings, String> {
        #[derive(Deserialize)]
        struct File {
            permissions: PermissionSettings,
        }
        toml::from_str::<File>(text).map(|file| file.permissions).map_err(|error| error.message().to_owned())
    }

    fn decide(settings: &PermissionSettings, title: &str, input: &str) -> PermissionDecision {
        let call = ToolCall { id: "1".to_owned(), title: title.to_owned(), kind: ToolKind::Execute };
        settings.policy().decide(&PermissionRequest {
            call,
            input: input.to_owned(),
            can_be_remembered: false,
        })
    }

    #[test]
    fn deny_takes_precedence_over_allow() {
        let settings =
            parse("permissions = { otherwise = \"ask\", allow = [\"git \"], deny = [\"git push\"] }")
                .unwrap();
        for (input, decision) in [
            ("git commit -m x", PermissionDecision::Allow),
            ("git push", PermissionDecision::Deny),
            ("rm -r /", PermissionDecision::AskHuman),
        ] {
            assert_eq!(decide(&settings, "shell", input), decision, "{input}");
        }
        let kinds = parse("permissions = { allow = [\"kind:execute\"] }").unwrap();
        assert_eq!(decide(&kinds, "shell", "rm x"), PermissionDecision::Allow);
    }

    #[test]
    fn without_permissions_everything_is_asked_except_batons_own_tools() {
        let none = PermissionSettings::default();
        assert_eq!(decide(&none, "shell", "true"), PermissionDecision::AskHuman);
        for title in ["mcp__baton__report_outcome", "baton_ask_user", "baton: ask user", "baton__get_task"] {
            assert_eq!(decide(&none, title, "{}"), PermissionDecision::Allow, "{title}");
        }
        for title in
            ["echo baton_report_outcome", "baton_format_disk", "report_outcome; rm x", "mcp__x__get_task"]
        {
            assert_eq!(decide(&none, title, "{}"), PermissionDecision::AskHuman, "{title}");
        }
    }

    #[test]
    fn a_mistake_is_explained() {
        for (text, message) in [
            ("permissions = \"never\"", "a permission is one of allow, ask, deny, not \"never\""),
            ("permissions = { alow = [] }", "permissions has no setting \"alow\"; did you mean \"allow\"?"),
            (
                "permissions = { allow = [\"\"] }",
                "an empty prefix matches every command; use otherwise instead",
            ),
            (
                "permissions = 3",
                "permissions must be \"allow\", \"ask\", \"deny\" or a table of otherwise, allow, ask, deny, not integer",
            ),
        ] {
            assert_eq!(parse(text).unwrap_err(), message);
        }
    }
}

//! What an agent may do unasked: the settings' words, and the policy made of them.
//!
//! `permissions = "ask"`, or a table with the beginnings of commands: `{ otherwise = "ask", allow = ["cargo "],
//! deny = ["git push"] }`. What denies comes first, then what asks, then what allows. Baton's own tools need nobody's
//! permission: what they may do is decided by the attempt's token.

use std::collections::BTreeMap;

use baton_agents::asking::permission::{
    PermissionDecision, PermissionPolicy, PermissionRequest, PermissionRule, PermissionRules,
};
use baton_agents::report::tool_call::ToolKind;
use baton_core::base::text::nearest;
use baton_core::people::toolset::{ToolClient, tools_for};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The keys of the table.
const KEYS: [&str; 4] = ["otherwise", "allow", "ask", "deny"];
const WORDS: [&str; 3] = ["allow", "ask", "deny"];
/// How agents are told the name of Baton's server of tools.
pub const SERVER_NAME: &str = "baton";
/// An entry that begins so is about a kind of tool, and not about a command.
const KIND: &str = "kind:";
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

/// None is set: a human is asked about everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PermissionSettings(Option<PermissionRules>);

impl PermissionSettings {
    /// These, or where nothing is set the others.
    pub fn or<'a>(&'a self, others: &'a Self) -> &'a Self {
        if self.0.is_some() { self } else { others }
    }

    pub fn policy(&self) -> Policy {
        let ask = || PermissionRules { rules: Vec::new(), otherwise: PermissionDecision::AskHuman };
        Policy(self.0.clone().unwrap_or_else(ask))
    }
}

/// As it would be written down.
impl Serialize for PermissionSettings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Some(rules) = &self.0 else {
            return serializer.serialize_str(word(PermissionDecision::AskHuman));
        };
        if rules.rules.is_empty() {
            return serializer.serialize_str(word(rules.otherwise));
        }
        let mut table: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for rule in &rules.rules {
            let kind = rule.kind.map(|kind| format!("{KIND}{}", kind.as_str()));
            let text = rule.begins_with.clone().or(kind).unwrap_or_default();
            table.entry(word(rule.decision)).or_default().push(text);
        }
        table.insert("otherwise", vec![word(rules.otherwise).to_owned()]);
        table.serialize(serializer)
    }
}

const fn word(decision: PermissionDecision) -> &'static str {
    match decision {
        PermissionDecision::Allow => "allow",
        PermissionDecision::AskHuman => "ask",
        PermissionDecision::Deny => "deny",
    }
}

impl<'de> Deserialize<'de> for PermissionSettings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let rules = match toml::Value::deserialize(deserializer)? {
            toml::Value::String(word) => PermissionRules { rules: Vec::new(), otherwise: decision(&word)? },
            toml::Value::Table(table) => rules(&table)?,
            other => {
                return Err(D::Error::custom(format!(
                    "permissions is \"allow\", \"ask\", \"deny\" or a table of {}, not {}",
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
        let near = nearest(unknown, KEYS).map(|near| format!("; did you mean \"{near}\"?"));
        return Err(E::custom(format!(
            "permissions has no setting \"{unknown}\"{}",
            near.unwrap_or_default()
        )));
    }
    let mut rules = Vec::new();
    for (key, decision) in [
        ("deny", PermissionDecision::Deny),
        ("ask", PermissionDecision::AskHuman),
        ("allow", PermissionDecision::Allow),
    ] {
        for entry in table.get(key).and_then(toml::Value::as_array).into_iter().flatten() {
            let text = entry.as_str().ok_or_else(|| E::custom(format!("{key} is a list of texts")))?;
            rules.push(rule(text, decision)?);
        }
        if table.get(key).is_some_and(|value| !value.is_array()) {
            return Err(E::custom(format!("{key} is a list of the beginnings of commands")));
        }
    }
    let otherwise = match table.get("otherwise") {
        None => PermissionDecision::AskHuman,
        Some(word) => decision(word.as_str().unwrap_or_default())?,
    };
    Ok(PermissionRules { rules, otherwise })
}

fn rule<E: serde::de::Error>(text: &str, decision: PermissionDecision) -> Result<PermissionRule, E> {
    let Some(name) = text.strip_prefix(KIND) else {
        if text.trim().is_empty() {
            return Err(E::custom("an empty beginning fits every command; use otherwise for that"));
        }
        return Ok(PermissionRule { kind: None, begins_with: Some(text.to_owned()), decision });
    };
    let kind = KINDS.into_iter().find(|kind| kind.as_str() == name).ok_or_else(|| {
        let names = KINDS.map(ToolKind::as_str);
        E::custom(format!("there is no kind of tool \"{name}\"; the kinds are {}", names.join(", ")))
    })?;
    Ok(PermissionRule { kind: Some(kind), begins_with: None, decision })
}

fn decision<E: serde::de::Error>(word: &str) -> Result<PermissionDecision, E> {
    match word {
        "allow" => Ok(PermissionDecision::Allow),
        "ask" => Ok(PermissionDecision::AskHuman),
        "deny" => Ok(PermissionDecision::Deny),
        _ => Err(E::custom(format!("a permission is {}, not \"{word}\"", WORDS.join(", ")))),
    }
}

/// The rules of the settings, behind what needs no rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy(PermissionRules);

impl PermissionPolicy for Policy {
    fn decide(&self, request: &PermissionRequest) -> PermissionDecision {
        if is_own_tool(&request.call.title) { PermissionDecision::Allow } else { self.0.decide(request) }
    }
}

/// Each agent writes the name of a server's tool in its own way. The whole title has to be it: a command that only
/// mentions one is not one.
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

    fn read(text: &str) -> Result<PermissionSettings, String> {
        #[derive(Deserialize)]
        struct File {
            permissions: PermissionSettings,
        }
        toml::from_str::<File>(text).map(|file| file.permissions).map_err(|error| error.message().to_owned())
    }

    fn asked(settings: &PermissionSettings, title: &str, input: &str) -> PermissionDecision {
        let call = ToolCall { id: "1".to_owned(), title: title.to_owned(), kind: ToolKind::Execute };
        settings.policy().decide(&PermissionRequest {
            call,
            input: input.to_owned(),
            can_be_remembered: false,
        })
    }

    #[test]
    fn what_denies_comes_before_what_allows() {
        let settings =
            read("permissions = { otherwise = \"ask\", allow = [\"git \"], deny = [\"git push\"] }").unwrap();
        for (input, decision) in [
            ("git commit -m x", PermissionDecision::Allow),
            ("git push", PermissionDecision::Deny),
            ("rm -r /", PermissionDecision::AskHuman),
        ] {
            assert_eq!(asked(&settings, "shell", input), decision, "{input}");
        }
        let kinds = read("permissions = { allow = [\"kind:execute\"] }").unwrap();
        assert_eq!(asked(&kinds, "shell", "rm x"), PermissionDecision::Allow);
    }

    #[test]
    fn nothing_set_asks_about_everything_but_batons_own_tools() {
        let none = PermissionSettings::default();
        assert_eq!(asked(&none, "shell", "true"), PermissionDecision::AskHuman);
        for title in ["mcp__baton__report_outcome", "baton_ask_user", "baton: ask user", "baton__get_task"] {
            assert_eq!(asked(&none, title, "{}"), PermissionDecision::Allow, "{title}");
        }
        for title in
            ["echo baton_report_outcome", "baton_format_disk", "report_outcome; rm x", "mcp__x__get_task"]
        {
            assert_eq!(asked(&none, title, "{}"), PermissionDecision::AskHuman, "{title}");
        }
    }

    #[test]
    fn a_mistake_is_named() {
        for (text, message) in [
            ("permissions = \"never\"", "a permission is allow, ask, deny, not \"never\""),
            ("permissions = { alow = [] }", "permissions has no setting \"alow\"; did you mean \"allow\"?"),
            (
                "permissions = { allow = [\"\"] }",
                "an empty beginning fits every command; use otherwise for that",
            ),
            (
                "permissions = 3",
                "permissions is \"allow\", \"ask\", \"deny\" or a table of otherwise, allow, ask, deny, not integer",
            ),
        ] {
            assert_eq!(read(text).unwrap_err(), message);
        }
    }
}

//! The registry of the Agent Client Protocol: how agents that Baton has no table entry for are started. A file in its format
//! is read; nothing is downloaded.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Most agents in one file. The public registry has about a hundred.
const AGENTS_MAX: usize = 5_000;

/// One agent, as Baton keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegistryAgent {
    pub id: String,
    pub name: String,
    pub version: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Variables it is started with.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub set: BTreeMap<String, String>,
}

/// What could be read of a file, and what is wrong with the rest.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadRegistry {
    /// By id, in order.
    pub agents: Vec<RegistryAgent>,
    /// One line for each agent that was left out.
    pub faults: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    #[error("it is not JSON: {0}")]
    NotJson(#[from] serde_json::Error),
    #[error("it has no \"agents\", and is neither a list of agents nor one agent")]
    NoAgents,
    #[error("it has {0} agents, and at most {AGENTS_MAX} are read")]
    TooMany(usize),
}

#[derive(Deserialize)]
struct AgentEntry {
    id: String,
    name: String,
    version: String,
    distribution: Distribution,
}

#[derive(Deserialize)]
struct Distribution {
    npx: Option<PackageStart>,
    uvx: Option<PackageStart>,
    #[serde(default)]
    binary: BTreeMap<String, BinaryStart>,
}

#[derive(Deserialize)]
struct PackageStart {
    package: String,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct BinaryStart {
    cmd: String,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
}

/// Reads a registry (`{"agents": […]}`), a list of agents, or one agent. One that cannot be used does not keep the others out.
pub fn read(text: &str) -> Result<ReadRegistry, RegistryError> {
    let entries = match serde_json::from_str(text)? {
        Value::Array(entries) => entries,
        Value::Object(mut object) => match object.remove("agents") {
            Some(Value::Array(entries)) => entries,
            Some(_) => return Err(RegistryError::NoAgents),
            None if object.contains_key("id") => vec![Value::Object(object)],
            None => return Err(RegistryError::NoAgents),
        },
        _ => return Err(RegistryError::NoAgents),
    };
    if entries.len() > AGENTS_MAX {
        return Err(RegistryError::TooMany(entries.len()));
    }
    let mut found = ReadRegistry::default();
    let mut agents: BTreeMap<String, RegistryAgent> = BTreeMap::new();
    for (number, entry) in (1..).zip(entries) {
        let called = entry["id"].as_str().map_or_else(|| format!("agent {number}"), ToOwned::to_owned);
        match usable(entry) {
            Ok(agent) if agents.contains_key(&agent.id) => {
                found.faults.push(format!("{called}: it is there twice"));
            }
            Ok(agent) => drop(agents.insert(agent.id.clone(), agent)),
            Err(fault) => found.faults.push(format!("{called}: {fault}")),
        }
    }
    found.agents = agents.into_values().collect();
    Ok(found)
}

fn usable(entry: Value) -> Result<RegistryAgent, String> {
    let AgentEntry { id, name, version, distribution } =
        serde_json::from_value(entry).map_err(|error| error.to_string())?;
    let is_name = id.starts_with(|c: char| c.is_ascii_lowercase())
        && id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    if !is_name {
        return Err("its id has other characters than a–z, 0–9 and -".to_owned());
    }
    let (command, set) = start_of(distribution)?;
    if command.iter().chain(set.keys()).chain(set.values()).any(|word| word.contains('\0')) {
        return Err("its command contains a NUL".to_owned());
    }
    Ok(RegistryAgent { id, name, version, command, set })
}

/// A package is started as it is; a program has to be on PATH, since Baton installs nothing.
fn start_of(distribution: Distribution) -> Result<(Vec<String>, BTreeMap<String, String>), String> {
    let packaged = |runner: &[&str], package: PackageStart| {
        let words = runner.iter().map(|&word| word.to_owned()).chain([package.package]).chain(package.args);
        (words.collect(), package.env)
    };
    if let Some(package) = distribution.npx.filter(|package| is_word(&package.package)) {
        return Ok(packaged(&["npx", "-y"], package));
    }
    if let Some(package) = distribution.uvx.filter(|package| is_word(&package.package)) {
        return Ok(packaged(&["uvx"], package));
    }
    let mut binaries = distribution.binary;
    let target = format!("{}-{}", std::env::consts::OS.replace("macos", "darwin"), std::env::consts::ARCH);
    let binary = binaries.remove(&target).ok_or_else(|| format!("it has nothing to start on {target}"))?;
    let program = binary.cmd.rsplit(['/', '\\']).next().unwrap_or_default();
    if !is_word(program) {
        return Err("its command is empty".to_owned());
    }
    let command = [program.to_owned()].into_iter().chain(binary.args).collect();
    Ok((command, binary.env))
}

/// What starts with a dash would be an option of the program that runs it.
fn is_word(word: &str) -> bool {
    !word.trim().is_empty() && !word.starts_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn agent(id: &str, distribution: &Value) -> Value {
        json!({ "id": id, "name": id, "version": "1.2.3", "description": "d", "distribution": distribution })
    }

    #[test]
    fn each_way_to_distribute_an_agent_is_a_command() {
        let target = format!("{}-{}", std::env::consts::OS, std::env::consts::ARCH);
        let text = json!({ "version": "1.0.0", "agents": [
            agent("auggie", &json!({ "npx": { "package": "@a/auggie@1", "args": ["--acp"], "env": { "A": "1" } } })),
            agent("minion", &json!({ "uvx": { "package": "minion==2", "args": ["acp"] } })),
            agent("kilo", &json!({ "binary": { target: { "archive": "https://x", "cmd": "./bin/kilo", "args": ["acp"] } } })),
        ] });
        let found = read(&text.to_string()).unwrap();
        assert_eq!(found.faults, Vec::<String>::new());
        let commands: Vec<String> = found.agents.iter().map(|agent| agent.command.join(" ")).collect();
        assert_eq!(commands, ["npx -y @a/auggie@1 --acp", "kilo acp", "uvx minion==2 acp"]);
        assert_eq!(found.agents[0].set.get("A").map(String::as_str), Some("1"));
    }

    #[test]
    fn one_bad_agent_does_not_keep_the_others_out() {
        let text = json!([
            agent("good", &json!({ "npx": { "package": "good" } })),
            agent("good", &json!({ "npx": { "package": "other" } })),
            agent("Bad Name", &json!({ "npx": { "package": "x" } })),
            agent("option", &json!({ "npx": { "package": "--eval=evil" } })),
            agent("elsewhere", &json!({ "binary": { "plan9-mips": { "cmd": "x" } } })),
            json!({ "id": "half" }),
            json!(7),
        ]);
        let found = read(&text.to_string()).unwrap();
        assert_eq!(found.agents.len(), 1);
        assert_eq!(found.faults.len(), 6, "{:?}", found.faults);
        assert!(found.faults[0].contains("twice") && found.faults[1].contains("other characters"));
    }

    #[test]
    fn a_single_agent_is_read_and_anything_else_refused() {
        let one = agent("one", &json!({ "npx": { "package": "one" } })).to_string();
        assert_eq!(read(&one).unwrap().agents.len(), 1);
        for text in ["", "{", "7", "{}", "{\"agents\": 7}"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}

//! `baton agents`: the agents that are known by name, and how Baton learns more of them.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use baton_core::base::words::pluralize;
use baton_engine::settings::agent_registry::{self, ReadRegistry, RegistryAgent};
use baton_engine::settings::agents::{AgentSettings, known_names};
use serde_json::json;

use crate::cli::agents::AgentsCommand;
use crate::context::attempt::check_is_persons_file;
use crate::error::CliError;
use crate::options::GlobalOptions;
use crate::output;

/// Most of a file that is read; the public registry has a twentieth of it.
const FILE_BYTES_MAX: u64 = 8 << 20;

pub(crate) fn run(options: &GlobalOptions, command: &AgentsCommand) -> Result<String, CliError> {
    match command {
        AgentsCommand::List => list(options),
        AgentsCommand::Update { file } => update(options, file),
    }
}

fn unreadable(error: String) -> CliError {
    CliError::failed(error, "check the file, then run it again")
}

fn list(options: &GlobalOptions) -> Result<String, CliError> {
    let listed = agent_registry::load().map_err(unreadable)?;
    let names = known_names().map(|name| (name, "Baton"));
    let is_new = |agent: &&RegistryAgent| known_names().all(|name| name != agent.id);
    let more = listed.iter().filter(is_new).map(|agent| (agent.id.as_str(), "registry"));
    let known: Vec<(&str, &str, AgentSettings)> = names
        .chain(more)
        .filter_map(|(name, from)| AgentSettings::known(name).map(|settings| (name, from, settings)))
        .collect();
    if options.json {
        let agents: Vec<_> = known
            .iter()
            .map(|(name, from, agent)| {
                json!({ "name": name, "kind": agent.kind, "command": agent.command, "from": from.to_lowercase(),
                        "is_installed": agent.is_installed() })
            })
            .collect();
        return output::json(&json!({ "agents": agents }));
    }
    let rows: Vec<[String; 4]> = known
        .iter()
        .map(|(name, from, agent)| {
            let is_here = if agent.is_installed() { "yes" } else { "no" };
            [(*name).to_owned(), is_here.to_owned(), (*from).to_owned(), agent.command.join(" ")]
        })
        .collect();
    Ok(output::table(["NAME", "INSTALLED", "KNOWN FROM", "COMMAND"], &rows))
}

fn update(options: &GlobalOptions, file: &Path) -> Result<String, CliError> {
    let failed = |error: String| {
        CliError::usage(
            format!("{}: {error}", file.display()),
            "name a registry.json, or - for standard input",
        )
    };
    let path = agent_registry::path()
        .ok_or_else(|| CliError::failed("no home folder is known", "set HOME or XDG_CONFIG_HOME"))?;
    check_is_persons_file(&path)?;
    let ReadRegistry { agents, faults } =
        agent_registry::read(&text_of(file).map_err(failed)?).map_err(|error| failed(error.to_string()))?;
    if agents.is_empty() {
        return Err(failed(format!("no agent in it can be used. {}", faults.join("; "))));
    }
    let before: BTreeMap<String, RegistryAgent> = agent_registry::load()
        .unwrap_or_default()
        .into_iter()
        .map(|agent| (agent.id.clone(), agent))
        .collect();
    agent_registry::save(&path, &agents).map_err(unreadable)?;
    let added = agents.iter().filter(|agent| !before.contains_key(&agent.id)).count();
    let changed =
        agents.iter().filter(|agent| before.get(&agent.id).is_some_and(|old| old != *agent)).count();
    let removed = before.keys().filter(|id| agents.iter().all(|agent| agent.id != **id)).count();
    if options.json {
        return output::json(
            &json!({ "agents": agents.len(), "added": added, "changed": changed, "removed": removed,
                                     "left_out": faults }),
        );
    }
    let mut text = format!(
        "{} in {}: {added} added, {changed} changed, {removed} removed.\n",
        pluralize(agents.len() as u64, "agent"),
        path.display()
    );
    for fault in &faults {
        text.push_str("Left out: ");
        text.push_str(fault);
        text.push('\n');
    }
    text.push_str(
        "Use one by its id: default_agent = \"ID\" in .agent/baton.toml. See them: baton agents list\n",
    );
    Ok(text)
}

fn text_of(file: &Path) -> Result<String, String> {
    let mut text = String::new();
    let read = if file == Path::new("-") {
        std::io::stdin().take(FILE_BYTES_MAX + 1).read_to_string(&mut text)
    } else {
        std::fs::File::open(file).and_then(|opened| opened.take(FILE_BYTES_MAX + 1).read_to_string(&mut text))
    };
    match read {
        Ok(bytes) if bytes as u64 > FILE_BYTES_MAX => Err("it is larger than 8 MB".to_owned()),
        Ok(_) => Ok(text),
        Err(error) => Err(error.to_string()),
    }
}

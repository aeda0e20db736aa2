//! The doctor: what is here, which agents work, what is wrong, and how to mend it.
//!
//! It looks and changes nothing. An agent is proved by a greeting in its own protocol, which needs no account and asks
//! no model anything.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use baton_agents::presets::kind::AgentKind;
use baton_agents::presets::known::PRESETS;
use baton_agents::presets::preset::Preset;
use baton_agents::probe::{AcpHandshake, Probe, probe};
use baton_agents::process::environment::AgentEnvironment;
use baton_core::base::text::AgentName;
use baton_core::limits::hold::Hold;
use serde::Serialize;
use tokio::task::JoinSet;

use crate::base::error::EngineError;
use crate::base::ids::Ids;
use crate::git::{Git, Repository};
use crate::limits::holds::Holds;
use crate::settings::layers::Layers;
use crate::settings::place::{Place, PlaceOptions};
use crate::settings::store_address::StoreAddress;
use crate::settings::{AgentSettings, Settings};
use crate::tasks::service::TaskService;
use crate::user_tasks::Trust;

#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// Whether nothing that is needed is missing or broken.
    pub is_well: bool,
    pub findings: Vec<Finding>,
    pub agents: Vec<AgentFinding>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    Ok,
    /// For a person to know; nothing is wrong.
    Note,
    Broken,
}

#[derive(Debug, Clone, Serialize)]
pub struct Finding {
    pub what: &'static str,
    pub condition: Condition,
    pub detail: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mend: Option<String>,
}

#[derive(Debug, Clone, Serialize)]
pub struct AgentFinding {
    pub name: String,
    pub kind: AgentKind,
    pub program: String,
    /// The settings name it.
    pub is_set_up: bool,
    pub is_installed: bool,
    pub version: Option<String>,
    /// What it calls itself, when it greeted.
    pub greeting: Option<String>,
    pub condition: Condition,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mend: Option<String>,
}

impl Finding {
    fn ok(what: &'static str, detail: impl Into<String>) -> Self {
        Self { what, condition: Condition::Ok, detail: detail.into(), mend: None }
    }

    fn note(what: &'static str, detail: impl Into<String>, mend: impl Into<String>) -> Self {
        Self { what, condition: Condition::Note, detail: detail.into(), mend: Some(mend.into()) }
    }

    fn broken(what: &'static str, error: &EngineError) -> Self {
        let (detail, mend) = (error.to_string(), Some(error.hint()));
        Self { what, condition: Condition::Broken, detail, mend }
    }
}

fn settings_found(path: &Path) -> String {
    let shown = path.display();
    if path.exists() { shown.to_string() } else { format!("none at {shown}; baton init writes them down") }
}

/// Looks at everything, from this folder.
pub async fn examine(folder: &Path, options: &PlaceOptions) -> Report {
    let mut findings = vec![match Git::find().await {
        Ok(_) => Finding::ok("git", "found, and new enough"),
        Err(error) => Finding::broken("git", &error.into()),
    }];
    let mut settings = Settings::default();
    match Place::find(folder, options) {
        Ok(mut place) => {
            findings.push(repository(&place).await);
            match Settings::load(&place.settings_path()) {
                Ok(loaded) => {
                    findings.push(Finding::ok("settings", settings_found(&place.settings_path())));
                    if options.store.is_none() {
                        place.store = loaded.store.clone().unwrap_or_default();
                    }
                    settings = loaded;
                    findings.extend(look_at_passwords(&place));
                }
                Err(error) => findings.push(Finding::broken("settings", &error.into())),
            }
            findings.extend(look_at_store(&place).await);
            findings.extend(look_at_taskfile(&place, &settings));
        }
        Err(error) => findings.push(Finding::broken("repository", &error)),
    }
    let agents = look_at_agents(&settings).await;
    if settings.agents.is_empty() {
        findings.push(no_agent(&agents));
    }
    let is_well = findings.iter().all(|finding| finding.condition != Condition::Broken)
        && agents.iter().all(|agent| agent.condition != Condition::Broken);
    Report { is_well, findings, agents }
}

/// A password in the settings is as well kept as their file: not at all where others can read it, and never from agents.
fn look_at_passwords(place: &Place) -> Vec<Finding> {
    let Ok(layers) = Layers::find(&place.settings_path()) else { return Vec::new() };
    let has_password = |value: &toml::Value| {
        value.as_str().and_then(|text| text.parse::<StoreAddress>().ok()).is_some_and(|at| at.has_password())
    };
    let files = layers.files_with("store").into_iter().filter(|(_, value)| has_password(value));
    files.map(|(path, _)| password_in(path)).collect()
}

fn password_in(path: &Path) -> Finding {
    let mode = std::fs::metadata(path).map_or(0, |about| about.permissions().mode());
    let better = "take it out of `store` and put it into ~/.pgpass, or another file that passfile= in the address names";
    let shown = path.display();
    let of_others = mode & 0o077;
    if of_others == 0 {
        let detail = format!("{shown} holds the store's password; agents run as you and can read it");
        return Finding::note("password", detail, better);
    }
    let detail = format!("{shown} holds the store's password, and others can read it");
    let mend = Some(format!("chmod 600 {shown}; better: {better}"));
    Finding { what: "password", condition: Condition::Broken, detail, mend }
}

async fn repository(place: &Place) -> Finding {
    let root = place.root.display().to_string();
    if place.root.join(".git").exists() {
        // One without a commit has nothing an agent's worktree could stand on.
        let looked = async { Repository::open(&Git::on_path(), &place.root).await?.default_branch().await };
        return match looked.await {
            Ok(_) => Finding::ok("repository", root),
            Err(error) => Finding::broken("repository", &error.into()),
        };
    }
    let mend = Some("change into a repository, or make one: git init".to_owned());
    let detail = format!("{root} is in no git repository");
    Finding { what: "repository", condition: Condition::Broken, detail, mend }
}

fn no_agent(agents: &[AgentFinding]) -> Finding {
    let working = agents.iter().find(|agent| agent.condition == Condition::Ok);
    let mend = working.map_or_else(
        || "install one of the agents below, then name it: default_agent = \"…\"".to_owned(),
        |agent| format!("name one that works in .agent/baton.toml: default_agent = \"{}\"", agent.name),
    );
    Finding::note("agent", "no agent is set up, so nothing will be started", mend)
}

/// Reading is enough: what is damaged or too new is refused when it is opened.
async fn look_at_store(place: &Place) -> Vec<Finding> {
    if place.store == StoreAddress::File && !place.store_path().exists() {
        return vec![Finding::ok("store", "none yet; it is made when it is needed")];
    }
    let store = match place.look_into_store().await {
        Ok(store) => store,
        Err(error) => return vec![Finding::broken("store", &error)],
    };
    let tasks = TaskService::new(store, Ids::random());
    let looked = Holds::new(&tasks).active().await;
    let closed = tasks.close().await;
    match (looked, closed) {
        (Ok(holds), Ok(())) => {
            let detail = format!("opens; namespace {}", place.namespace);
            std::iter::once(Finding::ok("store", detail)).chain(holds.iter().map(held)).collect()
        }
        (Err(error), _) | (_, Err(error)) => vec![Finding::broken("store", &error)],
    }
}

fn held(hold: &Hold) -> Finding {
    let until = match hold.until {
        Some(until) => format!("until {until}"),
        None => "until you release it".to_owned(),
    };
    Finding::note(
        "hold",
        format!("{} is given no work {until}: {}", hold.agent, hold.reason),
        format!("it ends by itself where it has an end; sooner: baton hold release {}", hold.agent),
    )
}

fn look_at_taskfile(place: &Place, settings: &Settings) -> Option<Finding> {
    let path = place.root.join(".agent/Taskfile.yml");
    if !path.is_file() {
        return None;
    }
    let mend = match settings.user_tasks.trust {
        Trust::Always => {
            "to be asked before its first run and after every change: [user_tasks] trust = \"prompt\""
        }
        Trust::Prompt => "trust = \"prompt\" is set: it runs only as you have read it",
    };
    Some(Finding::note("user tasks", format!("{} runs with your rights", path.display()), mend))
}

/// What the settings name, and every other agent that is known.
async fn look_at_agents(settings: &Settings) -> Vec<AgentFinding> {
    let set_up: BTreeSet<&str> = settings.agents.keys().map(AgentName::as_str).collect();
    let named = settings.agents.iter().map(|(name, agent)| (name.to_string(), agent.clone(), true));
    let known = PRESETS.iter().filter(|preset| !set_up.contains(preset.name));
    let known =
        known.filter_map(|preset| Some((preset.name.to_owned(), AgentSettings::known(preset.name)?, false)));
    let mut looking = JoinSet::new();
    for (place, (name, agent, is_set_up)) in named.chain(known).enumerate() {
        looking.spawn(async move { (place, look_at(name, agent, is_set_up).await) });
    }
    let mut found = Vec::new();
    while let Some(looked) = looking.join_next().await {
        // One that broke down is missing from the list; the others are as good without it.
        found.extend(looked);
    }
    found.sort_by_key(|(place, _)| *place);
    found.into_iter().map(|(_, agent)| agent).collect()
}

async fn look_at(name: String, agent: AgentSettings, is_set_up: bool) -> AgentFinding {
    let program = agent.command.first().cloned().unwrap_or_default();
    let preset = agent.preset();
    let found = match agent.kind {
        AgentKind::Scripted => script(&program),
        AgentKind::Acp | AgentKind::Claude | AgentKind::Codex | AgentKind::Command => {
            let mut names = agent.env.clone();
            names.extend(preset.env.iter().map(|&name| name.to_owned()));
            let environment = AgentEnvironment::allowed(std::env::vars_os(), &names);
            probe(&preset, &agent.command, &environment, Ids::random().attempt()).await
        }
    };
    let (condition, problem, mend) = judged(&found, &preset, &program, is_set_up);
    let greeting = match found.handshake {
        AcpHandshake::Answered { agent, .. } => Some(agent),
        AcpHandshake::Failed(_) | AcpHandshake::NotTried => None,
    };
    AgentFinding {
        name,
        kind: agent.kind,
        program,
        is_set_up,
        is_installed: found.installed,
        version: found.version,
        greeting,
        condition,
        problem,
        mend,
    }
}

/// The built-in agent is always there; what it needs is its script.
fn script(path: &str) -> Probe {
    let installed = Path::new(path).is_file();
    Probe { name: "scripted", installed, version: None, handshake: AcpHandshake::NotTried }
}

/// Only what the settings name has to work.
fn judged(
    found: &Probe,
    preset: &Preset,
    program: &str,
    is_set_up: bool,
) -> (Condition, Option<String>, Option<String>) {
    let if_needed = if is_set_up { Condition::Broken } else { Condition::Note };
    match &found.handshake {
        _ if !found.installed => {
            let mend = if preset.name == Preset::GENERIC.name {
                "install it, or mend its command in .agent/baton.toml".to_owned()
            } else {
                format!("install {}, and see that `{program}` is on PATH", preset.name)
            };
            let problem = format!("{program} is not installed or not on PATH");
            (if_needed, is_set_up.then_some(problem), is_set_up.then_some(mend))
        }
        AcpHandshake::Failed(said) => {
            let mend = format!("run `{program}` by hand and see what it says; log in where it asks for that");
            (if_needed, Some(said.clone()), Some(mend))
        }
        AcpHandshake::Answered { .. } | AcpHandshake::NotTried => (Condition::Ok, None, None),
    }
}

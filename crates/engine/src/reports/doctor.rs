//! `baton doctor`: checks the installation and says how to fix problems. Changes nothing.
//!
//! An agent is checked with the handshake of its protocol, which needs no account and sends nothing to a model.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use baton_agents::fence::abilities::HostAbilities;
use baton_agents::presets::kind::AgentKind;
use baton_agents::presets::known::PRESETS;
use baton_agents::presets::preset::Preset;
use baton_agents::probe::{AcpHandshake, Probe, probe};
use baton_agents::process::environment::AgentEnvironment;
use baton_core::base::text::AgentName;
use baton_core::limits::hold::Hold;
use baton_core::task::fence::NetworkMode;
use baton_taskfile::Taskfile;
use serde::Serialize;
use tokio::task::JoinSet;

use crate::base::error::EngineError;
use crate::base::ids::Ids;
use crate::git::{Git, Repository};
use crate::limits::holds::Holds;
use crate::people::folder_trust::untrusted;
use crate::reports::checkout::{self, CheckoutNote};
use crate::reports::landing_check::check_landing;
use crate::reports::memory_check::check_memory;
use crate::reports::worktree_check::check_worktree;
use crate::settings::folder_kind::FolderKind;
use crate::settings::layers::Layers;
use crate::settings::location::{LocationOptions, StateLocation, describe_unread};
use crate::settings::recipes::{RecipeFileError, RecipeLibrary};
use crate::settings::store_address::StoreAddress;
use crate::settings::{AgentSettings, Settings};
use crate::tasks::service::TaskService;
use crate::user_tasks::Trust;

#[derive(Debug, Clone, Serialize)]
pub struct DoctorReport {
    /// Whether nothing required is missing or broken.
    pub is_well: bool,
    pub findings: Vec<Finding>,
    pub agents: Vec<AgentFinding>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    Ok,
    /// Information; nothing is wrong.
    Note,
    Broken,
}

#[derive(Debug, Clone, Serialize)]
pub struct Finding {
    pub what: &'static str,
    pub condition: Condition,
    pub detail: String,
    /// How to fix it.
    #[serde(rename = "mend", skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

#[derive(Debug, Clone, Serialize)]
pub struct AgentFinding {
    pub name: String,
    pub kind: AgentKind,
    pub program: String,
    /// Whether the settings name it.
    pub is_set_up: bool,
    pub is_installed: bool,
    pub version: Option<String>,
    /// The name it reported in the handshake.
    pub greeting: Option<String>,
    pub condition: Condition,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    #[serde(rename = "mend", skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

impl Finding {
    pub(super) fn ok(what: &'static str, detail: impl Into<String>) -> Self {
        Self { what, condition: Condition::Ok, detail: detail.into(), fix: None }
    }

    pub(super) fn note(what: &'static str, detail: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { what, condition: Condition::Note, detail: detail.into(), fix: Some(fix.into()) }
    }

    pub(super) fn broken(what: &'static str, error: &EngineError) -> Self {
        let (detail, fix) = (error.to_string(), Some(error.hint()));
        Self { what, condition: Condition::Broken, detail, fix }
    }
}

impl From<CheckoutNote> for Finding {
    fn from(note: CheckoutNote) -> Self {
        let condition = if note.is_broken { Condition::Broken } else { Condition::Note };
        Self { what: note.about, condition, detail: note.detail, fix: Some(note.fix) }
    }
}

fn describe_settings_file(place: &StateLocation) -> String {
    let path = place.settings_path();
    let shown = path.display();
    match place.kind() {
        _ if path.exists() => shown.to_string(),
        // Nothing can be created there.
        FolderKind::Bare => "none, as there are no files to work on".to_owned(),
        FolderKind::Checkout | FolderKind::Deleted | FolderKind::Plain => {
            format!("no file at {shown}; create one: baton init")
        }
    }
}

/// Runs all checks, from this folder.
pub async fn examine(folder: &Path, options: &LocationOptions) -> DoctorReport {
    let mut findings = vec![match Git::find().await {
        Ok(_) => Finding::ok("git", "installed, version supported"),
        Err(error) => Finding::broken("git", &error.into()),
    }];
    let mut settings = Settings::default();
    let mut is_trusted = true;
    match StateLocation::find(folder, options) {
        Ok(mut place) => {
            findings.push(check_repository(&place).await);
            findings.extend(checkout::examine(&place.root).await.into_iter().map(Finding::from));
            findings.extend(check_identity(&place).await);
            match Settings::load(&place.settings_path()) {
                Ok(loaded) => {
                    findings.push(Finding::ok("settings", describe_settings_file(&place)));
                    if options.store.is_none() {
                        place.store = loaded.store.clone().unwrap_or_default();
                    }
                    settings = loaded;
                    findings.extend(check_passwords(&place));
                }
                Err(error) => findings.push(Finding::broken("settings", &error.into())),
            }
            findings.extend(place.unread_settings(folder).map(|unread| {
                let fix = "move what is in it to the root, or make the folder a repository of its own";
                Finding::note("settings", describe_unread(&unread, &place.root), fix)
            }));
            findings.extend(check_store(&place).await);
            findings.extend(check_taskfile(&place, &settings));
            findings.extend(check_landing(&place, &settings).await);
            findings.extend(check_recipes(&place));
            findings.push(check_fence(&settings));
            findings.push(check_memory(&settings));
            findings.extend(check_worktree(&place.root, &settings));
            let trust = check_trust(&place).await;
            is_trusted = trust.is_none();
            findings.extend(trust);
        }
        Err(error) => findings.push(Finding::broken("repository", &error)),
    }
    let agents = check_agents(&settings, is_trusted).await;
    if settings.agents.is_empty() {
        findings.push(no_agent(&agents));
    }
    let is_well = findings.iter().all(|finding| finding.condition != Condition::Broken)
        && agents.iter().all(|agent| agent.condition != Condition::Broken);
    DoctorReport { is_well, findings, agents }
}

/// What came with a clone and nobody has allowed is not started, not even to see whether it works.
async fn check_trust(place: &StateLocation) -> Option<Finding> {
    match untrusted(place).await {
        Ok(None) => None,
        Ok(Some(folder)) => {
            let path = place.settings_path();
            let grants = folder.grants.join("; ");
            let detail = format!(
                "{} may be anybody's, and nobody has allowed what it starts and opens: {grants}",
                path.display()
            );
            Some(Finding::note("trust", detail, "read the file, then allow it as it is now: baton trust"))
        }
        Err(error) => Some(Finding::broken("trust", &error)),
    }
}

/// Without a name and an address from the person, agents' commits are signed with a stand-in.
async fn check_identity(place: &StateLocation) -> Option<Finding> {
    let repository = Repository::open(&Git::on_path(), &place.root).await.ok()?;
    let who = repository.commit_identity().await.ok()?;
    let text = format!("agents commit as {} <{}>", who.name, who.email);
    Some(if who.is_fallback {
        let fix = "git config --global user.name NAME, and git config --global user.email ADDRESS";
        Finding::note("identity", format!("{text}, because git knows no name or address of yours"), fix)
    } else {
        Finding::ok("identity", text)
    })
}

/// What agents are confined by here, and what is missing for it.
fn check_fence(settings: &Settings) -> Finding {
    let (abilities, network) = (HostAbilities::current(), settings.network);
    let install =
        "install bubblewrap: apt-get install bubblewrap, dnf install bubblewrap or pacman -S bubblewrap";
    if !settings.has_fence() {
        let fix = "set fence = \"auto\", or \"strict\", in .agent/baton.toml";
        return Finding::note("fence", "off: agents can do whatever you can", fix);
    }
    let landlock = if abilities.landlock.is_ok() { " and Landlock" } else { "" };
    match (&abilities.bubblewrap, &abilities.own_network, &abilities.seatbelt) {
        (Ok(_), Ok(()), _) => Finding::ok("fence", format!("bubblewrap{landlock}, network {network}")),
        (Ok(_), Err(reason), _) if network == NetworkMode::Open => {
            Finding::ok("fence", format!("bubblewrap{landlock}; network only open ({reason})"))
        }
        (Ok(_), Err(reason), _) => {
            let detail = format!("bubblewrap{landlock}, but the network is not fenced: {reason}");
            Finding::note("fence", detail, "allow network namespaces, or set network = \"open\"")
        }
        (Err(_), _, Ok(_)) => Finding::note(
            "fence",
            "Seatbelt, with a profile that was never run by its authors",
            "report what fails",
        ),
        (Err(reason), _, Err(_)) if abilities.landlock.is_ok() => {
            let detail = format!("Landlock only: agents see other processes and every host ({reason})");
            Finding::note("fence", detail, install)
        }
        (Err(reason), _, Err(_)) => {
            Finding::note("fence", format!("none: agents can do whatever you can ({reason})"), install)
        }
    }
}

/// Warns about passwords in settings files, which agents and sometimes other users can read.
fn check_passwords(place: &StateLocation) -> Vec<Finding> {
    let Ok(layers) = Layers::find(&place.settings_path()) else { return Vec::new() };
    let has_password = |value: &toml::Value| {
        value.as_str().and_then(|text| text.parse::<StoreAddress>().ok()).is_some_and(|at| at.has_password())
    };
    let files = layers.files_with("store").into_iter().filter(|(_, value)| has_password(value));
    files.map(|(path, _)| password_finding(path)).collect()
}

fn password_finding(path: &Path) -> Finding {
    let mode = std::fs::metadata(path).map_or(0, |about| about.permissions().mode());
    let better = "move it from `store` to ~/.pgpass, or to a file that passfile= in the address names";
    let shown = path.display();
    if mode.trailing_zeros() >= 6 {
        let detail = format!("{shown} contains the store's password; agents run as you and can read it");
        return Finding::note("password", detail, better);
    }
    let detail = format!("{shown} contains the store's password, and other users can read it");
    let fix = Some(format!("chmod 600 {shown}; better: {better}"));
    Finding { what: "password", condition: Condition::Broken, detail, fix }
}

async fn check_repository(place: &StateLocation) -> Finding {
    let root = place.root.display().to_string();
    let (detail, fix) = match place.kind() {
        FolderKind::Checkout => {
            // Worktrees need a commit to start from.
            let opened =
                async { Repository::open(&Git::on_path(), &place.root).await?.default_branch().await };
            return match opened.await {
                Ok(_) => Finding::ok("repository", root),
                Err(error) => Finding::broken("repository", &error.into()),
            };
        }
        FolderKind::Bare => {
            (format!("{root} is a bare repository, without files to work on"), format!("git clone {root}"))
        }
        FolderKind::Deleted => (
            format!("the repository of {root} is gone: it has no .git any more"),
            format!(
                "restore it from a backup or a remote; the tasks are still in {}",
                place.state_dir.display()
            ),
        ),
        FolderKind::Plain => (
            format!("{root} is not in a git repository"),
            "change to a repository, or create one: git init".to_owned(),
        ),
    };
    Finding { what: "repository", condition: Condition::Broken, detail, fix: Some(fix) }
}

fn no_agent(agents: &[AgentFinding]) -> Finding {
    let working = agents.iter().find(|agent| agent.condition == Condition::Ok);
    let fix = working.map_or_else(
        || {
            "install one of the agents below, then set it in .agent/baton.toml: default_agent = \"…\""
                .to_owned()
        },
        |agent| format!("set one that works in .agent/baton.toml: default_agent = \"{}\"", agent.name),
    );
    Finding::note("agent", "no agent is configured, so no task will start", fix)
}

/// Opening is enough: a damaged or newer store is refused.
async fn check_store(place: &StateLocation) -> Vec<Finding> {
    if place.store == StoreAddress::File && !place.store_path().exists() {
        return vec![Finding::ok("store", "none yet; created when needed")];
    }
    let store = match place.open_store_now().await {
        Ok(store) => store,
        Err(error) => return vec![Finding::broken("store", &error)],
    };
    let tasks = TaskService::new(store, Ids::random());
    let looked = Holds::new(&tasks).active().await;
    let closed = tasks.close().await;
    match (looked, closed) {
        (Ok(holds), Ok(())) => {
            let detail = format!("can be opened; namespace {}", place.namespace);
            std::iter::once(Finding::ok("store", detail)).chain(holds.iter().map(hold_finding)).collect()
        }
        (Err(error), _) | (_, Err(error)) => vec![Finding::broken("store", &error)],
    }
}

fn hold_finding(hold: &Hold) -> Finding {
    let until = match hold.until {
        Some(until) => format!("until {until}"),
        None => "until you release it".to_owned(),
    };
    Finding::note(
        "hold",
        format!("{} gets no work {until}: {}", hold.agent, hold.reason),
        format!("release it now: baton hold release {}", hold.agent),
    )
}

/// The errors of recipe files; none if there are no files.
fn check_recipes(place: &StateLocation) -> Vec<Finding> {
    let library = RecipeLibrary::for_repository(&place.root);
    let count = library.check().len();
    let errors = library.errors();
    if errors.is_empty() {
        let good = || Finding::ok("recipes", format!("{count} in .agent/recipes"));
        return (count > 0).then(good).into_iter().collect();
    }
    let broken = |error: &RecipeFileError| Finding {
        what: "recipes",
        condition: Condition::Broken,
        detail: error.to_string(),
        fix: Some("fix the file; until then the previous version, or the built-in one, is used".to_owned()),
    };
    errors.iter().map(broken).collect()
}

fn check_taskfile(place: &StateLocation, settings: &Settings) -> Option<Finding> {
    let path = place.root.join(".agent/Taskfile.yml");
    if !path.is_file() {
        return None;
    }
    let fix = match settings.user_tasks.trust {
        Trust::Always => {
            "to approve it before its first run and after every change: [user_tasks] trust = \"prompt\""
        }
        Trust::Prompt => "trust = \"prompt\" is set: it runs only after you approved it",
    };
    let taskfile = Taskfile::open(&place.root, &path);
    if let Some((file, warning)) = taskfile.ok().as_ref().and_then(|taskfile| taskfile.warnings().first()) {
        let detail = format!("{}:{}: {}", file.display(), warning.position.line, warning.message);
        let fix = Some("fix the key; no user task runs until then".to_owned());
        return Some(Finding { what: "user tasks", condition: Condition::Broken, detail, fix });
    }
    Some(Finding::note("user tasks", format!("{} runs with your permissions", path.display()), fix))
}

/// Checks the agents that the settings name, and all other known agents.
async fn check_agents(settings: &Settings, is_trusted: bool) -> Vec<AgentFinding> {
    let set_up: BTreeSet<&str> = settings.agents.keys().map(AgentName::as_str).collect();
    let named = settings.agents.iter().map(|(name, agent)| (name.to_string(), agent.clone(), true));
    let known = PRESETS.iter().filter(|preset| !set_up.contains(preset.name));
    let known =
        known.filter_map(|preset| Some((preset.name.to_owned(), AgentSettings::known(preset.name)?, false)));
    let mut checks = JoinSet::new();
    for (index, (name, agent, is_set_up)) in named.chain(known).enumerate() {
        let may_start = is_trusted || !is_set_up;
        checks.spawn(async move {
            let checked =
                if may_start { check_agent(name, agent, is_set_up).await } else { not_started(name, &agent) };
            (index, checked)
        });
    }
    let mut found = Vec::new();
    while let Some(checked) = checks.join_next().await {
        // A check that panicked is left out.
        found.extend(checked);
    }
    found.sort_by_key(|(index, _)| *index);
    found.into_iter().map(|(_, agent)| agent).collect()
}

fn not_started(name: String, agent: &AgentSettings) -> AgentFinding {
    AgentFinding {
        name,
        kind: agent.kind,
        program: agent.command.first().cloned().unwrap_or_default(),
        is_set_up: true,
        is_installed: agent.is_installed(),
        version: None,
        greeting: None,
        condition: Condition::Note,
        problem: Some("it was not started, because nobody has allowed its settings".to_owned()),
        fix: Some("read .agent/baton.toml, then allow it as it is now: baton trust".to_owned()),
    }
}

async fn check_agent(name: String, agent: AgentSettings, is_set_up: bool) -> AgentFinding {
    let program = agent.command.first().cloned().unwrap_or_default();
    let preset = agent.preset();
    let found = match agent.kind {
        AgentKind::Scripted => probe_script(&program),
        AgentKind::Acp | AgentKind::Claude | AgentKind::Codex | AgentKind::Command => {
            let mut names = agent.env.clone();
            names.extend(preset.env.iter().map(|&name| name.to_owned()));
            let environment = AgentEnvironment::allowed(std::env::vars_os(), &names);
            probe(&preset, &agent.command, &environment, Ids::random().attempt()).await
        }
    };
    let (condition, problem, fix) = judge(&found, &preset, &program, is_set_up);
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
        fix,
    }
}

/// The built-in agent only needs its script.
fn probe_script(path: &str) -> Probe {
    let installed = Path::new(path).is_file();
    Probe { name: "scripted", installed, version: None, handshake: AcpHandshake::NotTried }
}

/// Only agents that the settings name must work.
fn judge(
    found: &Probe,
    preset: &Preset,
    program: &str,
    is_set_up: bool,
) -> (Condition, Option<String>, Option<String>) {
    let if_broken = if is_set_up { Condition::Broken } else { Condition::Note };
    match &found.handshake {
        _ if !found.installed => {
            let fix = if preset.name == Preset::GENERIC.name {
                "install it, or correct its command in .agent/baton.toml".to_owned()
            } else {
                format!("install {}, and check that `{program}` is on PATH", preset.name)
            };
            let problem = format!("{program} is not installed or not on PATH");
            (if_broken, is_set_up.then_some(problem), is_set_up.then_some(fix))
        }
        AcpHandshake::Failed(error) => {
            let fix = format!("run `{program}` in a terminal and read its output; log in if it asks");
            (if_broken, Some(error.clone()), Some(fix))
        }
        AcpHandshake::Answered { .. } | AcpHandshake::NotTried => (Condition::Ok, None, None),
    }
}

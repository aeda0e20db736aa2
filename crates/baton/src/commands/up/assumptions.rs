//! What `baton up` prints in a repository without settings: the defaults it uses, and how to change them.

use std::fmt::Write;

use baton_engine::reports::survey::{InitFiles, Survey, agents};
use baton_engine::services::workspace::Workspace;

/// None if there is a settings file.
pub(crate) async fn describe(workspace: &Workspace) -> Option<String> {
    if workspace.place.settings_path().exists() {
        return None;
    }
    let mut text = String::from("No .agent/baton.toml; using these defaults:\n");
    let rows = [
        ("agent", agent(workspace)),
        ("branch", branch(workspace).await),
        ("checks", checks(workspace)),
        ("agents", format!("up to {} at once", workspace.settings.max_agents)),
        ("state", format!("{} (ignored by git)", workspace.place.state_dir.display())),
    ];
    for (name, value) in rows {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "  {name:<8}{value}");
    }
    text.push_str("To change them, write the settings file: baton init");
    Some(text)
}

fn agent(workspace: &Workspace) -> String {
    let installed = agents::find_installed();
    if workspace.settings.agents.is_empty() {
        return "none; no known agent is installed, so tasks wait".to_owned();
    }
    let chosen = workspace.settings.default_agent.as_str();
    let others: Vec<&str> = installed.into_iter().filter(|name| *name != chosen).collect();
    if others.is_empty() {
        format!("{chosen} (installed)")
    } else {
        format!("{chosen}; also installed: {}", others.join(", "))
    }
}

async fn branch(workspace: &Workspace) -> String {
    match workspace.projects.home_repository().await {
        Ok((_, branch)) => format!("{branch}, where accepted work is merged; your branch is never touched"),
        Err(_) => "none yet".to_owned(),
    }
}

fn checks(workspace: &Workspace) -> String {
    let set_up = InitFiles { survey: Survey::scan(&workspace.place.root), agents: Vec::new() };
    match set_up.checks().as_slice() {
        [] => "none".to_owned(),
        known => format!("none; baton init would run {} on finished work", known.join(" and ")),
    }
}

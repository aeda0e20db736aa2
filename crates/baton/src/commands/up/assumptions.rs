//! What `baton up` says in a repository nobody has set up: what it assumes, and how to choose otherwise.

use std::fmt::Write;

use baton_engine::survey::{SetUp, Survey, agents};
use baton_engine::workshop::Workshop;

/// None where there are settings: then everything is as they say.
pub async fn told(shop: &Workshop) -> Option<String> {
    if shop.place.settings_path().exists() {
        return None;
    }
    let mut text = String::from("There is no .agent/baton.toml here, so this is assumed:\n");
    let rows = [
        ("agent", agent(shop)),
        ("branch", branch(shop).await),
        ("checks", checks(shop)),
        ("agents", format!("up to {} at once", shop.settings.max_agents)),
        ("state", format!("{} (git ignores it)", shop.place.state_dir.display())),
    ];
    for (name, value) in rows {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "  {name:<8}{value}");
    }
    text.push_str("Write it down, and change it: baton init");
    Some(text)
}

fn agent(shop: &Workshop) -> String {
    let installed = agents::installed();
    if shop.settings.agents.is_empty() {
        return "none; no agent that Baton knows is installed, so tasks wait".to_owned();
    }
    let chosen = shop.settings.default_agent.as_str();
    let others: Vec<&str> = installed.into_iter().filter(|name| *name != chosen).collect();
    if others.is_empty() {
        format!("{chosen}, which is installed")
    } else {
        format!("{chosen}; also installed: {}", others.join(", "))
    }
}

async fn branch(shop: &Workshop) -> String {
    match shop.home_repository().await {
        Ok((_, branch)) => format!("{branch}, where accepted work comes together; yours is never touched"),
        Err(_) => "none yet".to_owned(),
    }
}

fn checks(shop: &Workshop) -> String {
    let set_up = SetUp { survey: Survey::of(&shop.place.root), agents: Vec::new() };
    match set_up.checks().as_slice() {
        [] => "none".to_owned(),
        known => format!("none; baton init would have {} run over finished work", known.join(" and ")),
    }
}

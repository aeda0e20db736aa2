//! `/health`: agents, capacity, what is held up, the store and its size.

use std::path::Path;

use axum::extract::State;
use baton_engine::Store;
use maud::{Markup, html};

use super::answer::PageAnswer;
use super::layout::{Frame, Tab, heading};
use super::visit::Visit;
use super::words::{age, bytes};
use crate::state::App;
use crate::views::health::{AgentHealth, Health, health};

pub async fn show<S: Store>(State(app): State<App<S>>, visit: Visit) -> PageAnswer {
    let frame = Frame::load(&app, visit).await?;
    let health = health(&app.shop).await;
    let size = size(&app.shop.place.state_dir);
    let settings = &app.shop.settings;
    let body = html! {
        (heading("Health", &html! {
            @if health.problems.is_empty() { span.chip.tone-done { span.sign { "✓" } "All is well" } }
            @else { span.chip.tone-failed { span.sign { "✗" } (health.problems.len()) " to look at" } }
        }))
        @for problem in &health.problems { div.alert { p { (problem) } } }
        section {
            h2 { "Agents" }
            @if health.agents.is_empty() { p { "None is set up. Name one in " code { ".agent/baton.toml" } ", then " code { "baton doctor" } " tells whether it works." } }
            @else { (agents(&health.agents, &frame, &app)) }
        }
        section {
            h2 { "Work" }
            dl.sums {
                div { dt { "At work" } dd { (health.counts.running) " of " (settings.max_agents) } }
                div { dt { "Ready" } dd { (health.counts.ready) } }
                div { dt { "Questions" } dd { a href="/" { (health.counts.pending_questions) } } }
                div { dt { "To accept" } dd { a href="/board#review" { (health.counts.unaccepted) } " of " (settings.max_unaccepted) } }
            }
            (holds(&health, settings.max_unaccepted))
        }
        p { a href="/workers" { "Workers" } span.muted { ": the machines that run agents on this store" } }
        section {
            h2 { "Store" }
            dl.facts-list {
                dt { "Writable" } dd { @if health.store.is_writable { span.tone-done { "✓ yes" } } @else { span.tone-failed { "✗ no" } } }
                dt { "Kept in" } dd { code { (app.shop.place.state_dir.display()) } }
                dt { "Size" } dd { (bytes(size)) }
                dt { "Free on the disk" } dd { @if let Some(free) = health.disk.free_bytes { (bytes(free)) } @else { "unknown" } }
                dt { "Events" } dd { (health.last_seq) }
                dt { "Namespace" } dd { (health.namespace) }
                dt { "Version" } dd { (health.version) }
            }
        }
        p.muted { "For programs: " a href="/api/health" { "/api/health" } ", " a href="/metrics" { "/metrics" } }
    };
    Ok(frame.page(Tab::Health, "Health", &[], &body))
}

fn agents<S: Store>(agents: &[AgentHealth], frame: &Frame, app: &App<S>) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Agents" {
            table {
                thead { tr { th { "Agent" } th { "Program" } th { "Found" } th { "At most" } th { "Takes work" } } }
                tbody {
                    @for agent in agents {
                        tr {
                            td { strong { (agent.name) } @if agent.name == app.shop.settings.default_agent { span.muted { " default" } } }
                            td { code { (agent.program) } }
                            td { @if agent.is_found { span.tone-done { "✓ yes" } } @else { span.tone-failed { "✗ not found" } } }
                            td { @if let Some(settings) = app.shop.settings.agents.get(&agent.name) { (settings.max) " at once, " (settings.max_turns) " turns" } }
                            td {
                                @if let Some(until) = agent.paused_until { span.tone-asking { "▲ rests for " (age(frame.now, until)) } } @else { span.tone-done { "✓ yes" } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Why no new work may be started.
fn holds(health: &Health, unaccepted_max: u32) -> Markup {
    html! {
        @if health.counts.unaccepted >= u64::from(unaccepted_max) {
            div.notice { p { "No new task is started until some of the finished work is accepted or rejected." } }
        }
    }
}

/// What the store itself takes: its files lie beside the folders for logs and worktrees.
fn size(folder: &Path) -> u64 {
    let files =
        std::fs::read_dir(folder).into_iter().flatten().flatten().filter_map(|entry| entry.metadata().ok());
    files.filter(std::fs::Metadata::is_file).map(|file| file.len()).sum()
}

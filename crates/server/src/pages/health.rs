//! `/health`: agents, capacity, holds and the store.

use std::path::Path;

use axum::extract::State;
use baton_core::base::text::AgentName;
use baton_core::base::time::Timestamp;
use baton_core::limits::hold::Hold;
use baton_core::limits::spending::SpendingAmount;
use baton_engine::base::error::EngineError;
use baton_engine::base::supervisor::{ServiceState, ServiceStatus};
use baton_engine::limits::holds::Holds;
use baton_engine::reports::accounts::{AccountState, AccountView};
use maud::{Markup, html};

use crate::api::views::health::{HealthView, load_health};
use crate::pages::frame::form::PageForm;
use crate::pages::frame::key::PageParam;
use crate::pages::frame::layout::{Frame, heading};
use crate::pages::frame::navigation::Tab;
use crate::pages::frame::request::PageRequest;
use crate::pages::frame::response::{PageResult, redirect};
use crate::pages::widgets::words::{ago, bytes, grouped, pluralize, time_left};
use crate::state::App;
use crate::state::principal::AuthedApp;

pub(super) async fn show(State(app): State<App>, request: PageRequest) -> PageResult {
    let frame = Frame::load(&app, request).await?;
    let health = load_health(&app.workspace).await;
    let size = size(&app.workspace.place.state_dir);
    let settings = &app.workspace.settings;
    let body = html! {
        (heading("Health", &html! {
            @if health.problems.is_empty() { span.chip.tone-done { span.sign { "✓" } "Healthy" } }
            @else { span.chip.tone-failed { span.sign { "✗" } (pluralize(health.problems.len() as u64, "problem")) } }
        }))
        @for problem in &health.problems { div.alert { p { (problem) } } }
        @for file in &health.changed_settings {
            div.alert { p { code { (file) } " was changed after this server started, which goes on by the old settings. To use it, end the server and run " code { "baton up" } " again." } }
        }
        section {
            h2 { "Agents" }
            @if health.agents.is_empty() { p { "No agents configured. Add one to " code { ".agent/baton.toml" } " and check it with " code { "baton doctor" } "." } }
            @else { (agents(&health, frame.now, &app)) }
        }
        section {
            h2 { "Work" }
            dl.sums {
                div { dt { "Running" } dd { (health.counts.running) " of " (settings.max_agents) } }
                div { dt { "Ready" } dd { (health.counts.ready) } }
                div { dt { "Questions" } dd { a href="/" { (health.counts.pending_questions) } } }
                div { dt { "Ready for review" } dd { a href="/board#review" { (health.counts.unaccepted) } " of " (settings.max_unaccepted) } }
            }
        }
        (accounts(&accounts_of(&app).await?, frame.now))
        (holds(&health, frame.now, settings.max_unaccepted))
        (services(&health))
        p { a href="/workers" { "Workers" } span.muted { ": machines that run agents on this store" } }
        section {
            h2 { "Store" }
            dl.facts-list {
                dt { "Writable" } dd { @if health.store.is_writable { span.tone-done { "✓ yes" } } @else { span.tone-failed { "✗ no" } } }
                dt { "State directory" } dd { code { (app.workspace.place.state_dir.display()) } }
                dt { "Size" } dd { (bytes(size)) }
                dt { "Free disk space" } dd { @if let Some(free) = health.disk.free_bytes { (bytes(free)) } @else { "unknown" } }
                dt { "Events" } dd { (grouped(health.last_seq)) }
                dt { "Namespace" } dd { (health.namespace) }
                dt { "Version" } dd { (health.version) }
            }
        }
        p.muted { "API: " a href="/api/health" { "/api/health" } ", " a href="/metrics" { "/metrics" } }
    };
    Ok(frame.page(Tab::Health, "Health", &[], &body))
}

fn agents(health: &HealthView, now: Timestamp, app: &App) -> Markup {
    let hold = |name: &AgentName| health.holds.iter().find(|hold| hold.agent == *name);
    html! {
        div.scroll tabindex="0" role="region" aria-label="Agents" {
            table.stacks {
                thead { tr { th { "Agent" } th { "Program" } th { "Installed" } th { "Limits" } th { "Available" } } }
                tbody {
                    @for agent in &health.agents {
                        tr {
                            td data-label="Agent" { strong { (agent.name) } @if agent.name == app.workspace.settings.default_agent { span.muted { " default" } } }
                            td data-label="Program" { code { (agent.program) } }
                            td data-label="Installed" { @if agent.is_found { span.tone-done { "✓ yes" } } @else { span.tone-failed { "✗ not found" } } }
                            td data-label="Limits" { @if let Some(settings) = app.workspace.settings.agents.get(&agent.name) { (settings.max) " at once, " (settings.max_turns) " turns" } }
                            td data-label="Available" { @if let Some(hold) = hold(&agent.name) { (rests(hold, now)) } @else { span.tone-done { "✓ yes" } } }
                        }
                    }
                }
            }
        }
    }
}

fn rests(hold: &Hold, now: Timestamp) -> Markup {
    html! {
        span.tone-asking {
            @if let Some(until) = hold.until { "▲ on hold for " (time_left(until, now)) } @else { "▲ on hold until released" }
        }
    }
}

async fn accounts_of(app: &App) -> Result<Vec<AccountView>, EngineError> {
    baton_engine::reports::accounts::accounts(&app.workspace).await
}

/// What agents work on. Shown where there is a choice: otherwise it is the table of agents once more.
fn accounts(accounts: &[AccountView], now: Timestamp) -> Markup {
    let has_choice = accounts.iter().any(|account| !account.agents.contains(&account.name));
    html! {
        @if has_choice {
            section #accounts {
                h2 { "Accounts" }
                div.scroll tabindex="0" role="region" aria-label="Accounts" {
                    table.stacks {
                        thead { tr { th { "Account" } th { "Agents" } th { "Used today" } th { "Available" } } }
                        tbody {
                            @for account in accounts {
                                tr {
                                    td data-label="Account" { strong { (account.name) } @if let Some(provider) = &account.provider { span.muted { " " (provider) } } }
                                    td data-label="Agents" { (account.agents.iter().map(AgentName::as_str).collect::<Vec<_>>().join(", ")) }
                                    td data-label="Used today" { (used(&account.used_today)) }
                                    td data-label="Available" { (availability(account, now)) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn used(amount: &SpendingAmount) -> String {
    let cents = amount.cost_micro_usd / 10_000;
    let (turns, tokens) = (pluralize(amount.turns, "turn"), grouped(amount.tokens));
    format!("{turns}, {tokens} tokens, ${}.{:02}", cents / 100, cents % 100)
}

fn availability(account: &AccountView, now: Timestamp) -> Markup {
    html! {
        @match (account.state, account.until) {
            (AccountState::Open, _) => span.tone-done { "✓ yes" },
            (AccountState::Quiet, Some(until)) => span.tone-asking { "▲ quiet for " (time_left(until, now)) },
            (AccountState::Quiet, None) => span.tone-asking { "▲ quiet" },
            (AccountState::Held, Some(until)) => span.tone-asking { "▲ on hold for " (time_left(until, now)) },
            (AccountState::Held, None) => span.tone-asking { "▲ on hold until released" },
        }
    }
}

/// Why no new work is started, and how to change that.
fn holds(health: &HealthView, now: Timestamp, unaccepted_max: u32) -> Markup {
    let is_full = health.counts.unaccepted >= u64::from(unaccepted_max);
    html! {
        section #holds {
            h2 { "Holds" }
            @if health.holds.is_empty() && !is_full { p.muted { "No agent is on hold." } }
            @if is_full {
                div.notice { p { "No new tasks start until some finished work is accepted or rejected." } }
            }
            @for hold in &health.holds {
                div.notice {
                    p { strong { (hold.agent) } " " (rests(hold, now)) span.muted { ", placed " (ago(hold.since, now)) } }
                    p { (hold.reason) }
                    form.actions method="post" action={ "/health/holds/" (hold.agent) "/release" } {
                        button type="submit" { "Release " (hold.agent) }
                        code { "baton hold release " (hold.agent) }
                    }
                }
            }
        }
    }
}

/// Releases a hold.
pub(super) async fn release(
    app: AuthedApp,
    PageParam(agent): PageParam<AgentName>,
    form: PageForm,
) -> PageResult {
    Holds::new(app.tasks()).release(&agent, app.actor()).await?;
    Ok(redirect(&form.next("/health")))
}

/// The size of the store's files, which lie beside the folders for logs and worktrees.
fn size(folder: &Path) -> u64 {
    let files =
        std::fs::read_dir(folder).into_iter().flatten().flatten().filter_map(|entry| entry.metadata().ok());
    files.filter(std::fs::Metadata::is_file).map(|file| file.len()).sum()
}

/// The background services, failing ones first.
fn services(health: &HealthView) -> Markup {
    let mut services: Vec<&ServiceStatus> = health.services.iter().collect();
    services.sort_by_key(|service| service.state != ServiceState::Failing);
    html! {
        @if !services.is_empty() {
            section #services {
                h2 { "Services" }
                div.scroll tabindex="0" role="region" aria-label="Services" {
                    table.stacks {
                        thead { tr { th { "Service" } th { "State" } th { "Restarts" } th { "Failing items" } th { "Last error" } } }
                        tbody {
                            @for service in services {
                                tr {
                                    td data-label="Service" { strong { (service.name) } }
                                    td data-label="State" { (service_state(service.state)) }
                                    td data-label="Restarts" { (service.restarts) }
                                    td data-label="Failing items" { (service.items_failing) }
                                    td data-label="Last error" { @if let Some(error) = &service.last_error { (error) } }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn service_state(state: ServiceState) -> Markup {
    html! {
        @match state {
            ServiceState::Running => span.tone-done { "✓ running" },
            ServiceState::Restarting => span.tone-asking { "▲ restarting" },
            ServiceState::Failing => span.tone-failed { "✗ failing" },
        }
    }
}

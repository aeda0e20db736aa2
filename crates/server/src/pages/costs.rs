//! `/costs`: what agents cost today or over some days, by project, agent and task, beside the budgets.

use axum::extract::State;
use baton_core::base::time::Timestamp;
use baton_engine::reports::costs::{CostReport, CostRow, load_costs, start_of_day};
use maud::{Markup, html};

use crate::http::error::ApiError;
use crate::http::input::Query;
use crate::pages::frame::layout::{Frame, empty, heading};
use crate::pages::frame::navigation::Tab;
use crate::pages::frame::request::PageRequest;
use crate::pages::frame::response::PageResult;
use crate::pages::widgets::words::{grouped, money, pluralize};
use crate::state::App;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;
/// The name in the address, the label, and how many days with today.
const SPANS: [(&str, &str, i64); 3] = [("day", "Today", 1), ("week", "7 days", 7), ("month", "30 days", 30)];
/// Tasks listed; the dearest ones.
const TASKS_MAX: usize = 50;

pub(super) async fn show(State(app): State<App>, request: PageRequest, mut query: Query) -> PageResult {
    let wanted: String = query.take("span")?.unwrap_or_else(|| SPANS[0].0.to_owned());
    query.done()?;
    let unknown = || ApiError::invalid("there is no such span", "choose day, week or month");
    let (span, _, days) = SPANS.iter().find(|(name, ..)| *name == wanted).ok_or_else(unknown)?;
    let frame = Frame::load(&app, request).await?;
    let since = Timestamp::from_ms(start_of_day(frame.now).ms() - (days - 1) * DAY_MS);
    let report = load_costs(&app.workspace, Some(since)).await?;
    let body = html! {
        (heading("Costs", &html! {
            span.switch role="group" aria-label="Span" {
                @for (name, word, _) in SPANS { a.button href={ "/costs?span=" (name) } aria-current=[(name == *span).then_some("true")] { (word) } }
            }
        }))
        (sums(&report))
        @if report.total.attempts == 0 {
            (empty("No attempt has ended", "What agents cost is listed here by project, agent and task.", &[("baton cost", "the same in a terminal")]))
        } @else {
            (table("Project", &report.by_project, |row| html! {
                @if let Some(id) = &row.id { a href={ "/board?project=" (id) } { (row.title.as_ref().unwrap_or(id)) } }
                @else { span.muted { "No project" } }
            }))
            (table("Agent", &report.by_agent, |row| html! { (row.id.as_deref().unwrap_or_default()) }))
            (table("Task", &report.by_task[..report.by_task.len().min(TASKS_MAX)], |row| html! {
                @if let Some(id) = &row.id { a href={ "/tasks/" (id) } dir="auto" { (row.title.as_ref().unwrap_or(id)) } }
            }))
            @if report.by_task.len() > TASKS_MAX { p.muted { "Only the " (TASKS_MAX) " dearest tasks are shown; " code { "baton cost --by task" } " lists all." } }
        }
    };
    Ok(frame.page(Tab::Elsewhere, "Costs", &[], &body))
}

/// The sum, what counts against the day's budget, and the budgets.
fn sums(report: &CostReport) -> Markup {
    let (total, today, budgets) = (&report.total, &report.used_today, &report.budgets);
    html! {
        dl.sums {
            div { dt { "Used today" } dd #today { (money(today.cost_micro_usd)) @if let Some(day) = budgets.day { span.muted { " of " (money(day)) } } } }
            div { dt { "Ended attempts" } dd { (money(total.cost_micro_usd)) " " span.muted { (pluralize(total.attempts, "attempt")) } } }
            div { dt { "Tokens" } dd { (grouped(total.input_tokens)) span.muted { " in, " } (grouped(total.output_tokens)) span.muted { " out" } } }
            @if let Some(project) = budgets.project { div { dt { "Budget of a project" } dd { (money(project)) } } }
            @if let Some(task) = budgets.task { div { dt { "Budget of a task" } dd { (money(task)) } } }
        }
        @if let Some(day) = budgets.day {
            p { label for="day-budget" { "Day’s budget used" } " " progress #day-budget max=(day) value=(today.cost_micro_usd.min(day)) {} }
        }
        p.muted { "As far as agents report it. Today counts from midnight (UTC) and includes agents at work or stopped; the tables have attempts that ended." }
    }
}

fn table(what: &str, rows: &[CostRow], name: impl Fn(&CostRow) -> Markup) -> Markup {
    let dearest = rows.iter().map(|row| row.sum.cost_micro_usd).max().unwrap_or_default().max(1);
    html! {
        section {
            h2 { "By " (what.to_lowercase()) }
            div.scroll tabindex="0" role="region" aria-label={ "Costs by " (what.to_lowercase()) } {
                table.costs {
                    thead { tr { th { (what) } th.number { "Cost" } th { span.unseen { "Share" } } th.number { "Tokens" } th.number { "Turns" } th.number { "Attempts" } } }
                    tbody {
                        @for row in rows {
                            tr {
                                td { (name(row)) }
                                td.number { (money(row.sum.cost_micro_usd)) }
                                td.share { svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true" { rect.track width="100" height="8" {} rect.bar width=(row.sum.cost_micro_usd.saturating_mul(100) / dearest) height="8" {} } }
                                td.number { (grouped(row.sum.input_tokens.saturating_add(row.sum.output_tokens))) }
                                td.number { (grouped(row.sum.turns)) }
                                td.number { (row.sum.attempts) }
                            }
                        }
                    }
                }
            }
        }
    }
}

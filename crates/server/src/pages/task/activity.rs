//! `/tasks/{id}`: what the agent said, thought and did, live and afterwards, with the questions and messages in between.

use axum::extract::State;
use baton_core::ask::question_record::{QuestionRecord, QuestionState};
use baton_core::base::id::{AttemptId, TaskId};
use baton_core::base::time::Timestamp;
use baton_core::task::attempt_record::{AttemptClosing, AttemptRecord};
use baton_engine::landing::standing::WorkStanding;
use baton_engine::landing::task_landing::TaskLandingView;
use baton_engine::reports::transcript::{TranscriptEntry, read_transcript};
use baton_engine::reports::view::{TaskView, task_view};
use maud::{Markup, html};

use crate::http::input::Query;
use crate::pages::for_you::review::size;
use crate::pages::frame::key::PageParam;
use crate::pages::frame::request::PageRequest;
use crate::pages::frame::response::{PageError, PageResult};
use crate::pages::question;
use crate::pages::task::about::{find_run, render_about};
use crate::pages::task::log::transcript_text;
use crate::pages::task::questions::load_questions;
use crate::pages::task::standing::{notes, standing};
use crate::pages::task::transcript::{last_todo, moment_of, render_entry, todo};
use crate::pages::task::{TaskPage, TaskTab, history, messages};
use crate::pages::widgets::markdown::markdown;
use crate::pages::widgets::words::{ago, duration, result_text};
use crate::state::App;

/// Entries shown; older ones are in the log.
const ENTRIES_MAX: usize = 500;

pub(crate) async fn show(
    State(app): State<App>,
    PageParam(id): PageParam<TaskId>,
    request: PageRequest,
    mut query: Query,
) -> PageResult {
    let wanted: Option<AttemptId> = query.take("attempt")?;
    query.done()?;
    let seen = TaskPage::load(&app, id, request).await?;
    let view = task_view(&app.workspace.scheduling(), id).await?;
    let landing = TaskLandingView::load(&app.workspace.landing, &app.workspace.projects, &seen.task).await?;
    let around = WorkStanding::load(&app.workspace.projects, &seen.task).await?;
    let questions = load_questions(&app, id).await?;
    let events = history(&app, id).await?;
    let run = find_run(&app, &events).await?;
    let (now, next) = (seen.frame.now, format!("/tasks/{id}"));
    let pending = questions.iter().filter(|record| record.state == QuestionState::Pending);
    let body = html! {
        @for record in pending { (question::card(record, Some(&seen.task), now, &next)) }
        (standing(&seen, &questions, &events))
        @if let Some(problem) = &view.problem { div.alert role="alert" { p { (problem.error) } p.muted { (problem.service) ", since " (ago(problem.since, now)) "." } } }
        @if let Some(landing) = &landing { div.notice { p { "Landing: " (landing.message) } } }
        @if let Some(reason) = around.and_then(|around| around.waits_because) {
            div.notice { p { "Waits for you: " (reason) } }
        }
        @if let Some(reason) = &view.not_started { div.notice { p { "Ready but not started: " (reason.message) "." } } }
        div.columns {
            div {
                @if !view.description.trim().is_empty() {
                    section { h2 { "Description" } div.prose.clamp tabindex="0" { (markdown(&view.description)) } }
                }
                (result(&seen, &view, &questions))
                (conversation(&app, &seen, &view.attempts, &questions, wanted).await?)
                (messages::form(&seen.task))
            }
            aside aria-label="About this task" {
                (render_about(&app, &seen, &view, run.as_ref()).await?)
                (notes(&seen))
            }
        }
    };
    Ok(seen.page(TaskTab::Activity, &[], &body))
}

/// What the last attempt that ended left, unless a question shown already says it.
fn result(seen: &TaskPage, view: &TaskView, questions: &[QuestionRecord]) -> Markup {
    let is_asked =
        |output: &str| questions.iter().any(|record| record.question.text().as_str().trim() == output.trim());
    let output = view.output.as_deref().filter(|text| !text.trim().is_empty() && !is_asked(text));
    let is_live = seen.task.state().live_attempt().is_some();
    let has_changes = view.verified.as_ref().is_some_and(|end| end.commits > 0 || end.files_changed > 0);
    html! {
        @if output.is_some() || has_changes {
            section #result {
                h2 {
                    @if is_live { "Result of the attempt before" } @else { "Result" }
                    @if let Some(measured) = &view.verified { " " span.muted { (size(measured)) } }
                }
                @if let Some(output) = output { div.prose.output tabindex="0" { (markdown(output)) } }
            }
        }
    }
}

/// One attempt in full, a line for each of the others, and what people asked and said, in the order of time.
async fn conversation(
    app: &App,
    seen: &TaskPage,
    attempts: &[AttemptRecord],
    questions: &[QuestionRecord],
    wanted: Option<AttemptId>,
) -> Result<Markup, PageError> {
    let (now, id) = (seen.frame.now, seen.task.id());
    let chosen = attempts.iter().find(|record| Some(record.attempt.id) == wanted).or(attempts.last());
    let entries = match chosen {
        Some(record) => read_transcript(&transcript_text(&app.workspace, record.attempt.id).await?),
        None => Vec::new(),
    };
    let left_out = entries.len().saturating_sub(ENTRIES_MAX);
    let mut items: Vec<(Timestamp, Markup)> = Vec::new();
    if attempts.len() > 1 {
        items.extend(attempts.iter().map(|record| {
            let is_open = chosen.is_some_and(|chosen| chosen.attempt.id == record.attempt.id);
            (record.attempt.started_at, divider(id, record, is_open, now))
        }));
    }
    let shown = entries.iter().enumerate().skip(left_out);
    items.extend(shown.map(|(number, entry)| (moment_of(entry), render_entry(number, entry, now))));
    let settled = questions.iter().filter(|record| record.state != QuestionState::Pending);
    items.extend(settled.map(|record| {
        let card = question::card(record, Some(&seen.task), now, &format!("/tasks/{id}"));
        (record.asked_at, html! { li { (card) } })
    }));
    let said = messages::load(app, &seen.task).await?;
    items.extend(said.iter().map(|view| (view.at, messages::render_one(view, now))));
    // Stable: what happened at the same moment stays in the order of the log.
    items.sort_by_key(|(at, _)| *at);
    Ok(html! {
        section #activity {
            h2 {
                "Activity"
                @if let Some(record) = chosen { " " a href={ "/tasks/" (id) "/log?attempt=" (record.attempt.id) } { "Log" } }
            }
            @if left_out > 0 && let Some(record) = chosen { p.muted { (left_out) " older entries are in the " a href={ "/tasks/" (id) "/log?attempt=" (record.attempt.id) } { "log" } "." } }
            @if let Some(items) = last_todo(&entries) { (todo(items)) }
            @if !items.is_empty() {
                ol.transcript data-turns[chosen.is_some_and(|record| record.closing.is_none())] { @for (_, item) in &items { (item) } }
            }
            (quiet(chosen, &entries))
        }
    })
}

/// Why there is nothing to read.
fn quiet(chosen: Option<&AttemptRecord>, entries: &[TranscriptEntry]) -> Markup {
    html! {
        @match chosen {
            None => p.muted { "No agent has started yet. What it says and does appears here." },
            Some(record) if entries.is_empty() && record.closing.is_none() => p.muted { "No output yet." },
            Some(_) if entries.is_empty() => p.muted { "The agent left no output." },
            Some(_) => {},
        }
    }
}

/// Where an attempt began. Another attempt than the open one is a link to it.
fn divider(task: TaskId, record: &AttemptRecord, is_open: bool, now: Timestamp) -> Markup {
    let attempt = &record.attempt;
    let end = match &record.closing {
        Some(AttemptClosing::Ended { at, end }) => {
            let (result, took) = (result_text(end.reported.result.kind()), at.ms_since(attempt.started_at));
            format!("{result} after {}", duration(took))
        }
        Some(AttemptClosing::Lost { .. }) => "the attempt ended early".to_owned(),
        Some(AttemptClosing::Stopped { .. }) => "stopped".to_owned(),
        None => "at work".to_owned(),
    };
    html! {
        li.divider #{ "attempt-" (attempt.number) } {
            @if is_open { strong { "Attempt " (attempt.number) } }
            @else { a href={ "/tasks/" (task) "?attempt=" (attempt.id) "#attempt-" (attempt.number) } { "Attempt " (attempt.number) } }
            " " span.muted { (attempt.agent) ", " (ago(attempt.started_at, now)) ", " (end) }
        }
    }
}

//! `/routines`: work that starts by time or by event.

use axum::extract::State;
use baton_core::base::id::{InvalidId, RoutineId};
use baton_core::base::time::Timestamp;
use baton_core::records::project::Project;
use baton_core::routine::{CatchUp, Overlap, Routine, Trigger};
use maud::{Markup, html};

use crate::api::routes::routines::{NewRoutineBody, parse, routines};
use crate::http::error::{ApiError, Code};
use crate::pages::frame::form::PageForm;
use crate::pages::frame::layout::{Frame, empty, heading};
use crate::pages::frame::navigation::Tab;
use crate::pages::frame::request::PageRequest;
use crate::pages::frame::response::{PageResult, redirect};
use crate::pages::projects::{list_projects, picker};
use crate::pages::widgets::words::{ago, time_left};
use crate::state::App;
use crate::state::principal::AuthedApp;

pub(super) async fn show(State(app): State<App>, request: PageRequest) -> PageResult {
    let frame = Frame::load(&app, request).await?;
    let all = routines(&app).list().await.map_err(ApiError::from)?;
    let projects = list_projects(&app).await?;
    let ids: Vec<String> = all.iter().map(|routine| routine.id.to_string()).collect();
    let body = html! {
        (heading("Routines", &html! {}))
        @if all.is_empty() {
            (empty("No routines", "A routine creates a task again and again: by time, when a branch moves, when a task is done, or when a program calls.", &[
                ("baton routine add \"Update dependencies\" --every \"Mon 06:00\"", "add one in the terminal"),
            ]))
        } @else {
            div.scroll tabindex="0" role="region" aria-label="Routines" {
                table.stacks {
                    thead { tr { th { "Routine" } th { "Starts" } th { "Next" } th { "Last run" } th { "Actions" } } }
                    tbody { @for routine in &all { (row(routine, frame.now)) } }
                }
            }
        }
        (form(&projects))
        p.muted { "API: " a href="/api/routines" { "/api/routines" } ", terminal: " code { "baton routine list" } }
    };
    Ok(frame.page(Tab::Recipes, "Routines", &ids, &body))
}

fn row(routine: &Routine, now: Timestamp) -> Markup {
    let toggle = if routine.is_active() { ("pause", "Pause") } else { ("resume", "Resume") };
    html! {
        tr id=(routine.id) {
            td data-label="Routine" { strong { (routine.task.title) } br; span.muted { (routine.id) } }
            td data-label="Starts" { (starts(&routine.trigger)) br; span.muted { "if the last is not over: " (overlap(routine.overlap).to_lowercase()) } }
            td data-label="Next" {
                @if !routine.is_active() { span.tone-asking { "▲ paused" } }
                @else if let Some(next) = routine.next_at { "in " (time_left(next, now)) }
                @else { "–" }
                @if !routine.waiting.is_empty() { br; span.muted { (routine.waiting.len()) " waiting" } }
            }
            td data-label="Last run" {
                @if let Some(last) = &routine.last {
                    a href={ "/tasks/" (last.task_id) } { (last.task_id) } " " span.muted { (ago(last.at, now)) }
                } @else { "–" }
                br;
                span.muted { (routine.run_count) " run, " (routine.skipped_count) " skipped" }
            }
            td data-label="Actions" {
                div.verbs {
                    @for (verb, word) in [("run", "Run now"), toggle, ("remove", "Remove")] {
                        form method="post" action={ "/routines/" (routine.id) "/do/" (verb) } {
                            button type="submit" aria-label={ (word) ": " (routine.task.title) } { (word) }
                        }
                    }
                }
            }
        }
    }
}

fn starts(trigger: &Trigger) -> Markup {
    html! {
        @match trigger {
            Trigger::Time { schedule, time_zone, .. } => { code { (schedule) } " " (time_zone) },
            Trigger::Ref { branch, .. } => { "when " code { (branch) } " moves" },
            Trigger::Webhook => "when a program calls",
            Trigger::TaskDone { .. } => "when a task is done",
        }
    }
}

fn form(projects: &[Project]) -> Markup {
    html! {
        section {
            h2 { "New routine" }
            form.routine method="post" action="/routines" {
                label for="routine-title" { "Title" }
                input #routine-title type="text" name="title" required;
                label for="routine-description" { "Description" }
                textarea #routine-description name="description" rows="3" data-draft="new-routine" {}
                div.fields {
                    div {
                        label for="routine-starts" { "Starts" }
                        select #routine-starts name="starts" { @for one in Starts::ALL { option value=(one.name()) { (one.words()) } } }
                    }
                    div { label for="routine-when" { "When" } input #routine-when type="text" name="when" placeholder="Mon 06:00" required; }
                    div { label for="routine-zone" { "Time zone" } input #routine-zone type="text" name="time_zone" placeholder="Europe/Berlin"; }
                    div {
                        label for="routine-overlap" { "If the last run is not over" }
                        select #routine-overlap name="overlap" { @for one in Overlap::ALL { option value=(one) { (overlap(*one)) } } }
                    }
                    div {
                        label for="routine-missed" { "Missed runs" }
                        select #routine-missed name="catch_up" { @for one in CatchUp::ALL { option value=(one) selected[*one == CatchUp::One] { (missed(*one)) } } }
                    }
                }
                @if !projects.is_empty() {
                    label for="routine-project" { "Project" }
                    (picker("routine-project", projects, None, "None"))
                }
                div.actions { button.primary type="submit" { "Create routine" } }
            }
        }
    }
}

/// What a new routine starts by; the field beside it says when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Starts {
    Every,
    Cron,
    On,
}

impl Starts {
    const ALL: [Self; 3] = [Self::Every, Self::Cron, Self::On];

    const fn name(self) -> &'static str {
        match self {
            Self::Every => "every",
            Self::Cron => "cron",
            Self::On => "on",
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Every => "Every, such as Mon 06:00",
            Self::Cron => "By cron, such as 0 6 * * 1",
            Self::On => "On ref:main, webhook or task:done",
        }
    }
}

const fn overlap(one: Overlap) -> &'static str {
    match one {
        Overlap::Skip => "Skip the new run",
        Overlap::Queue => "Run it afterwards",
        Overlap::Replace => "Cancel the old run",
    }
}

const fn missed(one: CatchUp) -> &'static str {
    match one {
        CatchUp::None => "Leave them out",
        CatchUp::One => "Run once",
        CatchUp::All => "Run all of them",
    }
}
pub(super) async fn add(app: AuthedApp, form: PageForm) -> PageResult {
    let when =
        |starts: Starts| (form.text("starts") == starts.name()).then(|| form.text("when").trim().to_owned());
    let new = NewRoutineBody {
        title: form.non_blank("title")?.to_string(),
        description: form.text("description").replace("\r\n", "\n"),
        every: when(Starts::Every),
        cron: when(Starts::Cron),
        on: when(Starts::On),
        time_zone: form.choice("time_zone").map(str::to_owned),
        overlap: form.parse("overlap")?.unwrap_or_default(),
        catch_up: form.parse("catch_up")?.unwrap_or_default(),
        project_id: form.parse("project")?,
        task_type: None,
        priority: baton_core::base::priority::Priority::default(),
        recipe: None,
    };
    let new = parse(&app, new).await?;
    routines(&app).add(new, app.actor()).await.map_err(ApiError::from)?;
    Ok(redirect("/routines"))
}

pub(super) async fn act(
    app: AuthedApp,
    path: axum::extract::Path<(String, String)>,
    _: PageForm,
) -> PageResult {
    let axum::extract::Path((id, verb)) = path;
    let id: RoutineId = id
        .parse()
        .map_err(|error: InvalidId| ApiError::invalid(error.to_string(), "use the buttons of the page"))?;
    let routines = routines(&app);
    let done = match verb.as_str() {
        "run" => routines.call(id, None, "").await.map(drop),
        "pause" => routines.pause(id, app.actor()).await.map(drop),
        "resume" => routines.resume(id, app.actor()).await.map(drop),
        "remove" => routines.remove(id, app.actor()).await.map(drop),
        _ => {
            let hint = "use the buttons of the page";
            return Err(ApiError::new(Code::NotFound, format!("there is no action \"{verb}\""), hint).into());
        }
    };
    done.map_err(ApiError::from)?;
    Ok(redirect("/routines"))
}

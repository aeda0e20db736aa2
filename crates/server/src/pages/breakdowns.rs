//! `/breakdowns`: plans for tasks that were too large: read, edit, approve, reject.

use axum::extract::State;
use axum::http::StatusCode;
use baton_core::base::id::TaskId;
use baton_core::base::text::{NonBlank, Role};
use baton_core::recycle::plan::{ITEMS_MAX, ItemDraft, Plan, PlanDraft, PlanItem};
use baton_core::task::state::{ReviewMark, TaskState};
use baton_core::task::{Purpose, Task};
use baton_core::transition::command::Command;
use baton_engine::attempt::breakdown_prompt::preview;
use baton_engine::base::error::{Entity, NotFound};
use baton_engine::query::TaskFilter;
use baton_engine::tasks::error::TaskError;
use maud::{Markup, html};
use serde_json::Value;

use crate::pages::frame::form::PageForm;
use crate::pages::frame::key::PageParam;
use crate::pages::frame::layout::{Frame, empty, heading};
use crate::pages::frame::navigation::Tab;
use crate::pages::frame::request::PageRequest;
use crate::pages::frame::response::{PageError, PageResult, redirect};
use crate::pages::widgets::markdown::markdown;
use crate::pages::widgets::words::{ago, pluralize, state_badge};
use crate::state::App;
use crate::state::principal::AuthedApp;

const LISTED_MAX: u32 = 100;
/// Empty rows for new items in the editor.
const EMPTY_ROWS: usize = 2;

pub(super) async fn list(State(app): State<App>, request: PageRequest) -> PageResult {
    let frame = Frame::load(&app, request).await?;
    let filter = TaskFilter { role: Some(Role::breakdown()), newest_first: true, ..TaskFilter::default() };
    let mut tasks: Vec<Task> = app
        .tasks()
        .store
        .tasks(&filter, None, LISTED_MAX)
        .await?
        .items
        .into_iter()
        .map(|stored| stored.value)
        .collect();
    // Those that wait for a person come first.
    tasks
        .sort_by_key(|task| !matches!(task.state(), TaskState::Provisional(_) | TaskState::Breakdown { .. }));
    let body = html! {
        (heading("Plans", &html! {}))
        @if tasks.is_empty() {
            (empty("No breakdowns", "A task that is too large for one attempt is broken down. Its plan waits here for approval.", &[("baton recycle TASK", "break a task down"), ("baton breakdown list", "the same in a terminal")]))
        }
        div.rows data-filter {
            @for task in &tasks {
                article #{ "b-" (task.id()) } data-row {
                    (state_badge(task.state()).chip()) " "
                    a.title href={ "/breakdowns/" (task.id()) } { (task.spec().title) } " "
                    span.muted { (task.id()) " · " (ago(task.updated_at(), frame.now)) }
                }
            }
        }
    };
    Ok(frame.page(Tab::Breakdowns, "Plans", &[], &body))
}

async fn breakdown(app: &App, id: TaskId) -> Result<Task, PageError> {
    let task = app.tasks().task(id).await?.value;
    if task.is_breakdown() { Ok(task) } else { Err(NotFound::new(Entity::Breakdown, id).into()) }
}

pub(super) async fn show(
    State(app): State<App>,
    PageParam(id): PageParam<TaskId>,
    request: PageRequest,
) -> PageResult {
    let frame = Frame::load(&app, request).await?;
    let task = breakdown(&app, id).await?;
    let plan = app.tasks().store.plan(id).await?.map(|stored| stored.value);
    let body = html! {
        header.heading.task {
            p.crumbs { (state_badge(task.state()).chip()) a.id href={ "/tasks/" (id) } { (id) } (lineage(&task)) }
            h1 { (task.spec().title) }
        }
        (next_step(&task))
        @if let Some(record) = &plan {
            section {
                h2 { "Plan: " (pluralize(record.plan.items().len() as u64, "task")) " " span.muted { "by " (record.submitted_by) ", " (ago(record.submitted_at, frame.now)) } }
                (read(&record.plan))
            }
            @if is_provisional(&task) { (decide(id)) }
        }
        @if may_edit(&task) { (editor(id, &rows(plan.as_ref().map(|record| &record.plan)), plan.is_some(), None)) }
        @if is_to_plan(&task) {
            details {
                summary { "Prompt for the planner" }
                div.prose { (markdown(&planner_prompt(&app, &task).await)) }
            }
        }
    };
    Ok(frame.page(Tab::Breakdowns, "Plan", &[id.to_string()], &body))
}

fn is_provisional(task: &Task) -> bool {
    matches!(task.state(), TaskState::Provisional(provisional) if provisional.mark == ReviewMark::Plan)
}

fn may_edit(task: &Task) -> bool {
    matches!(task.state(), TaskState::Provisional(_) | TaskState::Breakdown { .. } | TaskState::Failed { .. })
}

fn is_to_plan(task: &Task) -> bool {
    match task.spec().purpose {
        Purpose::Breakdown { by_hand, .. } => !by_hand,
        Purpose::Work | Purpose::Run => false,
    }
}

/// What the planner is told, from the repository as it is now; else the reason why that cannot be said.
async fn planner_prompt(app: &App, task: &Task) -> String {
    match preview(&app.workspace.projects, task).await {
        Ok(prompt) => prompt,
        Err(error) => format!("The repository cannot be read: {error}\n\n{}", task.spec().description),
    }
}

fn lineage(task: &Task) -> Markup {
    html! {
        @if let Some(replaced) = task.replaces() {
            span { "replaces " a href={ "/tasks/" (replaced) } { (replaced) } }
        }
    }
}

/// What the breakdown waits for.
fn next_step(task: &Task) -> Markup {
    let by_hand = matches!(task.spec().purpose, Purpose::Breakdown { by_hand: true, .. });
    html! {
        @if let TaskState::Breakdown { released } = task.state() {
            div.notice {
                @if by_hand { p { "You chose to split it yourself: write the plan below." } }
                @else if *released { p { "Waiting for a free agent to plan it." } }
                @else {
                    p { "Not planned yet. Let an agent plan it, or write the plan below." }
                    form.actions method="post" action={ "/breakdowns/" (task.id()) "/run" } { button.primary type="submit" { "Plan with an agent" } }
                }
            }
        }
    }
}

fn read(plan: &Plan) -> Markup {
    let leaves = plan.leaves();
    html! {
        ol.plan {
            @for (index, item) in plan.items().iter().enumerate() {
                li #{ "item-" (index + 1) } data-row {
                    strong { (item.title) }
                    @if let Some(priority) = item.priority { " " span.muted { (priority) } }
                    @if !item.depends_on.is_empty() { " " span.muted { "after " (numbers(&item.depends_on)) } }
                    @if leaves.contains(&(index + 1)) { " " span.muted { "· dependents wait for this" } }
                    @if !item.description.is_empty() { div.prose { (markdown(&item.description)) } }
                    (points("Acceptance criteria", &item.acceptance_criteria))
                    (points("Verification", &item.verification))
                }
            }
        }
    }
}

fn points(title: &str, points: &[NonBlank]) -> Markup {
    html! { @if !points.is_empty() { p.muted { (title) } ul.points { @for point in points { li.prose { (markdown(point.as_str())) } } } } }
}

fn numbers(numbers: &[usize]) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn decide(id: TaskId) -> Markup {
    html! {
        div.actions {
            form method="post" action={ "/breakdowns/" (id) "/approve" } { button.primary type="submit" { "Approve plan" } }
        }
        details {
            summary { "Reject" }
            form method="post" action={ "/breakdowns/" (id) "/reject" } {
                label for="plan-reason" { "What should change? The next planner gets this text." }
                textarea #plan-reason name="reason" rows="3" required {}
                div.actions { button type="submit" { "Reject plan" } }
            }
        }
    }
}

/// One item of the plan as the form has it.
#[derive(Default)]
struct PlanRow {
    title: String,
    description: String,
    after: String,
    priority: String,
    criteria: String,
    verification: String,
}

impl PlanRow {
    fn of(item: &PlanItem) -> Self {
        let lines = |texts: &[NonBlank]| texts.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
        Self {
            title: item.title.to_string(),
            description: item.description.clone(),
            after: numbers(&item.depends_on),
            priority: item.priority.map(|priority| priority.to_string()).unwrap_or_default(),
            criteria: lines(&item.acceptance_criteria),
            verification: lines(&item.verification),
        }
    }

    /// As it was typed.
    fn typed(form: &PageForm, number: usize) -> Self {
        let field =
            |name: &str| form.text(&format!("{name}-{number}")).replace("\r\n", "\n").trim().to_owned();
        Self {
            title: field("title"),
            description: field("description"),
            after: field("after"),
            priority: field("priority"),
            criteria: field("criteria"),
            verification: field("verification"),
        }
    }

    fn draft(self) -> ItemDraft {
        let lines = |text: &str| {
            text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect()
        };
        let numbers = self.after.split([',', ' ']).filter(|part| !part.is_empty());
        ItemDraft {
            priority: Some(self.priority).filter(|text| !text.is_empty()).map_or(Value::Null, Value::String),
            acceptance_criteria: lines(&self.criteria),
            verification: lines(&self.verification),
            depends_on: numbers.map(|part| Value::String(part.to_owned())).collect(),
            title: self.title,
            description: self.description,
        }
    }
}

fn rows(plan: Option<&Plan>) -> Vec<PlanRow> {
    plan.map(Plan::items).unwrap_or_default().iter().map(PlanRow::of).collect()
}

/// The plan as a form; items without a title are dropped.
fn editor(id: TaskId, items: &[PlanRow], has_plan: bool, fault: Option<&str>) -> Markup {
    let (nothing, shown) = (PlanRow::default(), (items.len() + EMPTY_ROWS).min(ITEMS_MAX));
    html! {
        details open[!has_plan || fault.is_some()] {
            summary { @if has_plan { "Edit plan" } @else { "Write plan" } }
            @if let Some(fault) = fault {
                div.alert role="alert" { p { "The plan cannot be used. Nothing was stored; what you wrote is below." } pre { (fault) } }
            }
            form.plan method="post" action={ "/breakdowns/" (id) "/edit" } {
                @for row in 0..shown { (fields(row + 1, items.get(row).unwrap_or(&nothing))) }
                div.actions { button.primary type="submit" { "Submit plan" } span.muted { "items without a title are dropped" } }
            }
        }
    }
}

fn fields(number: usize, item: &PlanRow) -> Markup {
    let name = |field: &str| format!("{field}-{number}");
    html! {
        fieldset {
            legend { "Task " (number) }
            label for=(name("title")) { "Title" }
            input #(name("title")) type="text" name=(name("title")) value=(item.title);
            label for=(name("description")) { "Description" }
            textarea #(name("description")) name=(name("description")) rows="2" { (item.description) }
            div.small {
                div {
                    label for=(name("after")) { "After (numbers)" }
                    input #(name("after")) type="text" name=(name("after")) value=(item.after);
                }
                div {
                    label for=(name("priority")) { "Priority" }
                    input #(name("priority")) type="text" name=(name("priority")) value=(item.priority) placeholder="P2";
                }
            }
            label for=(name("criteria")) { "Acceptance criteria (one per line)" }
            textarea #(name("criteria")) name=(name("criteria")) rows="2" { (item.criteria) }
            input type="hidden" name=(name("verification")) value=(item.verification);
        }
    }
}

/// The items of the form; core validates them.
fn typed_rows(form: &PageForm) -> Vec<PlanRow> {
    (1..=ITEMS_MAX).map(|number| PlanRow::typed(form, number)).filter(|row| !row.title.is_empty()).collect()
}

pub(super) async fn edit(
    app: AuthedApp,
    PageParam(id): PageParam<TaskId>,
    request: PageRequest,
    form: PageForm,
) -> PageResult {
    let task = breakdown(&app, id).await?;
    if !may_edit(&task) {
        let (state, command) =
            (task.state().name(), baton_core::transition::command::CommandName::SubmitPlan);
        return Err(
            baton_core::transition::refusal::CommandRefusal::WrongState { task: id, state, command }.into()
        );
    }
    let draft = PlanDraft { items: typed_rows(&form).into_iter().map(PlanRow::draft).collect() };
    match app.tasks().submit_plan(id, draft, app.actor()).await {
        Ok(_) => Ok(redirect(&format!("/breakdowns/{id}"))),
        Err(error) => {
            let Some(TaskError::InvalidPlan(faults)) = error.get() else { return Err(error.into()) };
            let frame = Frame::load(&app, request).await?;
            let body = html! {
                header.heading.task { h1 { (task.spec().title) } }
                (editor(id, &typed_rows(&form), true, Some(&faults.to_string())))
            };
            let about = [id.to_string()];
            Ok(frame.page_with(StatusCode::BAD_REQUEST, Tab::Breakdowns, "Plan", &about, &body))
        }
    }
}

pub(super) async fn run(app: AuthedApp, PageParam(id): PageParam<TaskId>, _: PageForm) -> PageResult {
    breakdown(&app, id).await?;
    app.tasks().apply(id, Command::Release, app.actor()).await?;
    Ok(redirect(&format!("/breakdowns/{id}")))
}

pub(super) async fn approve(app: AuthedApp, PageParam(id): PageParam<TaskId>, _: PageForm) -> PageResult {
    breakdown(&app, id).await?;
    app.tasks().approve(id, app.actor()).await?;
    Ok(redirect("/board"))
}

pub(super) async fn reject(app: AuthedApp, PageParam(id): PageParam<TaskId>, form: PageForm) -> PageResult {
    breakdown(&app, id).await?;
    app.tasks().apply(id, Command::Reject { reason: form.non_blank("reason")? }, app.actor()).await?;
    Ok(redirect(&format!("/breakdowns/{id}")))
}

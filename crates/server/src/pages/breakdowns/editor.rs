//! The editor of a plan: change, add, reorder and remove items. Without scripts each step is a round trip that keeps what was
//! typed; with them it happens on the page.

use axum::http::StatusCode;
use baton_core::base::id::TaskId;
use baton_core::base::priority::Priority;
use baton_core::base::text::NonBlank;
use baton_core::recycle::plan::{ITEMS_MAX, ItemDraft, Plan, PlanDraft, PlanItem};
use baton_core::transition::command::CommandName;
use baton_core::transition::refusal::CommandRefusal;
use baton_engine::tasks::error::TaskError;
use maud::{Markup, html};
use serde_json::Value;

use crate::http::error::ApiError;
use crate::pages::breakdowns::{breakdown, may_edit};
use crate::pages::frame::form::PageForm;
use crate::pages::frame::key::PageParam;
use crate::pages::frame::layout::Frame;
use crate::pages::frame::navigation::Tab;
use crate::pages::frame::request::PageRequest;
use crate::pages::frame::response::{PageError, PageResult, redirect};
use crate::state::principal::AuthedApp;

/// One item as the form has it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct PlanRow {
    title: String,
    description: String,
    /// Numbers of rows.
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

    /// Whether nothing is in it that somebody wrote.
    fn is_empty(&self) -> bool {
        [&self.title, &self.description, &self.after, &self.criteria, &self.verification]
            .iter()
            .all(|text| text.is_empty())
    }

    fn draft(self) -> ItemDraft {
        let lines = |text: &str| {
            text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect()
        };
        let numbers = words(&self.after).map(|part| Value::String(part.to_owned())).collect();
        ItemDraft {
            priority: Some(self.priority).filter(|text| !text.is_empty()).map_or(Value::Null, Value::String),
            acceptance_criteria: lines(&self.criteria),
            verification: lines(&self.verification),
            depends_on: numbers,
            title: self.title,
            description: self.description,
        }
    }
}

pub(super) fn numbers(numbers: &[usize]) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split([',', ' ']).filter(|part| !part.is_empty())
}

/// The rows of the form, numbered from 1.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct PlanRows(Vec<PlanRow>);

/// A step of editing; the numbers are those of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Up(usize),
    Down(usize),
    Remove(usize),
    Add,
}

impl Step {
    fn parse(text: &str) -> Option<Self> {
        let (word, number) = text.split_once('-').unwrap_or((text, "0"));
        let number = number.parse().ok()?;
        Some(match word {
            "up" => Self::Up(number),
            "down" => Self::Down(number),
            "remove" => Self::Remove(number),
            "add" => Self::Add,
            _ => return None,
        })
    }
}

impl PlanRows {
    pub(super) fn of(plan: Option<&Plan>) -> Self {
        Self(plan.map(Plan::items).unwrap_or_default().iter().map(PlanRow::of).collect())
    }

    fn typed(form: &PageForm) -> Self {
        let mut rows: Vec<PlanRow> = (1..=ITEMS_MAX).map(|number| PlanRow::typed(form, number)).collect();
        // Those after the last one that has a field in the form.
        let last = (1..=ITEMS_MAX).rev().find(|number| form.has(&format!("title-{number}")));
        rows.truncate(last.unwrap_or_default());
        Self(rows)
    }

    /// The rows with these old numbers, in this order. What they depend on follows; what is gone is no dependency any more.
    fn arranged(&self, order: &[usize]) -> Self {
        let new_number = |old: usize| order.iter().position(|number| *number == old).map(|at| at + 1);
        let renumber = |after: &str| {
            let kept = words(after).filter_map(|word| match word.parse() {
                // Not a number of a row: for the validation to complain about.
                Err(_) => Some(word.to_owned()),
                Ok(old) if old == 0 || old > self.0.len() => Some(word.to_owned()),
                Ok(old) => new_number(old).map(|number| number.to_string()),
            });
            kept.collect::<Vec<_>>().join(", ")
        };
        let rows = order.iter().filter_map(|number| self.0.get(number.checked_sub(1)?));
        Self(rows.map(|row| PlanRow { after: renumber(&row.after), ..row.clone() }).collect())
    }

    fn step(&self, step: Step) -> Self {
        let mut order: Vec<usize> = (1..=self.0.len()).collect();
        match step {
            Step::Up(number) if number > 1 && number <= order.len() => order.swap(number - 2, number - 1),
            Step::Down(number) if number > 0 && number < order.len() => order.swap(number - 1, number),
            Step::Remove(number) => order.retain(|each| *each != number),
            Step::Up(_) | Step::Down(_) | Step::Add => {}
        }
        let mut rows = self.arranged(&order);
        if step == Step::Add && rows.0.len() < ITEMS_MAX {
            rows.0.push(PlanRow::default());
        }
        rows
    }

    /// Without rows in which nothing was written.
    fn written(&self) -> Self {
        let order: Vec<usize> = (1..=self.0.len()).filter(|number| !self.0[number - 1].is_empty()).collect();
        self.arranged(&order)
    }
}

/// The plan as a form. Live updates leave it alone.
pub(super) fn render_editor(id: TaskId, rows: &PlanRows, is_new: bool, fault: Option<&str>) -> Markup {
    let first = PlanRows(vec![PlanRow::default()]);
    let shown = if rows.0.is_empty() { &first } else { rows };
    html! {
        details #plan-editor data-keep={ "plan-" (id) } open[is_new || fault.is_some()] {
            summary { @if is_new { "Write the plan" } @else { "Edit the plan" } }
            @if let Some(fault) = fault {
                div.alert role="alert" { p { "The plan cannot be used. Nothing was stored; what you wrote is below." } pre { (fault) } }
            }
            form.plan method="post" action={ "/breakdowns/" (id) "/edit" } data-plan=(id) data-items-max=(ITEMS_MAX) {
                @for (index, row) in shown.0.iter().enumerate() { (fields(index + 1, row)) }
                div.actions {
                    button.primary type="submit" { "Save plan" }
                    button type="submit" name="change" value="add" formnovalidate { "Add a task" }
                }
            }
        }
    }
}

fn fields(number: usize, row: &PlanRow) -> Markup {
    let name = |field: &str| format!("{field}-{number}");
    let step = |word: &str, label: &str, sign: &str| {
        html! { button.quiet type="submit" name="change" value={ (word) "-" (number) } aria-label={ (label) " task " (number) } formnovalidate { (sign) } }
    };
    html! {
        fieldset {
            legend { "Task " (number) }
            div.steps { (step("up", "Move up", "↑")) (step("down", "Move down", "↓")) (step("remove", "Remove", "Remove")) }
            label for=(name("title")) { "Title" }
            input #(name("title")) type="text" name=(name("title")) value=(row.title);
            label for=(name("description")) { "Description" }
            textarea #(name("description")) name=(name("description")) rows="2" { (row.description) }
            div.small {
                div {
                    label for=(name("after")) { "Depends on (numbers)" }
                    input #(name("after")) type="text" name=(name("after")) value=(row.after) autocomplete="off";
                }
                div {
                    label for=(name("priority")) { "Priority" }
                    select #(name("priority")) name=(name("priority")) {
                        option value="" { "As the whole" }
                        @for priority in Priority::ALL { option value=(priority) selected[priority.to_string() == row.priority] { (priority) } }
                    }
                }
            }
            label for=(name("criteria")) { "Acceptance criteria (one per line)" }
            textarea #(name("criteria")) name=(name("criteria")) rows="2" { (row.criteria) }
            label for=(name("verification")) { "Verification (one per line)" }
            textarea #(name("verification")) name=(name("verification")) rows="1" { (row.verification) }
        }
    }
}

pub(in crate::pages) async fn edit(
    app: AuthedApp,
    PageParam(id): PageParam<TaskId>,
    request: PageRequest,
    form: PageForm,
) -> PageResult {
    let task = breakdown(&app, id).await?;
    if !may_edit(&task) {
        let (state, command) = (task.state().name(), CommandName::SubmitPlan);
        return Err(CommandRefusal::WrongState { task: id, state, command }.into());
    }
    let page = async |status: StatusCode, rows: &PlanRows, fault: Option<&str>| -> PageResult {
        let frame = Frame::load(&app, request).await?;
        let body = html! {
            header.heading.task { h1 { (task.spec().title) } p { a href={ "/breakdowns/" (id) } { "← Back to the plan" } } }
            (render_editor(id, rows, true, fault))
        };
        // Nothing that happens elsewhere concerns what is being typed.
        Ok(frame.page_with(status, Tab::Breakdowns, "Plan", &["none".to_owned()], &body))
    };
    let rows = PlanRows::typed(&form);
    if form.has("change") {
        let unknown = || ApiError::invalid("no such step", "go back and try again");
        let step = Step::parse(form.text("change")).ok_or_else(|| PageError::from(unknown()))?;
        return page(StatusCode::OK, &rows.step(step), None).await;
    }
    let written = rows.written();
    let draft = PlanDraft { items: written.0.iter().cloned().map(PlanRow::draft).collect() };
    match app.tasks().submit_plan(id, draft, app.actor()).await {
        Ok(_) => Ok(redirect(&format!("/breakdowns/{id}"))),
        Err(error) => {
            let Some(TaskError::InvalidPlan(faults)) = error.get() else { return Err(error.into()) };
            page(StatusCode::BAD_REQUEST, &written, Some(&faults.to_string())).await
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(after: &[&str]) -> PlanRows {
        let row = |(index, after): (usize, &&str)| PlanRow {
            title: format!("{}", char::from(b'a' + u8::try_from(index).unwrap())),
            after: (*after).to_owned(),
            ..PlanRow::default()
        };
        PlanRows(after.iter().enumerate().map(row).collect())
    }

    /// Each row as its title and what it depends on.
    fn shown(rows: &PlanRows) -> Vec<String> {
        rows.0.iter().map(|row| format!("{}<{}", row.title, row.after)).collect()
    }

    #[test]
    fn dependencies_follow_their_items() {
        let plan = rows(&["", "1", "1, 2"]);
        assert_eq!(shown(&plan.step(Step::Up(3))), ["a<", "c<1, 3", "b<1"]);
        assert_eq!(shown(&plan.step(Step::Down(1))), ["b<2", "a<", "c<2, 1"]);
        assert_eq!(shown(&plan.step(Step::Remove(1))), ["b<", "c<1"]);
        assert_eq!(shown(&plan.step(Step::Add)), ["a<", "b<1", "c<1, 2", "<"]);
        for nothing in [Step::Up(1), Step::Down(3), Step::Up(9), Step::Down(0), Step::Remove(0)] {
            assert_eq!(plan.step(nothing), plan, "{nothing:?}");
        }
    }

    #[test]
    fn empty_rows_are_left_out_and_nothing_else_is() {
        let mut plan = rows(&["", "", "1 two 7"]);
        plan.0[1].title.clear();
        assert_eq!(shown(&plan.written()), ["a<", "c<1, two, 7"]);
        // A row without a title is not dropped with what else is in it.
        plan.0[1].description = "Do it".to_owned();
        assert_eq!(plan.written().0.len(), 3);
    }
}

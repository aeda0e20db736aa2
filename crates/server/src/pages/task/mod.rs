//! `/tasks/{id}`: everything about one task, on tabs with addresses of their own.

pub mod about;
mod claims;
pub mod diff;
pub mod evidence;
pub mod lineage;
pub mod log;
pub mod machine;
pub mod new;
pub mod overview;
mod patch;
pub mod questions;
pub mod timeline;
pub mod verb;
pub mod walk;

use axum::response::Response;
use baton_core::base::id::TaskId;
use baton_core::task::Task;
use baton_engine::StoredEvent;
use maud::{Markup, html};

use super::answer::PageError;
use super::card::actions;
use super::layout::{Frame, Tab};
use super::visit::Visit;
use super::words::{ago, of_state};
use crate::state::App;

/// Events of one task that its pages look at: far more than a task has.
const EVENTS_MAX: u32 = 2_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sheet {
    Overview,
    Log,
    Diff,
    Timeline,
    Evidence,
    Questions,
    Lineage,
}

const SHEETS: [(Sheet, &str, &str); 7] = [
    (Sheet::Overview, "Overview", ""),
    (Sheet::Log, "Log", "/log"),
    (Sheet::Diff, "Changes", "/diff"),
    (Sheet::Timeline, "Timeline", "/timeline"),
    (Sheet::Evidence, "Evidence", "/evidence"),
    (Sheet::Questions, "Questions", "/questions"),
    (Sheet::Lineage, "Lineage", "/lineage"),
];

/// A task and the frame of its page.
pub struct Seen {
    pub frame: Frame,
    pub task: Task,
}

impl Seen {
    pub async fn load(app: &App, id: TaskId, visit: Visit) -> Result<Self, PageError> {
        Ok(Self { frame: Frame::load(app, visit).await?, task: app.tasks().task(id).await?.value })
    }

    /// The page with one of its sheets open.
    pub fn page(&self, sheet: Sheet, about: &[String], body: &Markup) -> Response {
        let (task, spec) = (&self.task, self.task.spec());
        let body = html! {
            header.heading.task {
                p.crumbs {
                    (of_state(task.state()).chip())
                    span.id { (spec.id) }
                    a href={ "/chat/" (spec.session_id) } { (spec.session_id) }
                    span { "changed " (ago(task.updated_at(), self.frame.now)) }
                }
                h1 { (spec.title) }
                (actions(task))
            }
            div.tabs role="navigation" aria-label="Parts of this task" {
                @for (each, word, path) in SHEETS {
                    a href={ "/tasks/" (spec.id) (path) } aria-current=[(each == sheet).then_some("page")] { (word) }
                }
            }
            (body)
        };
        let mut ids = vec![spec.id.to_string()];
        ids.extend_from_slice(about);
        self.frame.page(Tab::Board, spec.title.as_str(), &ids, &body)
    }
}

/// The history of a task.
pub async fn history(app: &App, id: TaskId) -> Result<Vec<StoredEvent>, PageError> {
    Ok(app.tasks().store.task_events(id, 0, EVENTS_MAX).await?)
}

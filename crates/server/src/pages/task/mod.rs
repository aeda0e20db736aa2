//! `/tasks/{id}`: one task, on tabs.

pub(super) mod about;
pub(super) mod activity;
pub(super) mod changes;
mod claims;
pub(super) mod details;
mod evidence;
mod lineage;
pub(super) mod log;
mod machine;
pub(super) mod messages;
pub(super) mod moved;
pub(super) mod new;
mod questions;
mod standing;
mod timeline;
mod transcript;
pub(super) mod verb;
mod walk;

use axum::response::Response;
use baton_core::base::id::TaskId;
use baton_core::task::{Purpose, Task};
use baton_engine::StoredEvent;
use maud::{Markup, html};

use crate::pages::for_you::review::to_review;
use crate::pages::frame::layout::Frame;
use crate::pages::frame::navigation::Tab;
use crate::pages::frame::request::PageRequest;
use crate::pages::frame::response::PageError;
use crate::pages::parts::done_in_parts;
use crate::pages::widgets::card::{actions, facts};
use crate::pages::widgets::words::{DONE_IN_PARTS, StateBadge, ago, state_badge};
use crate::state::App;

/// Events read per task; far more than a task has.
const EVENTS_MAX: u32 = 2_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TaskTab {
    Activity,
    Changes,
    Details,
}

const TABS: [(TaskTab, &str, &str); 3] = [
    (TaskTab::Activity, "Activity", ""),
    (TaskTab::Changes, "Changes", "/diff"),
    (TaskTab::Details, "Details", "/details"),
];

pub(super) struct TaskPage {
    pub frame: Frame,
    pub task: Task,
    badge: StateBadge,
    facts: Markup,
}

impl TaskPage {
    pub(super) async fn load(app: &App, id: TaskId, request: PageRequest) -> Result<Self, PageError> {
        let (frame, task) = (Frame::load(app, request).await?, app.tasks().task(id).await?.value);
        let is_done_in_parts = !done_in_parts(app, [&task]).await?.is_empty();
        let badge = if is_done_in_parts { DONE_IN_PARTS } else { state_badge(task.state()) };
        let facts = facts(&task, None, &app.workspace.running, frame.now, true);
        Ok(Self { frame, task, badge, facts })
    }

    /// The page with one tab open.
    pub(super) fn page(&self, tab: TaskTab, about: &[String], body: &Markup) -> Response {
        let (task, spec) = (&self.task, self.task.spec());
        let body = html! {
            header.heading.task {
                p.crumbs {
                    (self.badge.chip())
                    span.id { (spec.id) }
                    a href={ "/chat/" (spec.session_id) } { (spec.session_id) }
                    span { "updated " (ago(task.updated_at(), self.frame.now)) }
                }
                h1 dir="auto" { (spec.title) }
                div data-turns[task.state().live_attempt().is_some()] { (self.facts) }
                // The review of the changes has its own buttons.
                @if tab != TaskTab::Changes || to_review(task).is_none() { (actions(task, &again(task))) }
            }
            div.tabs role="navigation" aria-label="Task tabs" {
                @for (each, word, path) in TABS {
                    a href={ "/tasks/" (spec.id) (path) } aria-current=[(each == tab).then_some("page")] { (word) }
                }
            }
            (body)
        };
        let mut ids = vec![spec.id.to_string()];
        ids.extend_from_slice(about);
        self.frame.page(Tab::Board, spec.title.as_str(), &ids, &body)
    }
}

/// The way to a task like this one with something changed, once no agent works on it.
fn again(task: &Task) -> Markup {
    html! {
        @if task.spec().purpose == Purpose::Work && task.state().live_attempt().is_none() {
            a.button.quiet href={ "/tasks/new?from=" (task.id()) } data-sheet="away" { "Run again with…" }
        }
    }
}

/// A task's events.
pub(super) async fn history(app: &App, id: TaskId) -> Result<Vec<StoredEvent>, PageError> {
    Ok(app.tasks().store.task_events(id, 0, EVENTS_MAX).await?)
}

//! The list of conversations, each with where it stands.

use std::collections::BTreeSet;

use baton_core::base::id::SessionId;
use baton_core::task::state::{QueueName, StateName, TaskStatus};
use baton_engine::query::{QuestionFilter, TaskFilter, TaskGroup};
use maud::{Markup, html};

use crate::pages::frame::layout::Frame;
use crate::pages::frame::response::PageError;
use crate::pages::widgets::markdown::plain;
use crate::pages::widgets::words::{age, pluralize, short, state_name_badge, status_badge};
use crate::state::App;

/// Work to review that is looked through.
const REVIEWS_MAX: u32 = 500;
/// Pending questions that are looked through.
const QUESTIONS_MAX: u32 = 500;
/// Characters of a conversation's first message.
const CHARS_MAX: usize = 60;

/// The conversations in which something waits for a person.
pub(super) struct OpenDecisions {
    /// With finished work that nobody has decided about. Their status says that it runs.
    to_review: BTreeSet<SessionId>,
    /// With a question, of a task or of a loop, which is no task.
    asked: BTreeSet<SessionId>,
}

impl OpenDecisions {
    pub(super) async fn load(app: &App) -> Result<Self, PageError> {
        let store = &app.tasks().store;
        let filter =
            TaskFilter { queue: Some(QueueName::Provisional), newest_first: true, ..TaskFilter::default() };
        let reviews = store.tasks(&filter, None, REVIEWS_MAX).await?;
        let questions = store.questions(&QuestionFilter::pending(), None, QUESTIONS_MAX).await?;
        Ok(Self {
            to_review: reviews.items.into_iter().map(|task| task.value.spec().session_id.clone()).collect(),
            asked: questions.items.into_iter().map(|question| question.value.session_id).collect(),
        })
    }
}

pub(super) fn render_group(
    group: &TaskGroup,
    current: &SessionId,
    decisions: &OpenDecisions,
    frame: &Frame,
) -> Markup {
    let is_to_review =
        group.latest_status == TaskStatus::Running && decisions.to_review.contains(&group.session);
    let waits = group
        .status_counts
        .iter()
        .filter(|(status, _)| status.shows_reply_ui())
        .map(|(_, count)| count)
        .sum::<u64>();
    html! {
        a #{ "s-" (group.session) } href={ "/chat/" (group.session) } data-row aria-current=[(group.session == *current).then_some("page")] {
            span.first { (short(&plain(&group.first_prompt), CHARS_MAX)) }
            span.meta {
                @if waits > 0 || decisions.asked.contains(&group.session) { (status_badge(TaskStatus::AwaitingResponse).chip()) }
                @else if is_to_review { (state_name_badge(StateName::Provisional).chip()) }
                @else { (status_badge(group.latest_status).chip()) }
                span { (pluralize(group.task_count, "task")) }
                (age(group.latest_updated_at, frame.now))
            }
        }
    }
}

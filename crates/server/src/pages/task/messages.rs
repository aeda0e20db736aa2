//! What people said to the task's agent, and a box to say more.

use baton_core::base::id::TaskId;
use baton_core::base::time::Timestamp;
use baton_core::task::Task;
use baton_core::task::state::TaskState;
use maud::{Markup, html};

use crate::api::views::message::{MessageArrival, MessageState, TaskMessageView};
use crate::pages::frame::form::PageForm;
use crate::pages::frame::key::PageParam;
use crate::pages::frame::response::{PageError, PageResult, redirect};
use crate::pages::widgets::markdown::markdown;
use crate::pages::widgets::words::ago;
use crate::state::App;
use crate::state::principal::AuthedApp;

pub(crate) async fn render(app: &App, task: &Task, now: Timestamp) -> Result<Markup, PageError> {
    let messages = app.tasks().messages_to(task).await?;
    let views: Vec<TaskMessageView> =
        messages.iter().map(|message| TaskMessageView::new(task, message)).collect();
    let hint = hint(task);
    Ok(html! {
        @if hint.is_some() || !views.is_empty() {
            section #messages {
                h2 { "Messages to the agent" }
                @for view in &views {
                    div.message #{ "message-" (view.number) } {
                        p.muted { (view.author) ", " (ago(view.at, now)) " · " (delivery(view)) }
                        div.prose { (markdown(&view.content)) }
                    }
                }
                @if let Some(hint) = hint {
                    form method="post" action={ "/tasks/" (task.id()) "/say" } {
                        label for="say" { (hint) }
                        textarea #say name="content" rows="3" required data-draft={ "say-" (task.id()) } {}
                        div.actions { button type="submit" { "Send to the agent" } }
                    }
                }
            }
        }
    })
}

const fn delivery(view: &TaskMessageView) -> &'static str {
    match (view.state, view.arrives) {
        (MessageState::Delivered, _) => "delivered",
        (MessageState::Queued, Some(MessageArrival::NextPause)) => {
            "queued: the agent reads it at its next pause"
        }
        (MessageState::Queued, _) => "queued for the next attempt",
    }
}

/// What happens to a message; none where no agent will read one.
const fn hint(task: &Task) -> Option<&'static str> {
    match task.state() {
        TaskState::Claimed { .. } => Some("The agent reads your message at its next pause."),
        TaskState::Incoming
        | TaskState::Held
        | TaskState::Breakdown { .. }
        | TaskState::NeedsContinuation { .. } => Some("The agent reads your message when it starts."),
        TaskState::AwaitingResponse { .. } | TaskState::Blocked { .. } => {
            Some("This does not answer the question; the agent reads it with the answer.")
        }
        TaskState::Provisional(_) | TaskState::Landing(_) | TaskState::Failed { .. } => {
            Some("No agent works on this. Your message is kept for the next attempt, if there is one.")
        }
        TaskState::Recycled { .. } | TaskState::Done { .. } | TaskState::Cancelled { .. } => None,
    }
}

pub(crate) async fn say(app: AuthedApp, PageParam(id): PageParam<TaskId>, form: PageForm) -> PageResult {
    let text = form.non_blank("content")?;
    app.tasks().say(id, &text, &app.actor()).await?;
    Ok(redirect(&form.next(&format!("/tasks/{id}"))))
}

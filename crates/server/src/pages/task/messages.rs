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

pub(super) async fn load(app: &App, task: &Task) -> Result<Vec<TaskMessageView>, PageError> {
    let messages = app.tasks().messages_to(task).await?;
    Ok(messages.iter().map(|message| TaskMessageView::new(task, message)).collect())
}

/// As an entry of the transcript.
pub(super) fn render_one(view: &TaskMessageView, now: Timestamp) -> Markup {
    html! {
        li.message.human #{ "message-" (view.number) } {
            div.prose { (markdown(&view.content)) }
            p.meta { (view.author) ", " (ago(view.at, now)) " · " (delivery(view)) }
        }
    }
}

/// The box, where an agent will read what is written in it.
pub(super) fn form(task: &Task) -> Markup {
    let Some(hint) = hint(task) else { return html! {} };
    html! {
        form.say method="post" action={ "/tasks/" (task.id()) "/say" } {
            label for="say" { "Message to the agent" }
            textarea #say name="content" rows="1" required data-draft={ "say-" (task.id()) } placeholder=(hint) {}
            button type="submit" { "Send " kbd { "Ctrl ⏎" } }
        }
    }
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

//! `/chat`: the conversations, one of them open. A message becomes a task; its result, and what it has to ask, come
//! back into the thread.

use axum::extract::State;
use axum::response::Response;
use baton_core::ask::question_record::QuestionRecord;
use baton_core::base::id::{ProjectId, SessionId};
use baton_core::recipe::run::Run;
use baton_core::records::receipt::RequestedWork;
use baton_core::task::Task;
use baton_core::task::state::{TaskState, TaskStatus};
use baton_engine::query::{Cursor, QuestionFilter, TaskFilter, TaskGroup};
use baton_engine::tasks::chat::Posting;
use maud::{Markup, html};

use super::answer::{PageAnswer, PageError, go};
use super::form::Form;
use super::key::Key;
use super::layout::{Frame, Tab, empty, heading};
use super::markdown::{markdown, plain};
use super::projects;
use super::question;
use super::task::about::{run_of, run_told};
use super::task::history;
use super::visit::Visit;
use super::words::{age, ago, of_state, of_status, pluralize, short};
use crate::error::ApiError;
use crate::input::Query;
use crate::routes::projects::project;
use crate::state::App;
use crate::views::conversation::{Entry, Said, conversation};
use crate::visitor::Visited;

/// Conversations in the list.
const SESSIONS_MAX: usize = 40;
/// Groups read to find the newest of them.
const GROUPS_PAGE: u32 = 500;
/// Of a conversation, as much of its end as one page shows.
const ENTRIES_MAX: usize = 200;
const ENTRIES_PAGE: u32 = 500;
/// Where messages go when there is no project.
const SESSION_OF_CHAT: &str = "chat";

/// The project's own conversation, or the newest, or an empty one.
pub async fn show(State(app): State<App>, visit: Visit) -> PageAnswer {
    let groups = groups(&app).await?;
    let session = match groups.first() {
        Some(group) => group.session.clone(),
        None => own_session(&app).await?,
    };
    drawn(&app, visit, &groups, &session, false).await
}

pub async fn one(
    State(app): State<App>,
    Key(session): Key<SessionId>,
    visit: Visit,
    mut query: Query,
) -> PageAnswer {
    let is_whole = query.take::<String>("all")?.is_some();
    query.done()?;
    let groups = groups(&app).await?;
    drawn(&app, visit, &groups, &session, is_whole).await
}

async fn own_session(app: &App) -> Result<SessionId, PageError> {
    let projects = app.tasks().store.projects(None, 1).await?;
    match projects.items.first() {
        Some(project) => Ok(SessionId::for_project(project.id)),
        None => SESSION_OF_CHAT.parse().map_err(|error: baton_core::base::id::InvalidId| {
            ApiError::invalid(error.to_string(), "open another conversation").into()
        }),
    }
}

/// The newest conversations first.
async fn groups(app: &App) -> Result<Vec<TaskGroup>, PageError> {
    let (mut groups, mut cursor) = (Vec::new(), None);
    loop {
        let page = app.tasks().store.task_groups(cursor, GROUPS_PAGE).await?;
        groups.extend(page.items);
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.latest_updated_at));
    groups.truncate(SESSIONS_MAX);
    Ok(groups)
}

async fn drawn(
    app: &App,
    visit: Visit,
    groups: &[TaskGroup],
    session: &SessionId,
    is_whole: bool,
) -> PageAnswer {
    let frame = Frame::load(app, visit).await?;
    let entries = entries(app, session).await?;
    let pending = pending(app, session).await?;
    let tasks = question::tasks_of(app, &pending).await?;
    let skipped = if is_whole { 0 } else { entries.len().saturating_sub(ENTRIES_MAX) };
    let next = format!("/chat/{session}");
    let body = html! {
        (heading("Chat", &html! { a.button href={ "/chat/" (fresh(app)) } { "New conversation" } }))
        div.chat {
            div.sessions role="navigation" aria-label="Conversations" data-filter {
                @for group in groups { (listed(group, session, &frame)) }
                @if groups.is_empty() { p.muted { "No conversation yet." } }
            }
            div {
                div.thread #thread role="log" aria-label="Conversation" {
                    @if entries.is_empty() {
                        (empty("Say what you want", "Each message becomes a task for an agent. What it finds, asks or delivers appears here.", &[("baton chat \"…\"", "the same in a terminal")]))
                    }
                    @if skipped > 0 { p { a href={ (next) "?all=1" } { (skipped) " earlier entries" } } }
                    @for (index, entry) in entries.iter().enumerate().skip(skipped) { (said(index, entry, &pending, &tasks, &frame, &next)) }
                    (progress(app, session).await?)
                }
                (composer(app, session).await?)
            }
        }
    };
    Ok(frame.page(Tab::Chat, "Chat", &[], &body))
}

/// An id nobody has used.
fn fresh(app: &App) -> String {
    app.tasks().ids.task().to_string().replace("TASK-", "chat-")
}

async fn entries(app: &App, session: &SessionId) -> Result<Vec<Entry>, PageError> {
    let (mut entries, mut cursor): (Vec<Entry>, Option<Cursor>) = (Vec::new(), None);
    loop {
        let page = conversation(app.tasks(), session, cursor, ENTRIES_PAGE).await?;
        entries.extend(page.items);
        cursor = page.next;
        if cursor.is_none() {
            return Ok(entries);
        }
    }
}

async fn pending(app: &App, session: &SessionId) -> Result<Vec<QuestionRecord>, PageError> {
    let filter = QuestionFilter { session: Some(session.clone()), ..QuestionFilter::pending() };
    let page = app.tasks().store.questions(&filter, None, ENTRIES_PAGE).await?;
    Ok(page.items.into_iter().map(|stored| stored.value).collect())
}

fn listed(group: &TaskGroup, current: &SessionId, frame: &Frame) -> Markup {
    const CHARS_MAX: usize = 60;
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
                @if waits > 0 { (of_status(TaskStatus::AwaitingResponse).chip()) } @else { (of_status(group.latest_status).chip()) }
                span { (pluralize(group.task_count, "task")) }
                (age(group.latest_updated_at, frame.now))
            }
        }
    }
}

fn said(
    index: usize,
    entry: &Entry,
    pending: &[QuestionRecord],
    tasks: &std::collections::BTreeMap<baton_core::base::id::TaskId, Task>,
    frame: &Frame,
    next: &str,
) -> Markup {
    let link = html! { @if let Some(task) = entry.task_id { a href={ "/tasks/" (task) } { (task) } } };
    let when = ago(entry.at, frame.now);
    html! {
        @match &entry.said {
            Said::Message { author, text, .. } => {
                div.said.human #{ "entry-" (index) } { p.meta { (author) ", " (when) " " (link) } div.prose { (markdown(text.as_str())) } }
            },
            Said::Result { text, .. } => {
                div.said #{ "entry-" (index) } { p.meta { "Result " (when) " " (link) } div.prose { (markdown(text)) } }
            },
            Said::Question { question_id, text, is_pending, .. } => {
                @if let Some(record) = pending.iter().find(|record| *is_pending && record.question.id == *question_id) {
                    (question::card(record, record.task_id.and_then(|id| tasks.get(&id)), frame.now, next))
                } @else {
                    div.said #{ "q-" (question_id) } { p.meta { "Asked " (when) " " (link) } div.prose { (markdown(text.as_str())) } }
                }
            },
            Said::Answer { text, answered_by, .. } => {
                div.said.human #{ "entry-" (index) } { p.meta { (answered_by) " answered " (when) } div.prose { (markdown(text.as_str())) } }
            },
        }
    }
}

/// What is being worked on.
async fn progress(app: &App, session: &SessionId) -> Result<Markup, PageError> {
    const SHOWN_MAX: u32 = 5;
    let mut lines = Vec::new();
    for status in [TaskStatus::Running, TaskStatus::Queued] {
        let filter =
            TaskFilter { session: Some(session.clone()), status: Some(status), ..TaskFilter::default() };
        let page = app.tasks().store.tasks(&filter, None, SHOWN_MAX).await?;
        lines.extend(page.items.into_iter().map(|stored| stored.value));
    }
    let run = match app.tasks().session_run(session).await? {
        Some(run) => Some(run),
        None => last_run(app, session).await?,
    };
    Ok(html! {
        @for task in &lines {
            p.progress #{ "progress-" (task.id()) } {
                (of_state(task.state()).chip())
                a href={ "/tasks/" (task.id()) } { (task.spec().title) }
                @if matches!(task.state(), TaskState::Claimed { .. }) { a href={ "/tasks/" (task.id()) "/log" } { "log" } }
            }
        }
        @if let Some(run) = run {
            p.progress #run { "↺ " (run_told(&run)) }
        }
    })
}

/// The recipe the newest task of the conversation followed; how it ended is worth a line.
async fn last_run(app: &App, session: &SessionId) -> Result<Option<Run>, PageError> {
    let filter = TaskFilter { session: Some(session.clone()), newest_first: true, ..TaskFilter::default() };
    match app.tasks().store.tasks(&filter, None, 1).await?.items.pop() {
        Some(newest) => run_of(app, &history(app, newest.value.id()).await?).await,
        None => Ok(None),
    }
}

async fn composer(app: &App, session: &SessionId) -> Result<Markup, PageError> {
    let known = app.tasks().store.session(session).await?;
    let projects = projects::offered(app).await?;
    let own = projects
        .iter()
        .find(|project| SessionId::for_project(project.id) == *session)
        .map(|project| project.id);
    let fixed: Option<ProjectId> = known.as_ref().and_then(|stored| stored.value.project_id).or(own);
    Ok(html! {
        form.composer method="post" action={ "/chat/" (session) } {
            label.unseen for="message" { "Your message" }
            textarea #message name="content" rows="3" required data-draft={ "chat-" (session) } placeholder="What is to be done?" {}
            div.row {
                button.primary type="submit" { "Send " kbd { "Ctrl ⏎" } }
                button.js type="button" data-do="voice" hidden { "Dictate" }
                @if let Some(project) = fixed {
                    input type="hidden" name="project" value=(project);
                } @else if known.is_none() && !projects.is_empty() {
                    label.unseen for="chat-project" { "Project" }
                    (projects::choice("chat-project", &projects, None, "No project"))
                }
                label.unseen for="chat-recipe" { "Recipe" }
                select #chat-recipe name="recipe" {
                    option value="" { "Just the work" }
                    @for listed in app.tasks().recipes.list() { option value=(listed.recipe.id()) { (listed.recipe.label()) } }
                }
            }
        }
    })
}

/// One message, one task more in its session.
pub async fn post(app: Visited, Key(session): Key<SessionId>, form: Form) -> PageAnswer {
    let project = match form.parsed::<ProjectId>("project")? {
        Some(id) => Some(project(&app, id).await?),
        None => None,
    };
    let recipe = form.parsed("recipe")?;
    if let Some(recipe) = &recipe {
        app.tasks().recipe(recipe)?;
    }
    let posting = Posting {
        session: session.clone(),
        text: form.said("content")?,
        wanted: RequestedWork { task_type: None, recipe },
        key: None,
    };
    app.tasks().take_in(project.as_ref(), &posting, app.actor()).await?;
    Ok(to(&session))
}

fn to(session: &SessionId) -> Response {
    go(&format!("/chat/{session}"))
}

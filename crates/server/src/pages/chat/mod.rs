//! `/chat`: conversations. A message creates a task, or reaches the session's run; questions and results appear in the
//! thread.

mod sessions;

use axum::extract::State;
use axum::response::Response;
use baton_core::ask::question_record::QuestionRecord;
use baton_core::base::id::{ProjectId, SessionId};
use baton_core::base::task_type::TaskType;
use baton_core::records::attachment::{AttachedFile, check_attachments, with_attachments};
use baton_core::records::receipt::RequestedWork;
use baton_core::task::Task;
use baton_core::task::state::{TaskState, TaskStatus};
use baton_engine::asking::{MessageDelivery, MessageTarget};
use baton_engine::query::{Cursor, QuestionFilter, TaskFilter, TaskGroup};
use baton_engine::runs::SessionRuns;
use baton_engine::tasks::chat::Posting;
use maud::{Markup, html};

use crate::api::routes::chat::{refuse_attachment, with_ids};
use crate::api::routes::projects::find_project;
use crate::api::views::conversation::{ConversationEntry, EntryContent, load_conversation, load_recent};
use crate::http::error::ApiError;
use crate::http::input::Query;
use crate::pages::chat::sessions::{OpenDecisions, render_group};
use crate::pages::frame::form::PageForm;
use crate::pages::frame::key::PageParam;
use crate::pages::frame::layout::{Frame, empty, heading};
use crate::pages::frame::navigation::Tab;
use crate::pages::frame::request::PageRequest;
use crate::pages::frame::response::{PageError, PageResult, redirect};
use crate::pages::projects;
use crate::pages::question;
use crate::pages::recipes::hub::render_hub;
use crate::pages::task::about::describe_run;
use crate::pages::widgets::markdown::markdown;
use crate::pages::widgets::words::{ago, state_badge};
use crate::state::App;
use crate::state::principal::AuthedApp;

/// Conversations listed.
const SESSIONS_MAX: u32 = 40;
/// Entries shown, from the end.
const ENTRIES_MAX: u32 = 200;
const ENTRIES_PAGE: u32 = 500;
/// The session for messages without a project.
const SESSION_OF_CHAT: &str = "chat";

/// Shows the newest conversation, or the project's default one.
pub(super) async fn show(State(app): State<App>, request: PageRequest) -> PageResult {
    let groups = app.tasks().store.recent_task_groups(SESSIONS_MAX).await?;
    let session = match groups.first() {
        Some(group) => group.session.clone(),
        None => default_session(&app).await?,
    };
    render(&app, request, &groups, &session, false).await
}

pub(super) async fn one(
    State(app): State<App>,
    PageParam(session): PageParam<SessionId>,
    request: PageRequest,
    mut query: Query,
) -> PageResult {
    let is_whole = query.take::<String>("all")?.is_some();
    query.done()?;
    let groups = app.tasks().store.recent_task_groups(SESSIONS_MAX).await?;
    render(&app, request, &groups, &session, is_whole).await
}

async fn default_session(app: &App) -> Result<SessionId, PageError> {
    let projects = app.tasks().store.projects(None, 1).await?;
    match projects.items.first() {
        Some(project) => Ok(SessionId::for_project(project.id)),
        None => SESSION_OF_CHAT.parse().map_err(|error: baton_core::base::id::InvalidId| {
            ApiError::invalid(error.to_string(), "open another conversation").into()
        }),
    }
}

async fn render(
    app: &App,
    request: PageRequest,
    groups: &[TaskGroup],
    session: &SessionId,
    is_whole: bool,
) -> PageResult {
    let frame = Frame::load(app, request).await?;
    let (entries, has_earlier) = if is_whole {
        (load_entries(app, session).await?, false)
    } else {
        load_recent(app.tasks(), session, ENTRIES_MAX).await?
    };
    let pending = pending_questions(app, session).await?;
    let decisions = OpenDecisions::load(app).await?;
    let tasks = question::load_tasks(app, &pending).await?;
    let next = format!("/chat/{session}");
    let body = html! {
        (heading("Chat", &html! { a.button href={ "/chat/" (new_session_id(app)) } { "New conversation" } }))
        div.chat {
            div.sessions role="navigation" aria-label="Conversations" data-filter {
                @for group in groups { (render_group(group, session, &decisions, &frame)) }
                @if groups.is_empty() { p.muted { "No conversations." } }
            }
            div.conversation {
                div.thread #thread role="log" aria-label="Conversation" {
                    @if entries.is_empty() {
                        (empty("Send a message", "Each message creates a task for an agent. Its questions and results appear here.", &[("baton chat \"…\"", "the same in a terminal")]))
                    }
                    @if has_earlier { p { a href={ (next) "?all=1" } { "Show earlier entries" } } }
                    @for entry in &entries { (render_entry(entry, &pending, &tasks, &frame, &next)) }
                    (render_progress(app, session).await?)
                }
                (render_composer(app, session).await?)
            }
        }
    };
    Ok(frame.page(Tab::Chat, "Chat", &[], &body))
}

/// A new session id.
fn new_session_id(app: &App) -> String {
    app.tasks().ids.task().to_string().replace("TASK-", "chat-")
}

async fn load_entries(app: &App, session: &SessionId) -> Result<Vec<ConversationEntry>, PageError> {
    let (mut entries, mut cursor): (Vec<ConversationEntry>, Option<Cursor>) = (Vec::new(), None);
    loop {
        let page = load_conversation(app.tasks(), session, cursor, ENTRIES_PAGE).await?;
        entries.extend(page.items);
        cursor = page.next;
        if cursor.is_none() {
            return Ok(entries);
        }
    }
}

async fn pending_questions(app: &App, session: &SessionId) -> Result<Vec<QuestionRecord>, PageError> {
    let filter = QuestionFilter { session: Some(session.clone()), ..QuestionFilter::pending() };
    let page = app.tasks().store.questions(&filter, None, ENTRIES_PAGE).await?;
    Ok(page.items.into_iter().map(|stored| stored.value).collect())
}

fn render_entry(
    entry: &ConversationEntry,
    pending: &[QuestionRecord],
    tasks: &std::collections::BTreeMap<baton_core::base::id::TaskId, Task>,
    frame: &Frame,
    next: &str,
) -> Markup {
    let link = html! { @if let Some(task) = entry.task_id { a href={ "/tasks/" (task) } { (task) } } };
    let when = ago(entry.at, frame.now);
    html! {
        @match &entry.content {
            EntryContent::Message { author, text, .. } => {
                div.said.human #{ "entry-" (entry.key) } { p.meta { (author) ", " (when) " " (link) } div.prose { (markdown(text.as_str())) } }
            },
            EntryContent::Result { text, .. } => {
                div.said #{ "entry-" (entry.key) } { p.meta { "Result " (when) " " (link) } div.prose { (markdown(text)) } }
            },
            EntryContent::Question { question_id, text, is_pending, .. } => {
                @if let Some(record) = pending.iter().find(|record| *is_pending && record.question.id == *question_id) {
                    (question::card(record, record.task_id.and_then(|id| tasks.get(&id)), frame.now, next))
                } @else {
                    div.said #{ "q-" (question_id) } { p.meta { "Asked " (when) " " (link) } div.prose { (markdown(text.as_str())) } }
                }
            },
            EntryContent::RunEnded { recipe_id, text, .. } => {
                div.said #{ "entry-" (entry.key) } { p.meta { (recipe_id) " ended " (when) " " (link) } div.prose { (markdown(text)) } }
            },
            EntryContent::Answer { text, answered_by, .. } => {
                div.said.human #{ "entry-" (entry.key) } { p.meta { (answered_by) " answered " (when) } div.prose { (markdown(text.as_str())) } }
            },
        }
    }
}

/// Tasks in progress.
async fn render_progress(app: &App, session: &SessionId) -> Result<Markup, PageError> {
    const SHOWN_MAX: u32 = 5;
    let mut lines = Vec::new();
    for status in [TaskStatus::Running, TaskStatus::Queued] {
        let filter =
            TaskFilter { session: Some(session.clone()), status: Some(status), ..TaskFilter::default() };
        let page = app.tasks().store.tasks(&filter, None, SHOWN_MAX).await?;
        lines.extend(page.items.into_iter().map(|stored| stored.value));
    }
    let queueing = app.workspace.scheduling().queueing(&lines).await?;
    let run = SessionRuns::new(app.tasks()).latest(session).await?;
    Ok(html! {
        @for task in &lines {
            p.progress #{ "progress-" (task.id()) } {
                (state_badge(task.state()).chip())
                a href={ "/tasks/" (task.id()) } { (task.spec().title) }
                @if matches!(task.state(), TaskState::Claimed { .. }) { a href={ "/tasks/" (task.id()) } { "activity" } }
                @if let Some(reason) = queueing.reason(task) { span.muted { "not started: " (reason.message) } }
            }
        }
        @if let Some(run) = run {
            p.progress #run { "↺ " (describe_run(&run, false)) }
            (render_hub(&run))
        }
    })
}

/// Where a message goes, if not into a task of its own.
async fn describe_receiver(app: &App, session: &SessionId) -> Result<Option<String>, PageError> {
    let delivery = MessageDelivery::new(app.tasks());
    let Some(target) = delivery.receiver(session).await? else { return Ok(None) };
    let who = match &target {
        MessageTarget::Run(run) => run.recipe().to_string(),
        MessageTarget::Task(task) => format!("“{}”", task.spec().title),
    };
    Ok(Some(match delivery.pending_question(&target).await? {
        Some(_) => {
            format!("{who} waits for you: your message answers its question, or is a remark on it.")
        }
        None => format!(
            "{who} is running: its agent reads your message. Choose a type or a recipe for a new task."
        ),
    }))
}

async fn render_composer(app: &App, session: &SessionId) -> Result<Markup, PageError> {
    let known = app.tasks().store.session(session).await?;
    let projects = projects::list_projects(app).await?;
    let own = projects
        .iter()
        .find(|project| SessionId::for_project(project.id) == *session)
        .map(|project| project.id);
    let fixed: Option<ProjectId> = known.as_ref().and_then(|stored| stored.value.project_id).or(own);
    let receiver = describe_receiver(app, session).await?;
    Ok(html! {
        form.composer method="post" action={ "/chat/" (session) } {
            @if let Some(receiver) = &receiver { p.muted #receiver { (receiver) } }
            label.unseen for="message" { "Your message" }
            textarea #message name="content" rows="3" required data-draft={ "chat-" (session) } placeholder="What should be done?" {}
            div.choices {
                button.primary type="submit" { "Send " kbd { "Ctrl ⏎" } }
                button.js type="button" data-do="voice" hidden { "Dictate" }
                label.js data-files hidden { "Attach " input type="file" name="attachment" multiple; }
                @if let Some(project) = fixed {
                    input type="hidden" name="project" value=(project);
                } @else if known.is_none() && !projects.is_empty() {
                    label.unseen for="chat-project" { "Project" }
                    (projects::picker("chat-project", &projects, None, "No project"))
                }
                label.unseen for="chat-type" { "Type" }
                select #chat-type name="type" {
                    option value="" { "Guess the type" }
                    @for task_type in TaskType::ALL { option value=(task_type) { (task_type) } }
                }
                label.unseen for="chat-recipe" { "Recipe" }
                select #chat-recipe name="recipe" {
                    option value="" { "Default recipe" }
                    @for listed in app.tasks().recipes.list() { option value=(listed.recipe.id()) { (listed.recipe.label()) } }
                }
            }
        }
    })
}

/// Posts a message: to the agent at work in the session, or as a new task.
pub(super) async fn post(
    app: AuthedApp,
    PageParam(session): PageParam<SessionId>,
    form: PageForm,
) -> PageResult {
    let project = match form.parse::<ProjectId>("project")? {
        Some(id) => Some(find_project(&app, id).await?),
        None => None,
    };
    let recipe = form.parse("recipe")?;
    if let Some(recipe) = &recipe {
        app.tasks().recipes.find(recipe)?;
    }
    let files = attached_files(&form)?;
    let posting = Posting {
        session: session.clone(),
        text: with_attachments(&form.non_blank("content")?, &files),
        wanted: RequestedWork { task_type: form.parse("type")?, recipe },
        key: None,
        attachments: with_ids(&app, files),
    };
    MessageDelivery::new(app.tasks()).post(project.as_ref(), &posting, app.sender()).await?;
    Ok(redirect_to(&session))
}

/// The files that the page's script put into the form: the name, a line break, and a data URL.
fn attached_files(form: &PageForm) -> Result<Vec<AttachedFile>, ApiError> {
    let mut files = Vec::new();
    for field in form.all("attachment").filter(|field| !field.is_empty()) {
        let parts = field.split_once('\n').and_then(|(name, url)| {
            Some((name.trim_end(), url.strip_prefix("data:")?.split_once(";base64,")?))
        });
        let Some((name, (media_type, data))) = parts else {
            return Err(ApiError::invalid(
                "the page sends files with JavaScript only",
                "send it with: baton chat TEXT --attach FILE",
            ));
        };
        files.push(
            AttachedFile::new(name, Some(media_type), data).map_err(|error| refuse_attachment(&error))?,
        );
    }
    check_attachments(&files).map_err(|error| refuse_attachment(&error))?;
    Ok(files)
}

fn redirect_to(session: &SessionId) -> Response {
    redirect(&format!("/chat/{session}"))
}

//! `/api/projects/{id}/chat` and `…/conversation`: a message creates a task, or reaches the agent at work in its session.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use baton_core::base::id::{AttachmentId, ProjectId, QuestionId, RunId, SessionId, TaskId};
use baton_core::base::task_type::TaskType;
use baton_core::base::text::RecipeId;
use baton_core::records::attachment::{AttachedFile, AttachmentError, check_attachments, with_attachments};
use baton_core::records::receipt::{DeliveredTo, ReceiptKey, RequestedWork};
use baton_core::task::state::TaskStatus;
use baton_engine::asking::MessageDelivery;
use baton_engine::base::error::{Entity, NotFound};
use baton_engine::tasks::chat::Posting;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::api::route::Route;
use crate::api::routes::projects::find_project;
use crate::api::views::conversation::load_conversation;
use crate::api::views::page::page_view;
use crate::http::error::{ApiError, Code, Result};
use crate::http::idempotency::read_key;
use crate::http::input::{MessageBody, NoQuery, PathParam, Query, non_blank, too_large};
use crate::http::limits::BODY_BYTES_MAX;
use crate::schema::words;
use crate::state::App;
use crate::state::principal::AuthedApp;

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::post("/api/projects/{id}/chat", "chat", chat)
            .takes::<NewMessage>()
            .header(
                "Idempotency-Key",
                "IdempotencyKey",
                "Repeating a request with the same key has no further effect",
            )
            .created()
            .returns::<ChatAnswer>(
                "Posts a message. It reaches the run or the task that is at work in the session, or else creates one task",
            )
            .may_conflict(),
        Route::get("/api/projects/{id}/conversation", "get_conversation", read)
            .query("session_id", "SessionId", "Which session; by default the project's own")
            .paged("EntryCursor")
            .returns_named("Messages, results, questions and answers in chronological order", "Conversation"),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewMessage {
    #[schemars(with = "words::NonBlank")]
    content: String,
    #[schemars(with = "Option<words::SessionId>")]
    session_id: Option<SessionId>,
    #[schemars(with = "Option<words::TaskType>")]
    task_type: Option<TaskType>,
    #[schemars(with = "Option<words::Name>")]
    recipe: Option<RecipeId>,
    /// Files for the agent, up to 10 and 8 MiB together.
    #[serde(default)]
    attachments: Vec<NewAttachment>,
}

/// A file that comes with a message.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewAttachment {
    /// A file name, without a path.
    #[schemars(with = "words::NonBlank")]
    name: String,
    /// Such as `image/png`; by default from the name.
    media_type: Option<String>,
    /// The bytes, as Base64.
    data: String,
}

#[derive(Serialize, JsonSchema)]
struct ChatAnswer {
    /// The new task, or the one whose agent reads the message; null for a run between two tasks.
    #[schemars(with = "Option<words::TaskId>")]
    task_id: Option<TaskId>,
    #[schemars(with = "words::SessionId")]
    task_group_id: SessionId,
    #[schemars(with = "words::SessionId")]
    session_id: SessionId,
    #[schemars(with = "words::TaskType")]
    task_type: TaskType,
    #[schemars(with = "words::Status")]
    status: TaskStatus,
    /// Who got the message; null where it created a task.
    delivered_to: Option<MessageReceiver>,
}

/// The open run of the session, or its task at work, which got a message.
#[derive(Serialize, JsonSchema)]
#[expect(clippy::struct_field_names, reason = "ids are called so everywhere in the API")]
struct MessageReceiver {
    /// Null where a task without a run of its own got it.
    #[schemars(with = "Option<words::RunId>")]
    run_id: Option<RunId>,
    #[schemars(with = "Option<words::Name>")]
    recipe_id: Option<RecipeId>,
    /// The question that the message answered; null where an agent reads it.
    #[schemars(with = "Option<words::QuestionId>")]
    question_id: Option<QuestionId>,
}

impl From<DeliveredTo> for MessageReceiver {
    fn from(to: DeliveredTo) -> Self {
        Self { run_id: to.run_id, recipe_id: to.recipe_id, question_id: to.question_id }
    }
}

async fn chat(
    app: AuthedApp,
    PathParam(id): PathParam<ProjectId>,
    _: NoQuery,
    headers: HeaderMap,
    MessageBody(new): MessageBody<NewMessage>,
) -> Result<(StatusCode, Json<ChatAnswer>)> {
    let text = non_blank(&new.content, "content")?;
    // Only files may make the request larger than others.
    if new.content.len() > BODY_BYTES_MAX {
        return Err(too_large(BODY_BYTES_MAX));
    }
    let files: Vec<AttachedFile> = new
        .attachments
        .iter()
        .map(|file| AttachedFile::new(&file.name, file.media_type.as_deref(), &file.data))
        .collect::<std::result::Result<_, _>>()
        .map_err(|error| refuse_attachment(&error))?;
    check_attachments(&files).map_err(|error| refuse_attachment(&error))?;
    let key = idempotency_key(&headers, id)?;
    let project = find_project(&app, id).await?;
    if let Some(recipe) = &new.recipe {
        app.tasks().recipes.find(recipe)?;
    }
    let posting = Posting {
        session: new.session_id.unwrap_or_else(|| SessionId::for_project(id)),
        text: with_attachments(&text, &files),
        wanted: RequestedWork { task_type: new.task_type, recipe: new.recipe },
        key,
        attachments: with_ids(&app, files),
    };
    let taken = MessageDelivery::new(app.tasks()).post(Some(&project), &posting, app.sender()).await?;
    // Always the first status of a new task, so that a repeated request gets the same response. A receiver is at work.
    let status = if taken.delivered.is_some() { TaskStatus::Running } else { TaskStatus::Queued };
    // A message that another task got says nothing about the type of that task.
    let task_type = match taken.task.filter(|_| taken.delivered.is_some()) {
        Some(receiver) => app.tasks().task(receiver).await?.value.spec().task_type,
        None => posting.task_type(),
    };
    let answer = ChatAnswer {
        task_id: taken.task,
        task_group_id: taken.session.clone(),
        session_id: taken.session,
        task_type,
        status,
        delivered_to: taken.delivered.map(MessageReceiver::from),
    };
    Ok((StatusCode::CREATED, Json(answer)))
}

/// Files that cannot be taken.
pub(crate) fn refuse_attachment(error: &AttachmentError) -> ApiError {
    let (code, hint) = match error {
        AttachmentError::InvalidName { .. } => (Code::InvalidInput, "send the file's name without its path"),
        AttachmentError::NotBase64 { .. } => (Code::InvalidInput, "send the bytes of the file as Base64"),
        AttachmentError::Empty { .. } => (Code::InvalidInput, "leave the file out"),
        AttachmentError::TooMany => (Code::InvalidInput, "send several messages, or an archive"),
        AttachmentError::TooLarge => (Code::TooLarge, "send less; put long material into the repository"),
    };
    ApiError::new(code, error.to_string(), hint)
}

pub(crate) fn with_ids(app: &App, files: Vec<AttachedFile>) -> Vec<(AttachmentId, AttachedFile)> {
    files.into_iter().map(|file| (app.tasks().ids.attachment(), file)).collect()
}

fn idempotency_key(headers: &HeaderMap, project: ProjectId) -> Result<Option<ReceiptKey>> {
    let Some(key) = read_key(headers)? else { return Ok(None) };
    let invalid = |error| {
        ApiError::invalid(
            format!("invalid Idempotency-Key: {error}"),
            "send one key of your choice, such as a UUID",
        )
    };
    ReceiptKey::for_chat(project, &key).map(Some).map_err(invalid)
}

async fn read(
    State(app): State<App>,
    PathParam(id): PathParam<ProjectId>,
    mut query: Query,
) -> Result<Json<Map<String, Value>>> {
    let session: Option<SessionId> = query.take("session_id")?;
    let paging = query.page()?;
    query.done()?;
    find_project(&app, id).await?;
    let own = SessionId::for_project(id);
    let session = session.unwrap_or_else(|| own.clone());
    // The project's default session exists even before its first message.
    let known = app.tasks().store.session(&session).await?;
    let is_here = match &known {
        Some(stored) => app.tasks().is_same_place(stored.value.project_id, Some(id)).await?,
        None => session == own,
    };
    if !is_here {
        return Err(NotFound::new(Entity::Session, session).into());
    }
    let entries = load_conversation(app.tasks(), &session, paging.cursor, paging.limit).await?;
    let mut view = page_view("entries", &entries, Clone::clone)?;
    view.insert("session_id".to_owned(), json!(session));
    Ok(Json(view))
}

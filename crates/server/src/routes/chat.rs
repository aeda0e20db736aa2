//! `/api/projects/{id}/chat` and `…/conversation`: a message becomes a task, and the talk can be read again.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use baton_core::base::id::{ProjectId, SessionId, TaskId};
use baton_core::base::task_type::TaskType;
use baton_core::base::text::RecipeId;
use baton_core::records::receipt::{ReceiptKey, RequestedWork};
use baton_core::task::state::TaskStatus;
use baton_engine::base::error::{Entity, NotFound};
use baton_engine::tasks::chat::Posting;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::projects::project;
use crate::error::{Answer, ApiError};
use crate::input::{Body, Key, Query, said};
use crate::route::Route;
use crate::state::App;
use crate::views::conversation::conversation;
use crate::views::page::page;
use crate::visitor::Visited;

const IDEMPOTENCY_KEY: &str = "idempotency-key";

pub fn routes() -> Vec<Route> {
    vec![
        Route::post("/api/projects/{id}/chat", "chat", chat)
            .takes("NewMessage")
            .header(
                "Idempotency-Key",
                "IdempotencyKey",
                "Sent again with the same key, a message does nothing twice",
            )
            .created()
            .gives("Takes a message in: one message, one task more in its session", "ChatAnswer")
            .may_conflict(),
        Route::get("/api/projects/{id}/conversation", "get_conversation", read)
            .query("session_id", "SessionId", "Which conversation; without it the project's own")
            .paged("EntryCursor")
            .gives("Messages, results, questions and answers, in the order they came", "Conversation"),
    ]
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewMessage {
    content: String,
    session_id: Option<SessionId>,
    task_type: Option<TaskType>,
    recipe: Option<RecipeId>,
}

#[derive(Serialize)]
struct ChatAnswer {
    task_id: TaskId,
    task_group_id: SessionId,
    session_id: SessionId,
    task_type: TaskType,
    status: TaskStatus,
}

async fn chat(
    app: Visited,
    Key(id): Key<ProjectId>,
    query: Query,
    headers: HeaderMap,
    Body(new): Body<NewMessage>,
) -> Answer<(StatusCode, Json<ChatAnswer>)> {
    query.done()?;
    let text = said(&new.content, "content")?;
    let key = key_in(&headers, id)?;
    let project = project(&app, id).await?;
    if let Some(recipe) = &new.recipe {
        app.tasks().recipe(recipe)?;
    }
    let posting = Posting {
        session: new.session_id.unwrap_or_else(|| SessionId::for_project(id)),
        text,
        wanted: RequestedWork { task_type: new.task_type, recipe: new.recipe },
        key,
    };
    let taken = app.tasks().take_in(Some(&project), &posting, app.actor()).await?;
    let answer = ChatAnswer {
        task_id: taken.task,
        task_group_id: taken.session.clone(),
        session_id: taken.session,
        task_type: posting.task_type(),
        // What a message makes is queued, however soon an agent takes it: a repeat gets the first answer.
        status: TaskStatus::Queued,
    };
    Ok((StatusCode::CREATED, Json(answer)))
}

fn key_in(headers: &HeaderMap, project: ProjectId) -> Answer<Option<ReceiptKey>> {
    let mut values = headers.get_all(IDEMPOTENCY_KEY).iter();
    let Some(value) = values.next() else { return Ok(None) };
    let hint = "send one key of your own making, such as a UUID";
    if values.next().is_some() {
        return Err(ApiError::invalid("there is more than one Idempotency-Key", hint));
    }
    let text = value.to_str().unwrap_or_default();
    ReceiptKey::for_chat(project, text)
        .map(Some)
        .map_err(|error| ApiError::invalid(format!("the Idempotency-Key cannot be used: {error}"), hint))
}

async fn read(
    State(app): State<App>,
    Key(id): Key<ProjectId>,
    mut query: Query,
) -> Answer<Json<Map<String, Value>>> {
    let session: Option<SessionId> = query.take("session_id")?;
    let paging = query.page()?;
    query.done()?;
    project(&app, id).await?;
    let own = SessionId::for_project(id);
    let session = session.unwrap_or_else(|| own.clone());
    // The project's own session is there from the start, also before anybody has said anything.
    let known = app.tasks().store.session(&session).await?;
    let is_here = known.as_ref().map_or(session == own, |stored| stored.value.project_id == Some(id));
    if !is_here {
        return Err(NotFound::new(Entity::Session, session).into());
    }
    let entries = conversation(app.tasks(), &session, paging.cursor, paging.limit).await?;
    let mut view = page("entries", &entries, Clone::clone)?;
    view.insert("session_id".to_owned(), json!(session));
    Ok(Json(view))
}

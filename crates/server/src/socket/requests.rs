//! Handles WebSocket requests, through the same engine calls as REST.

use std::path::Path;

use baton_core::base::id::{ProjectId, SessionId};
use baton_core::base::text::{AgentName, NonBlank, RecipeId, Role};
use baton_core::recipe::run::Run;
use baton_core::records::receipt::{ReceiptKey, RequestedWork};
use baton_engine::asking::MessageDelivery;
use baton_engine::runs::{RunRequest, SessionRuns};
use baton_engine::tasks::chat::Posting;
use serde_json::{Value, json};

use crate::api::routes::questions::answer_question;
use crate::http::error::{ApiError, Code, Result};
use crate::http::input::non_blank;
use crate::socket::incoming::ClientMessage;
use crate::socket::outgoing;
use crate::state::App;
use crate::state::principal::AuthedApp;

const PROJECTS_PAGE: u32 = 500;

/// `key` is that of the receipt of a prompt.
pub(super) async fn handle(
    app: &AuthedApp,
    request: ClientMessage,
    key: Option<ReceiptKey>,
) -> Result<Value> {
    match request {
        ClientMessage::GetAvailableRecipes {} => Ok(outgoing::available_recipes(&app.tasks().recipes)),
        ClientMessage::StartRecipe { session_id, recipe_id, working_directory, provider, message, from } => {
            check_provider(app, &recipe_id, provider.as_ref())?;
            let request = RunRequest {
                recipe: recipe_id,
                project: project_at(app, &working_directory).await?,
                message: message.map(|text| non_blank(&text, "message")).transpose()?,
                from,
            };
            start(app, &session_id, &request).await
        }
        ClientMessage::ExitRecipe { session_id } => {
            let run = SessionRuns::new(app.tasks()).exit(&session_id, app.actor()).await?;
            let mut ack = outgoing::ack("exit_recipe");
            ack["run_id"] = json!(run.id());
            Ok(ack)
        }
        ClientMessage::Prompt { session_id, content } => {
            let text = non_blank(&content, "content")?;
            prompt(app, session_id, text, key).await
        }
        ClientMessage::Answer { question_id, answer } => {
            let text = non_blank(&answer, "answer")?;
            let task = answer_question(app, question_id, text).await?;
            let mut ack = outgoing::ack("answer");
            ack["task_id"] = json!(task.map(|task| task.id()));
            Ok(ack)
        }
        ClientMessage::Connect { .. } => Ok(outgoing::ack("connect")),
        // Handled by the session itself.
        ClientMessage::Subscribe { .. } => Ok(outgoing::ack("subscribe")),
    }
}

async fn start(app: &AuthedApp, session: &SessionId, request: &RunRequest) -> Result<Value> {
    let run = SessionRuns::new(app.tasks()).start(session, request, app.actor()).await?;
    Ok(started(&run))
}

pub(super) fn started(run: &Run) -> Value {
    let mut ack = outgoing::ack("start_recipe");
    ack["run_id"] = json!(run.id());
    ack["task_id"] = json!(run.task());
    ack
}

/// The settings assign agents by role. Refuses a requested provider that would not run every step of the recipe.
fn check_provider(app: &App, recipe: &RecipeId, provider: Option<&AgentName>) -> Result<()> {
    let Some(wanted) = provider else { return Ok(()) };
    for step in app.tasks().recipes.find(recipe)?.steps() {
        let usual = Role::implement();
        let role = step.role().unwrap_or(&usual);
        let found = app.workspace.settings.agent_for(role).map(|(name, _)| name);
        if found != Some(wanted) {
            let found = found.map_or_else(|| "no agent".to_owned(), ToString::to_string);
            return Err(ApiError::new(
                Code::Conflict,
                format!("step {} of {recipe} is run by {found}, not by {wanted}", step.name()),
                format!(
                    "omit provider, or set it under [roles.{role}] or as default_agent in .agent/baton.toml"
                ),
            ));
        }
    }
    Ok(())
}

/// The project of a folder; none for the repository this server was started in.
async fn project_at(app: &App, folder: &str) -> Result<Option<ProjectId>> {
    let path = Path::new(folder).canonicalize().unwrap_or_else(|_| folder.into());
    if path == app.workspace.place.root {
        return Ok(None);
    }
    let mut cursor = None;
    loop {
        let page = app.tasks().store.projects(cursor, PROJECTS_PAGE).await?;
        if let Some(found) = page.items.iter().find(|project| Path::new(&project.path) == path) {
            return Ok(Some(found.id));
        }
        cursor = page.next;
        if cursor.is_none() {
            return Err(ApiError::not_found(
                format!("no project for {}", path.display()),
                "create one first: POST /api/projects",
            ));
        }
    }
}

/// Sends the text to the session's running recipe; without one it becomes a task like any message.
async fn prompt(
    app: &AuthedApp,
    session: SessionId,
    text: NonBlank,
    key: Option<ReceiptKey>,
) -> Result<Value> {
    let mut ack = outgoing::ack("prompt");
    let project = app.tasks().store.session(&session).await?.and_then(|stored| stored.value.project_id);
    let project = match project {
        Some(id) => app.tasks().store.project(id).await?.map(|stored| stored.value),
        None => None,
    };
    let posting = Posting { session, text, wanted: RequestedWork::default(), key, attachments: Vec::new() };
    let taken = MessageDelivery::new(app.tasks()).post(project.as_ref(), &posting, app.sender()).await?;
    ack["task_id"] = json!(taken.task);
    if let Some(to) = taken.delivered {
        ack["run_id"] = json!(to.run_id);
        ack["question_id"] = json!(to.question_id);
    }
    Ok(ack)
}

//! Requests of a socket, carried out at the same desk as those over HTTP.

use std::path::Path;

use baton_core::base::id::{ProjectId, SessionId};
use baton_core::base::text::{AgentName, NonBlank, RecipeId, Role};
use baton_core::records::receipt::RequestedWork;
use baton_engine::tasks::chat::Posting;
use serde_json::{Value, json};

use super::incoming::Incoming;
use super::outgoing;
use crate::error::{Answer, ApiError, Code};
use crate::input::said;
use crate::routes::questions::give;
use crate::state::App;
use crate::visitor::Visited;

/// Projects looked at in one page.
const PROJECTS_PAGE: u32 = 500;

pub async fn carry_out(app: &Visited, request: Incoming) -> Answer<Value> {
    match request {
        Incoming::GetAvailableRecipes {} => Ok(outgoing::available_recipes(&app.tasks().recipes)),
        Incoming::StartRecipe { session_id, recipe_id, working_directory, provider } => {
            start(app, &session_id, &recipe_id, &working_directory, provider.as_ref()).await
        }
        Incoming::ExitRecipe { session_id } => {
            let run = app.tasks().exit_run(&session_id, app.actor()).await?;
            let mut ack = outgoing::ack("exit_recipe");
            ack["run_id"] = json!(run.id());
            Ok(ack)
        }
        Incoming::Prompt { session_id, content } => {
            let text = said(&content, "content")?;
            prompt(app, session_id, text).await
        }
        Incoming::Answer { question_id, answer } => {
            let text = said(&answer, "answer")?;
            let task = give(app, question_id, text).await?;
            let mut ack = outgoing::ack("answer");
            ack["task_id"] = json!(task.map(|task| task.id()));
            Ok(ack)
        }
        Incoming::Connect { .. } => Ok(outgoing::ack("connect")),
        // The socket itself does it; here there is nothing to do.
        Incoming::Subscribe { .. } => Ok(outgoing::ack("subscribe")),
    }
}

async fn start(
    app: &Visited,
    session: &SessionId,
    recipe: &RecipeId,
    folder: &str,
    provider: Option<&AgentName>,
) -> Answer<Value> {
    check_provider(app, recipe, provider)?;
    let project = project_at(app, folder).await?;
    let run = app.tasks().start_run(session, recipe, project, None, app.actor()).await?;
    let mut ack = outgoing::ack("start_recipe");
    ack["run_id"] = json!(run.id());
    ack["task_id"] = json!(run.task());
    Ok(ack)
}

/// Which agent works is decided by the settings, role by role. A client that wants a certain one gets it in every
/// step of the recipe, or is told in which it would not.
fn check_provider(app: &App, recipe: &RecipeId, provider: Option<&AgentName>) -> Answer<()> {
    let Some(wanted) = provider else { return Ok(()) };
    for step in app.tasks().recipe(recipe)?.steps() {
        let usual = Role::implement();
        let role = step.role().unwrap_or(&usual);
        let found = app.shop.settings.agent_for(role).map(|(name, _)| name);
        if found != Some(wanted) {
            let found = found.map_or_else(|| "no agent".to_owned(), ToString::to_string);
            return Err(ApiError::new(
                Code::Conflict,
                format!("the step {} of {recipe} is done by {found}, not by {wanted}", step.name()),
                format!(
                    "leave provider out, or name it under [roles.{role}] or as default_agent in .agent/baton.toml"
                ),
            ));
        }
    }
    Ok(())
}

/// The project whose repository the folder is; none for the repository this server was started in.
async fn project_at(app: &App, folder: &str) -> Answer<Option<ProjectId>> {
    let path = Path::new(folder).canonicalize().unwrap_or_else(|_| folder.into());
    if path == app.shop.place.root {
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
                format!("no project works in {}", path.display()),
                "make one first: POST /api/projects",
            ));
        }
    }
}

/// Said to the recipe that runs on the session, where one does; else a message like any other, which becomes a task.
async fn prompt(app: &Visited, session: SessionId, text: NonBlank) -> Answer<Value> {
    let mut ack = outgoing::ack("prompt");
    if app.tasks().session_run(&session).await?.is_some() {
        let message = app.tasks().say(&session, text, app.actor()).await?;
        ack["task_id"] = json!(message.task_id);
        return Ok(ack);
    }
    let project = app.tasks().store.session(&session).await?.and_then(|stored| stored.value.project_id);
    let project = match project {
        Some(id) => app.tasks().store.project(id).await?.map(|stored| stored.value),
        None => None,
    };
    let posting = Posting { session, text, wanted: RequestedWork::default(), key: None };
    let taken = app.tasks().take_in(project.as_ref(), &posting, app.actor()).await?;
    ack["task_id"] = json!(taken.task);
    Ok(ack)
}

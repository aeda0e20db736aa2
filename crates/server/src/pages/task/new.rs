//! `/tasks/new`: the form for a new task, or for a task like another with something changed.

use axum::extract::State;
use baton_core::base::id::TaskId;
use baton_core::base::priority::Priority;
use baton_core::base::task_type::TaskType;
use baton_core::base::text::{AgentName, NonBlank, RecipeId};
use baton_core::task::{Task, TaskSpec};
use maud::{Markup, html};

use crate::api::routes::projects::{find_project, parse_title};
use crate::api::routes::tasks::{DEPENDENCIES_MAX, session_for};
use crate::http::error::ApiError;
use crate::http::input::Query;
use crate::pages::frame::form::PageForm;
use crate::pages::frame::layout::Frame;
use crate::pages::frame::navigation::Tab;
use crate::pages::frame::request::PageRequest;
use crate::pages::frame::response::{PageError, PageResult, redirect};
use crate::pages::projects;
use crate::state::App;
use crate::state::principal::AuthedApp;

pub(crate) async fn ask(State(app): State<App>, request: PageRequest, mut query: Query) -> PageResult {
    let from: Option<TaskId> = query.take("from")?;
    query.done()?;
    let frame = Frame::load(&app, request).await?;
    let like = match from {
        Some(id) => Some(app.tasks().task(id).await?.value),
        None => None,
    };
    let title = if like.is_some() { "Run again with…" } else { "New task" };
    let body = html! {
        div.sheet.narrow {
            h1 { (title) }
            @if let Some(like) = &like { p.muted { "A new task like " a href={ "/tasks/" (like.id()) } { (like.id()) } ", which stays as it is." } }
            (form(&app, like.as_ref().map(Task::spec)).await?)
        }
    };
    Ok(frame.page(Tab::Board, title, &["none".to_owned()], &body))
}

async fn form(app: &App, like: Option<&TaskSpec>) -> Result<Markup, PageError> {
    let projects = projects::list_projects(app).await?;
    let given = like.map_or_else(Priority::default, |like| like.priority);
    let back = like.map_or_else(|| "/board".to_owned(), |like| format!("/tasks/{}", like.id));
    // A draft is kept by name: each task to run again has its own.
    let draft = like.map_or_else(|| "new-task".to_owned(), |like| format!("again-{}", like.id));
    Ok(html! {
        form method="post" action="/tasks/new" {
            label for="title" { "Title" }
            input #title type="text" name="title" required autofocus maxlength=(crate::http::limits::TITLE_CHARS_MAX) placeholder="Fix the typo in the README" value=[like.map(|like| &like.title)];
            label for="description" { "Description" }
            textarea #description name="description" rows="5" data-draft=(draft) { @if let Some(like) = like { (like.description) } }
            @if !projects.is_empty() {
                label for="new-project" { "Project" }
                (projects::picker("new-project", &projects, like.and_then(|like| like.project_id), "None"))
            }
            div.fields {
                (select("type", "Type", "Detect from text", &TaskType::ALL, like.map(|like| &like.task_type)))
                div {
                    label for="priority" { "Priority" }
                    select #priority name="priority" {
                        @for priority in Priority::ALL { option value=(priority) selected[priority == given] { (priority) } }
                    }
                }
                (select("agent", "Agent", "As its role says", &app.workspace.settings.agents.keys().collect::<Vec<_>>(), like.and_then(|like| like.agent.as_ref()).as_ref()))
                div {
                    label for="model" { "Model" }
                    input #model type="text" name="model" placeholder="As the agent says" value=[like.and_then(|like| like.model.as_ref())];
                }
                (select("recipe", "Recipe", "Single task", &app.tasks().recipes.list().iter().map(|listed| listed.recipe.id()).collect::<Vec<_>>(), like.and_then(|like| like.recipe.as_ref()).as_ref()))
                div {
                    label for="after" { "Depends on" }
                    input #after type="text" name="after" placeholder="TASK-… TASK-…" autocomplete="off";
                }
            }
            div.actions {
                button.primary type="submit" { "Create task" }
                a.button href=(back) data-close { "Back" }
            }
        }
    })
}

/// A choice whose first option leaves it open.
fn select<T: std::fmt::Display + PartialEq>(
    name: &str,
    label: &str,
    open: &str,
    choices: &[T],
    chosen: Option<&T>,
) -> Markup {
    html! {
        div {
            label for=(name) { (label) }
            select #(name) name=(name) {
                option value="" { (open) }
                @for choice in choices { option value=(choice) selected[chosen == Some(choice)] { (choice) } }
            }
        }
    }
}

pub(crate) async fn add(app: AuthedApp, form: PageForm) -> PageResult {
    let title = parse_title(form.text("title"), "title")?;
    let description = form.text("description").replace("\r\n", "\n");
    let project_id = form.parse("project")?;
    if let Some(id) = project_id {
        find_project(&app, id).await?;
    }
    let session = session_for(&app, project_id, None).await?;
    let given: Option<TaskType> = form.parse("type")?;
    let task_type = given.unwrap_or_else(|| TaskType::detect(&format!("{title}\n{description}")));
    let priority: Priority = form.parse("priority")?.unwrap_or_default();
    let agent: Option<AgentName> = form.parse("agent")?;
    let recipe: Option<RecipeId> = form.parse("recipe")?;
    let model = NonBlank::new(form.text("model")).ok();
    let after = dependencies(&app, form.text("after")).await?;
    let spec = |id, created_at| TaskSpec {
        project_id,
        description: description.clone(),
        priority,
        agent: agent.clone(),
        model: model.clone(),
        recipe: recipe.clone(),
        ..TaskSpec::new(id, session.clone(), task_type, title.clone(), created_at)
    };
    let task = app.tasks().add_task(&after, app.actor(), spec).await?;
    Ok(redirect(&form.next(&format!("/tasks/{}", task.id()))))
}

/// Ids or unique prefixes of them, with anything between them that is not part of one.
async fn dependencies(app: &App, text: &str) -> Result<Vec<TaskId>, PageError> {
    let words: Vec<&str> = text.split([',', ' ', '\n', '\r', '\t']).filter(|word| !word.is_empty()).collect();
    if words.len() > DEPENDENCIES_MAX {
        let message = format!("a task depends on at most {DEPENDENCIES_MAX} others");
        return Err(ApiError::invalid(message, "name fewer").into());
    }
    let mut found = Vec::new();
    for word in words {
        found.push(app.tasks().find_task(word).await?);
    }
    Ok(found)
}

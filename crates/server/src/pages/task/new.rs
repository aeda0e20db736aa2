//! `/tasks/new`: the form for a new task.

use axum::extract::State;
use baton_core::base::priority::Priority;
use baton_core::base::task_type::TaskType;
use baton_core::task::TaskSpec;
use maud::html;

use crate::api::routes::projects::{find_project, parse_title};
use crate::api::routes::tasks::session_for;
use crate::pages::frame::form::PageForm;
use crate::pages::frame::layout::Frame;
use crate::pages::frame::navigation::Tab;
use crate::pages::frame::request::PageRequest;
use crate::pages::frame::response::{PageResult, redirect};
use crate::pages::projects;
use crate::state::App;
use crate::state::principal::AuthedApp;

pub(crate) async fn ask(State(app): State<App>, request: PageRequest) -> PageResult {
    let frame = Frame::load(&app, request).await?;
    let projects = projects::list_projects(&app).await?;
    let body = html! {
        div.sheet.narrow {
            h1 { "New task" }
            form method="post" action="/tasks/new" {
                label for="title" { "Title" }
                input #title type="text" name="title" required autofocus maxlength=(crate::http::limits::TITLE_CHARS_MAX) placeholder="Fix the typo in the README";
                label for="description" { "Description" }
                textarea #description name="description" rows="5" data-draft="new-task" {}
                @if !projects.is_empty() {
                    label for="new-project" { "Project" }
                    (projects::picker("new-project", &projects, None, "None"))
                }
                label for="type" { "Type" }
                select #type name="type" {
                    option value="" { "Detect from text" }
                    @for task_type in TaskType::ALL { option value=(task_type) { (task_type) } }
                }
                label for="priority" { "Priority" }
                select #priority name="priority" {
                    @for priority in Priority::ALL { option value=(priority) selected[priority == Priority::default()] { (priority) } }
                }
                div.actions {
                    button.primary type="submit" { "Add task" }
                    a.button href="/board" data-close { "Back" }
                }
            }
        }
    };
    Ok(frame.page(Tab::Board, "New task", &["none".to_owned()], &body))
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
    let spec = |id, created_at| TaskSpec {
        project_id,
        description: description.clone(),
        priority,
        ..TaskSpec::new(id, session.clone(), task_type, title.clone(), created_at)
    };
    let task = app.tasks().add_task(&[], app.actor(), spec).await?;
    Ok(redirect(&form.next(&format!("/tasks/{}", task.id()))))
}

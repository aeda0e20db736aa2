//! `/tasks/new`: a task, written by hand.

use axum::extract::State;
use baton_core::priority::Priority;
use baton_core::task::TaskSpec;
use baton_core::task_type::TaskType;
use maud::html;

use crate::api::routes::projects::{project, titled};
use crate::api::routes::tasks::session_for;
use crate::pages::frame::form::Form;
use crate::pages::frame::layout::Frame;
use crate::pages::frame::navigation::Tab;
use crate::pages::frame::response::{PageAnswer, go};
use crate::pages::frame::visit::Visit;
use crate::pages::projects;
use crate::state::App;
use crate::state::principal::Visited;

pub async fn ask(State(app): State<App>, visit: Visit) -> PageAnswer {
    let frame = Frame::load(&app, visit).await?;
    let projects = projects::offered(&app).await?;
    let body = html! {
        div.sheet.narrow {
            h1 { "New task" }
            form method="post" action="/tasks/new" {
                label for="title" { "Title" }
                input #title type="text" name="title" required autofocus maxlength=(crate::http::limits::TITLE_CHARS_MAX) placeholder="Fix the typo in the README";
                label for="description" { "What is to be done" }
                textarea #description name="description" rows="5" data-draft="new-task" {}
                @if !projects.is_empty() {
                    label for="new-project" { "Project" }
                    (projects::choice("new-project", &projects, None, "None"))
                }
                label for="type" { "Type" }
                select #type name="type" {
                    option value="" { "As the words suggest" }
                    @for task_type in TaskType::ALL { option value=(task_type) { (task_type) } }
                }
                label for="priority" { "Priority" }
                select #priority name="priority" {
                    @for priority in Priority::ALL { option value=(priority) selected[priority == Priority::default()] { (priority) } }
                }
                div.actions {
                    button.primary type="submit" { "Put it into the queue" }
                    a.button href="/board" data-close { "Back" }
                }
            }
        }
    };
    Ok(frame.page(Tab::Board, "New task", &["none".to_owned()], &body))
}

pub async fn add(app: Visited, form: Form) -> PageAnswer {
    let title = titled(form.text("title"), "title")?;
    let description = form.text("description").replace("\r\n", "\n");
    let project_id = form.parsed("project")?;
    if let Some(id) = project_id {
        project(&app, id).await?;
    }
    let session = session_for(&app, project_id, None).await?;
    let given: Option<TaskType> = form.parsed("type")?;
    let task_type = given.unwrap_or_else(|| TaskType::detect(&format!("{title}\n{description}")));
    let priority: Priority = form.parsed("priority")?.unwrap_or_default();
    let spec = |id, created_at| TaskSpec {
        project_id,
        description: description.clone(),
        priority,
        ..TaskSpec::new(id, session.clone(), task_type, title.clone(), created_at)
    };
    let task = app.desk().add_task(&[], app.actor(), spec).await?;
    Ok(go(&form.next(&format!("/tasks/{}", task.id()))))
}

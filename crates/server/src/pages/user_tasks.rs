//! `/user-tasks`: the project's own commands.

use axum::extract::State;
use axum::http::StatusCode;
use baton_engine::user_tasks::{Ran, Site, UserTaskError};
use maud::{Markup, html};

use crate::pages::frame::form::PageForm;
use crate::pages::frame::key::PageParam;
use crate::pages::frame::layout::{Frame, empty, heading};
use crate::pages::frame::navigation::Tab;
use crate::pages::frame::request::PageRequest;
use crate::pages::frame::response::PageResult;
use crate::pages::widgets::percent::encode;
use crate::state::App;

/// Bytes of output shown; the end, because errors are there.
const SHOWN_BYTES_MAX: usize = 200 * 1024;

pub(super) async fn list(State(app): State<App>, request: PageRequest) -> PageResult {
    render(&app, request, None).await
}

/// Runs a command in the project's root and waits for it.
pub(super) async fn run(
    State(app): State<App>,
    PageParam(name): PageParam<String>,
    request: PageRequest,
    form: PageForm,
) -> PageResult {
    let args = form.text("args").to_owned();
    let ran = app
        .workspace
        .agents
        .user_tasks
        .run(&site(&app), &name, &args)
        .await
        .map_err(crate::http::error::ApiError::from)?;
    render(&app, request, Some((&ran, &args))).await
}

/// Marks the Taskfile as trusted.
pub(super) async fn trust(State(app): State<App>, _: PageForm) -> PageResult {
    app.workspace.agents.user_tasks.trust(&site(&app)).map_err(crate::http::error::ApiError::from)?;
    Ok(crate::pages::frame::response::redirect("/user-tasks"))
}

fn site(app: &App) -> Site {
    Site::of_person(&app.workspace.place.root)
}

async fn render(app: &App, request: PageRequest, ran: Option<(&Ran, &str)>) -> PageResult {
    let frame = Frame::load(app, request).await?;
    let list = app.workspace.agents.user_tasks.list(&site(app));
    // Trust belongs to the file, so it is the same for all commands.
    let first = list.as_ref().ok().and_then(|list| list.tasks.first());
    let is_untrusted = first.is_some_and(|task| {
        matches!(
            app.workspace.agents.user_tasks.ready_to_run(&site(app), &task.name),
            Err(UserTaskError::Untrusted)
        )
    });
    let body = html! {
        (heading("User tasks", &html! { span.muted { code { ".agent/Taskfile.yml" } } }))
        @if let Some((ran, args)) = ran { (output(ran, args)) }
        @match &list {
            Ok(list) if !list.tasks.is_empty() => {
                p.muted { "These commands run with your permissions in the project's root." }
                div.rows data-filter { @for task in &list.tasks { (row(&task.name, &task.description, ran)) } }
            },
            Ok(_) | Err(UserTaskError::NoTaskfile) => {
                (empty("No user tasks", "Define commands for people and agents in .agent/Taskfile.yml. Those with a description are listed here.", &[("baton tasks", "list them in a terminal"), ("baton do NAME -- ARGS", "run one")]))
            },
            Err(error) => div.alert role="alert" { p { (error) } p.muted { (error.hint()) } },
        }
        @if is_untrusted {
            form.actions method="post" action="/user-tasks/trust" {
                button type="submit" { "Trust this Taskfile" }
                span.muted { "Read the file first. Until it is trusted, no command runs." }
            }
        }
    };
    Ok(frame.page_with(StatusCode::OK, Tab::UserTasks, "User tasks", &["none".to_owned()], &body))
}

fn row(name: &str, description: &str, ran: Option<(&Ran, &str)>) -> Markup {
    let args = ran.filter(|(ran, _)| ran.task_name == name).map(|(_, args)| args);
    html! {
        article #{ "user-task-" (name) } data-row {
            h3 { (name) }
            p.muted { (description) }
            form.inline method="post" action={ "/user-tasks/" (encode(name)) "/run" } data-plain {
                label.unseen for={ "args-" (name) } { "Arguments of " (name) }
                input #{ "args-" (name) } type="text" name="args" placeholder="Arguments" value=[args] autocomplete="off";
                button.primary type="submit" { "Run" }
            }
        }
    }
}

fn output(ran: &Ran, args: &str) -> Markup {
    html! {
        section #output aria-label="Output" {
            p {
                @if ran.succeeded { span.chip.tone-done { span.sign { "✓" } "completed" } } @else { span.chip.tone-failed { span.sign { "✗" } "failed, exit code " (ran.exit_code) } }
                " " code { (ran.task_name) @if !args.is_empty() { " -- " (args) } }
            }
            @if !ran.stdout.is_empty() { pre.terminal tabindex="0" { (end(&ran.stdout)) } }
            @if !ran.stderr.is_empty() { h3 { "Standard error" } pre.terminal tabindex="0" { (end(&ran.stderr)) } }
            @if ran.stdout.is_empty() && ran.stderr.is_empty() { p.muted { "No output." } }
        }
    }
}

fn end(text: &str) -> &str {
    let from = (text.len().saturating_sub(SHOWN_BYTES_MAX)..=text.len())
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0);
    &text[from..]
}

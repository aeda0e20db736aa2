//! One decision about several tasks. One that cannot be taken for a task does not keep the others from it.

use baton_core::base::id::{InvalidId, TaskId};
use baton_core::base::priority::Priority;
use baton_core::base::words::pluralize;
use baton_core::task::revision::Revision;
use baton_core::transition::command::Command;
use baton_engine::landing::acceptor::Accepted;

use crate::http::error::{ApiError, Code};
use crate::pages::frame::form::PageForm;
use crate::pages::frame::response::{PageResult, redirect};
use crate::state::principal::AuthedApp;

/// Tasks decided about at once.
const TASKS_MAX: usize = 500;

#[derive(Clone, Copy)]
enum BulkVerb {
    Accept,
    Release,
    Retry,
    Cancel,
    SetPriority(Priority),
}

pub(in crate::pages) async fn act(app: AuthedApp, form: PageForm) -> PageResult {
    let verb = read_verb(&form)?;
    let unknown = |error: InvalidId| ApiError::invalid(error.to_string(), "go back and choose again");
    let tasks: Vec<TaskId> = form.all("task").map(str::parse).collect::<Result<_, _>>().map_err(unknown)?;
    if tasks.is_empty() {
        return Err(ApiError::invalid("no task is selected", "select the tasks first").into());
    }
    if tasks.len() > TASKS_MAX {
        let message = format!("more than {TASKS_MAX} tasks are selected");
        return Err(ApiError::invalid(message, "select fewer").into());
    }
    let mut refused = Vec::new();
    for id in &tasks {
        if let Err(error) = decide(&app, *id, verb).await {
            refused.push(format!("{id}: {}", error.message));
        }
    }
    if refused.is_empty() {
        return Ok(redirect(&form.next("/board?view=list")));
    }
    let done = tasks.len() - refused.len();
    let hint = match done {
        0 => "nothing was changed".to_owned(),
        done => format!("done for {}", pluralize(done as u64, "other task")),
    };
    Err(ApiError::new(Code::Conflict, refused.join("; "), hint).into())
}

fn read_verb(form: &PageForm) -> Result<BulkVerb, ApiError> {
    Ok(match form.text("verb") {
        "accept" => BulkVerb::Accept,
        "release" => BulkVerb::Release,
        "retry" => BulkVerb::Retry,
        "cancel" => BulkVerb::Cancel,
        "priority" => BulkVerb::SetPriority(form.parse("priority")?.unwrap_or_default()),
        _ => return Err(ApiError::invalid("no such action", "go back and choose one of the buttons")),
    })
}

async fn decide(app: &AuthedApp, id: TaskId, verb: BulkVerb) -> Result<(), ApiError> {
    match verb {
        BulkVerb::Accept => match app.workspace.acceptor().accept(id, false, app.actor()).await? {
            Accepted::Done { .. } | Accepted::Waiting { .. } => Ok(()),
            Accepted::Conflicted { files } => Err(ApiError::new(
                Code::Conflict,
                format!("merge conflict in {}", files.join(", ")),
                "nothing was merged",
            )),
        },
        BulkVerb::Release => apply(app, id, Command::Release).await,
        BulkVerb::Retry => apply(app, id, Command::Retry).await,
        BulkVerb::Cancel => apply(app, id, Command::Cancel { reason: None }).await,
        BulkVerb::SetPriority(priority) => {
            let revision = Revision { priority: Some(priority), ..Revision::default() };
            app.tasks().revise(id, revision, &Revision::default(), app.actor()).await?;
            Ok(())
        }
    }
}

async fn apply(app: &AuthedApp, id: TaskId, command: Command) -> Result<(), ApiError> {
    app.tasks().apply(id, command, app.actor()).await?;
    Ok(())
}

//! What a person decides about a task: reply, accept, reject, recycle, cancel, retry, hold, release, revise.

use axum::Json;
use baton_core::base::id::TaskId;
use baton_core::base::priority::Priority;
use baton_core::recycle::RecycleReason;
use baton_core::task::revision::Revision;
use baton_core::transition::command::Command;
use baton_engine::landing::acceptor::Accepted;
use baton_engine::reports::forecast::{self, AcceptOutcome};
use baton_engine::runs::SessionRuns;
use baton_engine::tasks::error::TaskError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api::route::{Recall, Route};
use crate::api::routes::projects::parse_title;
use crate::api::routes::questions::answer_question;
use crate::api::routes::tasks::DEPENDENCIES_MAX;
use crate::api::views::transition::{AcceptedView, RevisedView, TransitionView};
use crate::http::error::{ApiError, Code, Result};
use crate::http::input::{EmptyBody, JsonBody, NoQuery, PathParam, non_blank};
use crate::schema::words;
use crate::state::principal::AuthedApp;

/// Tasks per accept preview.
const PREVIEWED_MAX: usize = 500;

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::post("/api/tasks/{id}/reply", "reply", reply)
            .takes::<ReplyBody>()
            .returns::<TransitionView>("Answers the task's pending question, which requeues the task")
            .may_conflict(),
        Route::post("/api/tasks/{id}/accept", "accept_task", accept)
            .takes::<AcceptBody>()
            .returns::<AcceptedView>(
                "Merges the task's work and marks it done; with checks it waits in its lane (queue `landing`) until they pass",
            )
            .may_conflict(),
        Route::post("/api/tasks/accept-preview", "preview_accept", preview)
            .takes::<AcceptPreviewBody>()
            .returns_named("Previews accepting these tasks without changing anything", "Preview")
            .may_be_missing(),
        Route::post("/api/tasks/{id}/reject", "reject_task", reject)
            .takes::<RejectBody>()
            .returns::<TransitionView>("Rejects the task's work with a reason")
            .may_conflict(),
        Route::post("/api/tasks/{id}/recycle", "recycle_task", recycle)
            .once(Recall::Recycling)
            .takes::<RecycleBody>()
            .returns::<TransitionView>("Replaces a task that is too large by a breakdown")
            .may_conflict(),
        Route::post("/api/tasks/{id}/cancel", "cancel_task", cancel)
            .takes::<CancelBody>()
            .returns::<TransitionView>("Cancels a task; its branch is kept")
            .may_conflict(),
        Route::post("/api/tasks/{id}/retry", "retry_task", retry)
            .takes::<EmptyBody>()
            .returns::<TransitionView>("Retries a failed task, or brings a cancelled one back")
            .may_conflict(),
        Route::post("/api/tasks/{id}/hold", "hold_task", hold)
            .takes::<HoldBody>()
            .returns::<TransitionView>("Keeps agents from a task until it is released; stops one that runs")
            .may_conflict(),
        Route::post("/api/tasks/{id}/release", "release_task", release)
            .takes::<EmptyBody>()
            .returns::<TransitionView>("Lets agents start a held task")
            .may_conflict(),
        Route::patch("/api/tasks/{id}", "revise_task", revise)
            .takes::<ReviseBody>()
            .returns::<RevisedView>("Edits a task that no agent works on")
            .may_conflict(),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "Reply")]
#[serde(deny_unknown_fields)]
struct ReplyBody {
    #[schemars(with = "words::NonBlank")]
    reply: String,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "Acceptance")]
#[serde(deny_unknown_fields)]
pub(super) struct AcceptBody {
    #[serde(default)]
    pub force: bool,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "AcceptancePreview")]
#[serde(deny_unknown_fields)]
struct AcceptPreviewBody {
    #[schemars(with = "Vec<words::TaskId>")]
    task_ids: Vec<TaskId>,
    #[serde(default)]
    force: bool,
}

#[derive(Serialize)]
struct AcceptPreviewView {
    preview: Vec<AcceptOutcome>,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "Rejection")]
#[serde(deny_unknown_fields)]
pub(crate) struct RejectBody {
    #[schemars(with = "words::NonBlank")]
    reason: String,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "Recycling")]
#[serde(deny_unknown_fields)]
struct RecycleBody {
    #[schemars(with = "Option<words::RecycleReason>")]
    reason: Option<RecycleReason>,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "Revising")]
#[serde(deny_unknown_fields)]
struct ReviseBody {
    #[schemars(with = "Option<words::Title>")]
    title: Option<String>,
    description: Option<String>,
    #[schemars(with = "Option<words::Priority>")]
    priority: Option<Priority>,
    /// Additional dependencies.
    #[serde(default)]
    #[schemars(with = "Vec<words::TaskId>")]
    after: Vec<TaskId>,
    /// Dependencies to remove.
    #[serde(default)]
    #[schemars(with = "Vec<words::TaskId>")]
    not_after: Vec<TaskId>,
    /// The values the caller last read; the call is refused if they have changed.
    seen: Option<SeenFields>,
}

#[derive(Default, Deserialize, JsonSchema)]
#[schemars(rename = "Seen")]
#[serde(deny_unknown_fields)]
struct SeenFields {
    title: Option<String>,
    description: Option<String>,
    #[schemars(with = "Option<words::Priority>")]
    priority: Option<Priority>,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "Cancelling")]
#[serde(deny_unknown_fields)]
struct CancelBody {
    #[schemars(with = "Option<words::NonBlank>")]
    reason: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "Holding")]
#[serde(deny_unknown_fields)]
struct HoldBody {
    #[schemars(with = "Option<words::NonBlank>")]
    reason: Option<String>,
}

/// Answers the question that was pending when the reply arrived, never a later one.
async fn reply(
    app: AuthedApp,
    PathParam(id): PathParam<TaskId>,
    _: NoQuery,
    JsonBody(body): JsonBody<ReplyBody>,
) -> Result<Json<TransitionView>> {
    let answer = non_blank(&body.reply, "reply")?;
    let task = app.tasks().task(id).await?.value;
    let old = task.state().status();
    let question = task.pending_question().ok_or(TaskError::NotWaiting { task: id })?.id;
    // The task right after the reply: read again, it could have been claimed already.
    let replied = answer_question(&app, question, answer).await?;
    Ok(Json(TransitionView::new(old, replied.as_ref().unwrap_or(&task))))
}

pub(super) async fn accept(
    app: AuthedApp,
    PathParam(id): PathParam<TaskId>,
    _: NoQuery,
    JsonBody(body): JsonBody<AcceptBody>,
) -> Result<Json<AcceptedView>> {
    let old = app.tasks().task(id).await?.value.state().status();
    match app.workspace.acceptor().accept(id, body.force, app.actor()).await? {
        Accepted::Waiting { landing } => {
            app.workspace.lander().look_again(id).await?;
            let transition = TransitionView::new(old, &app.tasks().task(id).await?.value);
            Ok(Json(AcceptedView::new(transition, Some(landing))))
        }
        Accepted::Done { landing } => {
            let transition = TransitionView::new(old, &app.tasks().task(id).await?.value);
            Ok(Json(AcceptedView::new(transition, landing)))
        }
        Accepted::Conflicted { files } => Err(ApiError {
            conflicts: files.clone(),
            ..ApiError::new(
                Code::Conflict,
                format!("merge conflict with work accepted meanwhile, in {}", files.join(", ")),
                format!("nothing was merged and nothing is lost; see GET /api/tasks/{id}"),
            )
        }),
    }
}

async fn preview(
    app: AuthedApp,
    _: NoQuery,
    JsonBody(body): JsonBody<AcceptPreviewBody>,
) -> Result<Json<AcceptPreviewView>> {
    if body.task_ids.len() > PREVIEWED_MAX {
        return Err(ApiError::invalid(
            format!("at most {PREVIEWED_MAX} tasks can be previewed at once"),
            "send several requests",
        ));
    }
    let (projects, acceptor) = (&app.workspace.projects, app.workspace.acceptor());
    let preview = forecast::preview(projects, &acceptor, &body.task_ids, body.force, app.actor()).await?;
    Ok(Json(AcceptPreviewView { preview }))
}

async fn reject(
    app: AuthedApp,
    PathParam(id): PathParam<TaskId>,
    _: NoQuery,
    JsonBody(body): JsonBody<RejectBody>,
) -> Result<Json<TransitionView>> {
    send_back(&app, id, &body).await
}

/// Rejects a task's work or a breakdown's plan.
pub(crate) async fn send_back(
    app: &AuthedApp,
    id: TaskId,
    body: &RejectBody,
) -> Result<Json<TransitionView>> {
    let reason = non_blank(&body.reason, "reason")?;
    apply(app, id, Command::Reject { reason }).await
}

async fn recycle(
    app: AuthedApp,
    PathParam(id): PathParam<TaskId>,
    _: NoQuery,
    JsonBody(body): JsonBody<RecycleBody>,
) -> Result<Json<TransitionView>> {
    let reason = body.reason.unwrap_or(RecycleReason::TooLarge);
    apply(&app, id, Command::Recycle { reason }).await
}

async fn cancel(
    app: AuthedApp,
    PathParam(id): PathParam<TaskId>,
    _: NoQuery,
    JsonBody(body): JsonBody<CancelBody>,
) -> Result<Json<TransitionView>> {
    let reason = body.reason.map(|reason| non_blank(&reason, "reason")).transpose()?;
    apply(&app, id, Command::Cancel { reason }).await
}

async fn retry(
    app: AuthedApp,
    PathParam(id): PathParam<TaskId>,
    _: NoQuery,
    JsonBody(EmptyBody {}): JsonBody<EmptyBody>,
) -> Result<Json<TransitionView>> {
    apply(&app, id, Command::Retry).await
}

async fn hold(
    app: AuthedApp,
    PathParam(id): PathParam<TaskId>,
    _: NoQuery,
    JsonBody(body): JsonBody<HoldBody>,
) -> Result<Json<TransitionView>> {
    let reason = body.reason.map(|reason| non_blank(&reason, "reason")).transpose()?;
    let old = app.tasks().task(id).await?.value.state().status();
    let task = SessionRuns::new(app.tasks()).hold_task(id, reason, app.actor()).await?;
    Ok(Json(TransitionView::new(old, &task)))
}

async fn release(
    app: AuthedApp,
    PathParam(id): PathParam<TaskId>,
    _: NoQuery,
    JsonBody(EmptyBody {}): JsonBody<EmptyBody>,
) -> Result<Json<TransitionView>> {
    apply(&app, id, Command::Release).await
}

/// Edits a task that no agent works on. Omitted fields stay.
async fn revise(
    app: AuthedApp,
    PathParam(id): PathParam<TaskId>,
    _: NoQuery,
    JsonBody(body): JsonBody<ReviseBody>,
) -> Result<Json<RevisedView>> {
    let revision = Revision {
        title: body.title.map(|title| parse_title(&title, "title")).transpose()?,
        description: body.description,
        priority: body.priority,
        after: body.after,
        not_after: body.not_after,
        ..Revision::default()
    };
    if revision.after.len() > DEPENDENCIES_MAX {
        return Err(ApiError::invalid(
            format!("`after` names more than {DEPENDENCIES_MAX} tasks"),
            "add an intermediate task that depends on them",
        ));
    }
    if revision.is_empty() {
        return Err(ApiError::invalid(
            "no changes",
            "set a title, description, priority, or dependencies to add or remove",
        ));
    }
    let old = app.tasks().task(id).await?.value.state().status();
    let seen = body.seen.unwrap_or_default();
    let seen = Revision {
        title: seen.title.map(|title| non_blank(&title, "seen.title")).transpose()?,
        description: seen.description,
        priority: seen.priority,
        ..Revision::default()
    };
    let revised = app.tasks().revise(id, revision, &seen, app.actor()).await?;
    Ok(Json(RevisedView::new(old, revised)))
}

/// Applies a command and returns the transition.
pub(crate) async fn apply(app: &AuthedApp, id: TaskId, command: Command) -> Result<Json<TransitionView>> {
    let old = app.tasks().task(id).await?.value.state().status();
    let task = app.tasks().apply(id, command, app.actor()).await?;
    Ok(Json(TransitionView::new(old, &task)))
}

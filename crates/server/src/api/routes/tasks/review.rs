//! `/api/tasks/{id}/review`: a decision about finished work, with comments on its lines.

use std::fmt::Write;

use axum::Json;
use baton_core::base::id::TaskId;
use baton_core::base::text::NonBlank;
use baton_core::task::state::TaskState;
use baton_core::transition::command::Command;
use baton_engine::base::once::without_receipt;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::api::route::{Recall, Route};
use crate::api::routes::tasks::verdicts::{self, AcceptBody};
use crate::api::views::transition::{AcceptedView, TransitionView};
use crate::http::error::{ApiError, Code, Result};
use crate::http::input::{JsonBody, NoQuery, PathParam, non_blank};
use crate::schema::words;
use crate::state::principal::AuthedApp;

/// More are a sign that the work should be described anew.
const COMMENTS_MAX: usize = 200;

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::post("/api/tasks/{id}/review", "review_task", review)
            .takes::<ReviewBody>()
            .once(Recall::Review)
            .returns::<AcceptedView>(
                "Reviews finished work: accepts it, sends it back with the remarks, or only comments on it; remarks reach the \
                 session of its author",
            ),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "Review")]
#[serde(deny_unknown_fields)]
struct ReviewBody {
    verdict: ReviewVerdict,
    /// About the work as a whole.
    #[serde(default)]
    body: String,
    /// About single lines.
    #[serde(default)]
    comments: Vec<LineComment>,
    /// Accept although it needs a closer look.
    #[serde(default)]
    force: bool,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ReviewVerdict {
    Accept,
    Reject,
    Comment,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LineComment {
    /// As in the diff.
    #[schemars(with = "words::NonBlank")]
    path: String,
    /// Counted from 1.
    line: u32,
    /// Whether the line is one of the file before or after the work; after it by default.
    #[serde(default)]
    side: DiffSide,
    #[schemars(with = "words::NonBlank")]
    body: String,
}

#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum DiffSide {
    Old,
    #[default]
    New,
}

async fn review(
    app: AuthedApp,
    PathParam(id): PathParam<TaskId>,
    query: NoQuery,
    JsonBody(given): JsonBody<ReviewBody>,
) -> Result<Json<AcceptedView>> {
    let remarks = remarks(&given)?;
    let task = app.tasks().task(id).await?.value;
    if !matches!(task.state(), TaskState::Provisional(_)) {
        return Err(ApiError::new(
            Code::InvalidStatus,
            format!("{id} has no finished work to review: it is {}", task.state().name()),
            format!("see GET /api/tasks/{id}; what you have to say now: POST /api/tasks/{id}/messages"),
        ));
    }
    let nothing_said = || {
        ApiError::invalid("a review that does not accept needs a body or comments", "say what should change")
    };
    let old = task.state().status();
    match given.verdict {
        ReviewVerdict::Accept => {
            // Kept with the task, and told to its author if it is sent back after all. The acceptance is what the call is for.
            if let Some(remarks) = &remarks {
                without_receipt(app.tasks().say(id, remarks, &app.actor())).await?;
            }
            let force = JsonBody(AcceptBody { force: given.force });
            verdicts::accept(app, PathParam(id), query, force).await
        }
        ReviewVerdict::Reject => {
            let reason = remarks.ok_or_else(nothing_said)?;
            let Json(transition) = verdicts::apply(&app, id, Command::Reject { reason }).await?;
            Ok(Json(AcceptedView::new(transition, None)))
        }
        ReviewVerdict::Comment => {
            app.tasks().say(id, &remarks.ok_or_else(nothing_said)?, &app.actor()).await?;
            let task = app.tasks().task(id).await?.value;
            Ok(Json(AcceptedView::new(TransitionView::new(old, &task), None)))
        }
    }
}

/// All that was said, as its author reads it. None if nothing was.
fn remarks(given: &ReviewBody) -> Result<Option<NonBlank>> {
    if given.comments.len() > COMMENTS_MAX {
        return Err(ApiError::invalid(
            format!("a review has at most {COMMENTS_MAX} comments"),
            "say in the body what they have in common",
        ));
    }
    let mut text = given.body.trim().to_owned();
    for (index, comment) in given.comments.iter().enumerate() {
        let path = non_blank(&comment.path, "comments.path")?;
        let body = non_blank(&comment.body, "comments.body")?;
        if comment.line == 0 {
            return Err(ApiError::invalid(
                format!("the line of comment {} is 0", index + 1),
                "lines are counted from 1",
            ));
        }
        let side = match comment.side {
            DiffSide::Old => " (as it was)",
            DiffSide::New => "",
        };
        let gap = match (index, text.is_empty()) {
            (_, true) => "",
            (0, false) => "\n\n",
            (_, false) => "\n",
        };
        // Writing to a String cannot fail.
        let _ = write!(text, "{gap}- {path}:{}{side}: {body}", comment.line);
    }
    Ok(NonBlank::new(text).ok())
}

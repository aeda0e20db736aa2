//! `baton reject`, `baton recycle`

use baton_core::base::id::TaskId;
use baton_core::task::state::{ReplacedBy, TaskState};
use serde_json::json;

use crate::cli::verdicts::RecycleReasonArg;
use crate::commands::task::post_decision;
use crate::context::CliContext;
use crate::context::api::Api;
use crate::error::CliError;
use crate::output;
use crate::terminal::editor;

/// With the reason, or with what the person writes in their editor.
pub(crate) async fn reject_with(api: &Api, task: &str, reason: Option<String>) -> Result<String, CliError> {
    let Some(reason) = reason else { return reject_in_editor(api, task).await };
    reject(api, task, &reason).await
}

/// What was written is kept until it has been sent.
async fn reject_in_editor(api: &Api, task: &str) -> Result<String, CliError> {
    const INSTEAD: &str = "pass the reason: --reason TEXT";
    let view = api.task(api.task_id(task).await?).await?;
    let id = view.summary.task_id;
    let remark =
        format!("# Say above what is wrong with {id} “{}”; the next attempt reads it.", view.summary.title);
    let kept = api.place.state_dir.join("edits").join(format!("reject-{id}.md"));
    if !kept.exists() {
        editor::save(&kept, &format!("\n{remark}\n"))?;
    }
    let text = editor::edit(&kept, INSTEAD)?;
    let lines: Vec<&str> = text.lines().filter(|line| *line != remark).collect();
    let reason = lines.join("\n").trim().to_owned();
    if reason.is_empty() {
        // Nothing to continue.
        let _ = std::fs::remove_file(&kept);
        return Err(CliError::usage("nothing was written, so nothing is rejected", INSTEAD));
    }
    let printed = reject(api, &id.to_string(), &reason).await?;
    // It has been sent.
    let _ = std::fs::remove_file(&kept);
    Ok(printed)
}

pub(crate) async fn reject(api: &Api, task: &str, reason: &str) -> Result<String, CliError> {
    let reason = CliContext::non_blank(reason, "the reason")?;
    let id = post_decision(api, task, "reject", &json!({ "reason": reason })).await?;
    let view = api.task(id).await?;
    let state = view.state.name().described();
    let then = match view.state {
        TaskState::Recycled { replaced_by: ReplacedBy::Planning(breakdown) } => {
            format!(
                "Rejected {id} too often to try it again as it is; it is {state}.\n{}",
                next_step(breakdown)
            )
        }
        TaskState::AwaitingResponse { .. } => {
            format!(
                "Rejected {id} too often to try it again by itself. You decide what becomes of it: baton task show {id}\n"
            )
        }
        _ => format!("Rejected {id}; it is {state}. The next attempt sees the reason.\n"),
    };
    api.confirm(id, &then).await
}

/// What happens to the breakdown of a recycled task.
fn next_step(breakdown: TaskId) -> String {
    format!(
        "Its breakdown is {breakdown}. An agent plans smaller tasks; the reasons are told to it. Then:\n  \
         baton breakdown show {breakdown}     read the plan\n  \
         baton breakdown approve {breakdown}  create its tasks\n\
         If no agent plans it by itself:\n  \
         baton breakdown run {breakdown}      have an agent plan it\n  \
         baton breakdown edit {breakdown} -   write the plan yourself\n"
    )
}

pub(crate) async fn recycle(api: &Api, task: &str, reason: RecycleReasonArg) -> Result<String, CliError> {
    let reason = match reason {
        RecycleReasonArg::TooLarge => "too_large",
        RecycleReasonArg::CumulativeFailures => "cumulative_failures",
    };
    let id = post_decision(api, task, "recycle", &json!({ "reason": reason })).await?;
    let view = api.task(id).await?;
    if api.is_json {
        return output::json(&view);
    }
    Ok(match view.state {
        TaskState::Recycled { replaced_by: ReplacedBy::Planning(breakdown) } => {
            format!("Recycled {id}. {}", next_step(breakdown))
        }
        _ => format!("{id} is already part of a breakdown, so you have to decide: baton task show {id}\n"),
    })
}

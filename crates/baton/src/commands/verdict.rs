//! `baton reject`, `baton recycle`

use baton_core::task::state::{ReplacedBy, TaskState};
use serde_json::json;

use crate::cli::verdicts::RecycleReasonArg;
use crate::commands::task::post_decision;
use crate::context::CliContext;
use crate::context::api::Api;
use crate::error::CliError;
use crate::output;

pub(crate) async fn reject(api: &Api, task: &str, reason: &str) -> Result<String, CliError> {
    let reason = CliContext::non_blank(reason, "the reason")?;
    let id = post_decision(api, task, "reject", &json!({ "reason": reason })).await?;
    let queue = api.task(id).await?.summary.queue;
    api.confirm(
        id,
        &format!("Rejected {id}; it is now {}. The next attempt sees the reason.\n", queue.as_str()),
    )
    .await
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
        TaskState::Recycled { replaced_by: ReplacedBy::Planning(breakdown) } => format!(
            "Recycled {id}. Its breakdown is {breakdown}:\n  \
             baton breakdown run {breakdown}     have an agent plan it\n  \
             baton breakdown edit {breakdown} -  write the plan yourself\n"
        ),
        _ => format!("{id} is already part of a breakdown, so you have to decide: baton task show {id}\n"),
    })
}

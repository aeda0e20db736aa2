//! What a person decides about finished work: `baton reject`, `baton recycle`.

use baton_core::state::{ReplacedBy, TaskState};
use serde_json::json;

use crate::cli::verdicts::RecycleReason;
use crate::commands::task::decide;
use crate::context::CliContext;
use crate::context::api::Api;
use crate::error::CliError;
use crate::output;

pub async fn reject(api: &Api, task: &str, reason: &str) -> Result<String, CliError> {
    let reason = CliContext::said(reason, "the reason")?;
    let id = decide(api, task, "reject", &json!({ "reason": reason })).await?;
    let queue = api.task(id).await?.summary.queue;
    api.tell(id, &format!("{id} is now in {}; the next attempt is told why.\n", queue.as_str())).await
}

pub async fn recycle(api: &Api, task: &str, reason: RecycleReason) -> Result<String, CliError> {
    let reason = match reason {
        RecycleReason::TooLarge => "too_large",
        RecycleReason::CumulativeFailures => "cumulative_failures",
    };
    let id = decide(api, task, "recycle", &json!({ "reason": reason })).await?;
    let view = api.task(id).await?;
    if api.is_json {
        return output::json(&view);
    }
    Ok(match view.state {
        TaskState::Recycled { replaced_by: ReplacedBy::Planning(breakdown) } => format!(
            "{id} is recycled. {breakdown} will find its parts:\n  \
             baton breakdown run {breakdown}     let an agent plan it\n  \
             baton breakdown edit {breakdown} -  hand in a plan of your own\n"
        ),
        _ => format!("{id} was broken down before, so it is yours to decide: baton task show {id}\n"),
    })
}

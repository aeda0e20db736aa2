//! What a person decides about finished work: `baton reject`, `baton recycle`.

use baton_core::command::Command;
use baton_core::recycle::RecycleReason;
use baton_core::state::{ReplacedBy, TaskState};

use super::task::show;
use crate::cli::Reason;
use crate::fault::Fault;
use crate::office::Office;

pub async fn reject(office: &Office, task: &str, reason: &str) -> Result<String, Fault> {
    let id = office.task(task).await?;
    let reason = Office::said(reason, "the reason")?;
    let rejected = office.desk.apply(id, Command::Reject { reason }, office.actor()).await?;
    show(
        office,
        id,
        &format!("{id} is now in {}; the next attempt is told why.\n", rejected.state().queue().as_str()),
    )
    .await
}

pub async fn recycle(office: &Office, task: &str, reason: Reason) -> Result<String, Fault> {
    let id = office.task(task).await?;
    let reason = match reason {
        Reason::TooLarge => RecycleReason::TooLarge,
        Reason::CumulativeFailures => RecycleReason::CumulativeFailures,
    };
    let recycled = office.desk.apply(id, Command::Recycle { reason }, office.actor()).await?;
    let sentence = match recycled.state() {
        TaskState::Recycled { replaced_by: ReplacedBy::Planning(breakdown) } => format!(
            "{id} is recycled. {breakdown} will find its parts:\n  \
             baton breakdown run {breakdown}     let an agent plan it\n  \
             baton breakdown edit {breakdown} -  hand in a plan of your own\n"
        ),
        _ => format!("{id} was broken down before, so it is yours to decide: baton task show {id}\n"),
    };
    show(office, id, &sentence).await
}

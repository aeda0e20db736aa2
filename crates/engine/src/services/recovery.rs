//! Recovery after a crash: ends the processes of dead attempts, saves their work and returns their tasks to the queue.

use std::fs;
use std::time::Duration;

use baton_agents::process::identity::ProcessIdentity;
use baton_agents::process::tree::{ProcessTree, end_orphans};
use baton_core::base::id::AttemptId;
use baton_core::task::attempt_record::AttemptClosing;
use baton_store::model::lease::Lease;

use crate::attempt::runner::PROCESS_FILE;
use crate::attempt::services::SERVICES_FILE;
use crate::base::error::EngineError;
use crate::services::leases::LeaseKeeper;
use crate::services::workspace::Workspace;

/// Between TERM and KILL for processes of an earlier run.
const ORPHAN_GRACE: Duration = Duration::from_secs(2);

/// Returns the attempts that were taken back. Failures are reported and left to the services: leases expire, and pushes
/// are retried.
pub(super) async fn recover(workspace: &Workspace) -> Result<Vec<AttemptId>, EngineError> {
    let mine = |lease: &Lease| lease.worker == workspace.node.name;
    let leases: Vec<Lease> = workspace.tasks.store.leases().await?.into_iter().filter(mine).collect();
    let left = left_processes(workspace);
    for attempt in leases.iter().map(|lease| lease.attempt).chain(left) {
        end_orphans_of(workspace, attempt).await;
    }
    for lease in &leases {
        let task = workspace.tasks.task(lease.task).await?.value;
        workspace.projects.hand_over(&task, lease.attempt).await;
    }
    push_lost_work(workspace).await;
    for hold in workspace.limits.holds.active().await? {
        let until = hold.until.map_or_else(|| "it is released".to_owned(), |until| until.to_string());
        (workspace.announce)(&format!("Agent {} is on hold until {until}: {}", hold.agent, hold.reason));
    }
    let taken = match LeaseKeeper::of(workspace).take_back_own().await {
        Ok(taken) => taken,
        Err(error) => {
            (workspace.announce)(&format!(
                "Cannot take back the attempts of the last run before their leases expire: {error}"
            ));
            Vec::new()
        }
    };
    for Lease { attempt, .. } in &taken {
        (workspace.announce)(&format!("{attempt} ended with the last run"));
    }
    Ok(taken.into_iter().map(|lease| lease.attempt).collect())
}

/// Attempts whose agents an earlier run started here and did not see end.
fn left_processes(workspace: &Workspace) -> Vec<AttemptId> {
    let entries = fs::read_dir(workspace.place.attempts_folder()).into_iter().flatten().flatten();
    let left = entries.filter(|entry| entry.path().join(PROCESS_FILE).exists());
    left.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Pushes the work of attempts that other machines took back while this one was down.
async fn push_lost_work(workspace: &Workspace) {
    if !workspace.place.store.is_shared() {
        return;
    }
    let entries = fs::read_dir(workspace.place.attempts_folder()).into_iter().flatten().flatten();
    let attempts: Vec<AttemptId> =
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    for attempt in attempts {
        if let Err(error) = keep_if_lost(workspace, attempt).await {
            (workspace.announce)(&format!("{attempt}: cannot push its work yet: {error}"));
        }
    }
}

async fn keep_if_lost(workspace: &Workspace, attempt: AttemptId) -> Result<(), EngineError> {
    let Some(record) = workspace.tasks.store.attempt(attempt).await? else { return Ok(()) };
    let is_lost = matches!(record.closing, Some(AttemptClosing::Lost { .. }));
    if is_lost {
        let task = workspace.tasks.task(record.task_id).await?.value;
        workspace.projects.hand_over(&task, attempt).await;
    }
    Ok(())
}

/// The processes of an attempt's agent on this machine.
pub(super) fn tree_of(workspace: &Workspace, attempt: AttemptId) -> ProcessTree {
    ProcessTree::new(attempt, identity_of(workspace, attempt))
}

fn identity_of(workspace: &Workspace, attempt: AttemptId) -> Option<ProcessIdentity> {
    let text = fs::read_to_string(workspace.place.attempt_folder(attempt).join(PROCESS_FILE)).ok()?;
    serde_json::from_str(&text).ok()
}

/// Ends the processes of an attempt's agent on this machine.
pub(super) async fn end_orphans_of(workspace: &Workspace, attempt: AttemptId) {
    let file = workspace.place.attempt_folder(attempt).join(PROCESS_FILE);
    let identity = identity_of(workspace, attempt);
    let services = workspace.place.attempt_folder(attempt).join(SERVICES_FILE);
    for id in fs::read_to_string(&services).unwrap_or_default().lines().filter_map(|line| line.parse().ok()) {
        match end_orphans(id, None, ORPHAN_GRACE).await {
            Ok(()) => {}
            Err(leftover) => (workspace.announce)(&format!("{attempt}: of its services, {leftover}")),
        }
    }
    match end_orphans(attempt, identity.as_ref(), ORPHAN_GRACE).await {
        Ok(()) => {
            // It does not exist if the attempt did not get that far.
            let _ = fs::remove_file(&file);
        }
        Err(leftover) => (workspace.announce)(&format!("{attempt}: {leftover}")),
    }
}

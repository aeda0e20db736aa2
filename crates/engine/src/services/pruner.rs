//! The pruner: removes old data by age and size.
//!
//! It never removes work: worktrees of unfinished tasks stay, a snapshot of every other worktree is saved first (I17), and
//! branches and snapshots are never removed.

use crate::base::error::FolderError;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use baton_core::base::id::AttemptId;
use baton_core::base::time::Timestamp;
use baton_core::base::words::pluralize;
use baton_core::records::project::Project;
use baton_core::task::state::QueueName;
use baton_store::model::query::EventRetention as History;

use crate::base::error::EngineError;
use crate::base::supervisor::{Item, ItemKind, Items, Round, Service, ServiceError, ServiceName};
use crate::git::{ListedWorktree, Repository, Worktrees};
use crate::services::workspace::Workspace;
use crate::settings::retention::PruneCandidate;

/// Events removed in one transaction, so that it does not block others.
const EVENTS_AT_ONCE: u32 = 5_000;
/// Transactions in one round.
const EVENT_ROUNDS_MAX: u32 = 200;
/// Projects read at once.
const PROJECTS_PAGE: u32 = 200;
/// Files counted in one attempt's folder, which has two.
const FILES_MAX: u64 = 1_000;

/// What one round removed.
#[derive(Debug, Default)]
pub struct PruneReport {
    pub logs: Vec<AttemptId>,
    pub log_bytes: u64,
    pub worktrees: Vec<AttemptId>,
    pub worktree_bytes: u64,
    pub events: u64,
    pub verdicts: u64,
    /// What could not be removed and why.
    pub kept: Vec<String>,
}

pub struct Pruner {
    workspace: Workspace,
    items: Items,
}

impl Pruner {
    /// The time between two rounds.
    pub const PERIOD: Duration = Duration::from_hours(1);

    pub fn new(workspace: Workspace) -> Self {
        let items = workspace.items(ServiceName::Pruner);
        Self { workspace, items }
    }

    /// One round. What could not be removed is tried again in the next.
    pub async fn run_once(&self, now: SystemTime) -> Result<PruneReport, ServiceError> {
        let mut report = PruneReport::default();
        // Attempts with a lease are running; those started here may not have their lease yet.
        let mut alive: BTreeSet<AttemptId> = self.workspace.running.ids().into_iter().collect();
        alive.extend(self.workspace.tasks.store.leases().await?.into_iter().map(|lease| lease.attempt));
        let logs = Item::new(ItemKind::Prune, "logs");
        self.items.attempt(&logs, self.logs(&alive, now, &mut report)).await?;
        for path in self.repositories().await? {
            let item = Item::new(ItemKind::Prune, &path.display());
            self.items.attempt(&item, self.repository(&path, &alive, now, &mut report)).await?;
        }
        let events = Item::new(ItemKind::Prune, "events");
        self.items.attempt(&events, self.events(&mut report)).await?;
        Ok(report)
    }

    async fn repository(
        &self,
        path: &Path,
        alive: &BTreeSet<AttemptId>,
        now: SystemTime,
        report: &mut PruneReport,
    ) -> Result<(), EngineError> {
        // A deleted repository has no worktrees.
        let Ok(repository) = Repository::open(&self.workspace.projects.git, path).await else {
            return Ok(());
        };
        let worktrees = Worktrees::new(repository, &self.workspace.place.state_dir)?;
        self.worktrees(&worktrees, path, alive, now, report).await
    }

    async fn logs(
        &self,
        alive: &BTreeSet<AttemptId>,
        now: SystemTime,
        report: &mut PruneReport,
    ) -> Result<(), EngineError> {
        let home = self.workspace.place.attempts_folder();
        let limit = self.workspace.settings.retention.logs();
        let failed = |detail: String| FolderError { path: home.clone(), detail };
        let (path, alive) = (home.clone(), alive.clone());
        let removed = tokio::task::spawn_blocking(move || {
            let overdue = limit.select(attempt_folders(&path, &alive), now);
            let remove =
                |one: &PruneCandidate<AttemptId>| std::fs::remove_dir_all(path.join(one.key.to_string()));
            overdue.into_iter().map(|one| remove(&one).map(|()| one)).collect::<Result<Vec<_>, _>>()
        });
        let removed = removed.await.map_err(|error| failed(error.to_string()))?;
        for one in removed.map_err(|error| failed(error.to_string()))? {
            report.log_bytes += one.bytes;
            report.logs.push(one.key);
        }
        Ok(())
    }

    /// The repositories of all projects, and the one for work without a project.
    async fn repositories(&self) -> Result<BTreeSet<PathBuf>, EngineError> {
        let folder = |project: Option<&Project>| {
            self.workspace.projects.folder_of(&self.workspace.projects.source(project))
        };
        let mut paths = BTreeSet::from([folder(None)]);
        let mut cursor = None;
        loop {
            let page = self.workspace.tasks.store.projects(cursor, PROJECTS_PAGE).await?;
            paths.extend(page.items.iter().map(|project| folder(Some(project))));
            cursor = page.next;
            if cursor.is_none() {
                return Ok(paths);
            }
        }
    }

    async fn worktrees(
        &self,
        worktrees: &Worktrees,
        path: &Path,
        alive: &BTreeSet<AttemptId>,
        now: SystemTime,
        report: &mut PruneReport,
    ) -> Result<(), EngineError> {
        let mut kept = Vec::new();
        for standing in worktrees.list().await? {
            let Some(attempt) = standing.attempt else { continue };
            if let Some(is_needed) = self.is_needed(attempt, path, alive).await? {
                let ListedWorktree { active_at: last_used, bytes, .. } = standing;
                kept.push(PruneCandidate { key: attempt, last_used, bytes, is_needed });
            }
        }
        let overdue = self.workspace.settings.retention.worktrees().select(kept, now);
        let bytes: BTreeMap<AttemptId, u64> = overdue.iter().map(|one| (one.key, one.bytes)).collect();
        let mut due = BTreeSet::new();
        for attempt in bytes.keys().copied() {
            match self.prepare(worktrees, attempt).await {
                Ok(()) => drop(due.insert(attempt)),
                Err(error) => report.kept.push(format!("{attempt}: {error}")),
            }
        }
        let pruned = worktrees.prune(&due, Duration::ZERO, now).await?;
        report.worktree_bytes += pruned.removed.iter().filter_map(|one| bytes.get(one)).sum::<u64>();
        report.worktrees.extend(pruned.removed);
        report.kept.extend(pruned.kept.iter().map(|kept| format!("{}: {}", kept.attempt, kept.why)));
        let mut finished = BTreeSet::new();
        for attempt in worktrees.recorded().await? {
            if self.is_needed(attempt, path, alive).await? == Some(false) {
                finished.insert(attempt);
            }
        }
        Ok(worktrees.forget(&finished).await?)
    }

    async fn prepare(&self, worktrees: &Worktrees, attempt: AttemptId) -> Result<(), EngineError> {
        let Some(record) = self.workspace.tasks.store.attempt(attempt).await? else { return Ok(()) };
        self.workspace.prepare_removal(worktrees, record.task_id, attempt).await?;
        self.workspace.projects.release_values(record.task_id).await
    }

    /// Whether the task may still continue in it; none if it belongs to no task of this repository.
    async fn is_needed(
        &self,
        attempt: AttemptId,
        path: &Path,
        alive: &BTreeSet<AttemptId>,
    ) -> Result<Option<bool>, EngineError> {
        let Some(record) = self.workspace.tasks.store.attempt(attempt).await? else { return Ok(None) };
        let task = self.workspace.tasks.task(record.task_id).await?.value;
        if self.workspace.projects.repository_path(&task).await? != path {
            return Ok(None);
        }
        let is_used = alive.contains(&attempt) || self.workspace.projects.is_folder_used(attempt)?;
        Ok(Some(is_used || !is_finished(task.state().queue())))
    }

    async fn events(&self, report: &mut PruneReport) -> Result<(), EngineError> {
        let store = &self.workspace.tasks.store;
        let age_ms =
            i64::try_from(self.workspace.settings.retention.events().as_millis()).unwrap_or(i64::MAX);
        let before = Timestamp::from_ms(store.now().await?.ms().saturating_sub(age_ms));
        for _ in 0..EVENT_ROUNDS_MAX {
            let history = History { events_before: before, rows_max: EVENTS_AT_ONCE };
            let pruned = store.prune(&history).await?;
            report.events += pruned.events;
            report.verdicts += pruned.verdicts;
            if !pruned.is_more {
                break;
            }
        }
        Ok(())
    }
}

impl Service for Pruner {
    async fn run_once(&mut self) -> Result<Round, ServiceError> {
        let report = Self::run_once(self, SystemTime::now()).await?;
        if !report.is_empty() {
            (self.workspace.announce)(&report.to_string());
        }
        Ok(self.items.end_round())
    }
}

/// Whether a task is over. A failed one is not, because it can be retried.
const fn is_finished(queue: QueueName) -> bool {
    match queue {
        QueueName::Done | QueueName::Rejected | QueueName::Recycled => true,
        QueueName::Incoming
        | QueueName::Breakdown
        | QueueName::Claimed
        | QueueName::NeedsContinuation
        | QueueName::Escalated
        | QueueName::Provisional
        | QueueName::Landing
        | QueueName::Failed => false,
    }
}

/// The folders with attempts' logs. Other folders are ignored.
fn attempt_folders(home: &Path, alive: &BTreeSet<AttemptId>) -> Vec<PruneCandidate<AttemptId>> {
    let entries = std::fs::read_dir(home).into_iter().flatten().flatten();
    let candidate = |entry: std::fs::DirEntry| {
        let key: AttemptId = entry.file_name().to_str()?.parse().ok()?;
        let (bytes, last_used) = measure(&entry.path())?;
        Some(PruneCandidate { key, last_used, bytes, is_needed: alive.contains(&key) })
    };
    entries.filter_map(candidate).collect()
}

/// The size of a folder's files, and when one was last written.
fn measure(folder: &Path) -> Option<(u64, SystemTime)> {
    let own = folder.metadata().ok()?.modified().ok()?;
    let files = std::fs::read_dir(folder).ok()?.flatten().take(usize::try_from(FILES_MAX).ok()?);
    Some(files.filter_map(|file| file.metadata().ok()).fold((0, own), |(bytes, last), about| {
        (bytes + about.len(), about.modified().map_or(last, |at| last.max(at)))
    }))
}

impl fmt::Display for PruneReport {
    /// One line for the user.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mib = |bytes: u64| bytes.div_ceil(1 << 20);
        let mut parts = Vec::new();
        if !self.logs.is_empty() {
            parts.push(format!(
                "the logs of {} ({} MiB)",
                pluralize(self.logs.len() as u64, "attempt"),
                mib(self.log_bytes)
            ));
        }
        if !self.worktrees.is_empty() {
            let count = pluralize(self.worktrees.len() as u64, "finished worktree");
            let bytes = mib(self.worktree_bytes);
            parts.push(format!("{count} ({bytes} MiB, kept for baton task restore)"));
        }
        if self.events > 0 {
            parts.push(format!("{} of finished tasks", pluralize(self.events, "old event")));
        }
        if self.verdicts > 0 {
            parts.push(pluralize(self.verdicts, "old verdict"));
        }
        if !parts.is_empty() {
            write!(f, "Removed by [retention]: {}.", parts.join(", "))?;
        }
        for sentence in &self.kept {
            let gap = if parts.is_empty() { "" } else { " " };
            write!(f, "{gap}A worktree stays: {sentence}")?;
        }
        Ok(())
    }
}

impl PruneReport {
    pub fn is_empty(&self) -> bool {
        self.logs.is_empty()
            && self.worktrees.is_empty()
            && self.events + self.verdicts == 0
            && self.kept.is_empty()
    }
}

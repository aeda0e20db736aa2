//! What this process does in each lane, and what people see of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use baton_agents::output::live::LiveOutput;
use baton_core::base::git_name::CommitId;
use baton_core::base::id::TaskId;
use baton_core::base::time::Timestamp;
use baton_core::landing::lane::{LaneMember, lane_entry};
use baton_core::landing::verdict::VerdictSubject;
use tokio::sync::watch;

use crate::base::error::EngineError;
use crate::landing::history::LandingHistory;
use crate::landing::lanes::{self, Lane, LaneKey};
use crate::landing::live_runs::{CheckSubject, LiveRuns};
use crate::landing::lost;
use crate::landing::views::{LandingView, LaneCandidate, LaneView, VerdictView};
use crate::projects::Projects;
use crate::projects::landing_rules;
use crate::projects::source::CodeSource;

/// Verdicts shown.
const VERDICTS_MAX: u32 = 20;

/// What this process does in each lane right now. Cheap to clone; clones share it.
#[derive(Clone, Default)]
pub struct LandingBoard {
    known: Arc<Mutex<Activities>>,
    history: LandingHistory,
    /// Incremented when a person wants a lane to go on now.
    looks: watch::Sender<u64>,
    /// Incremented when a lane or the output of a check has changed.
    changes: watch::Sender<u64>,
}

#[derive(Clone, Default)]
struct Activities {
    lanes: BTreeMap<LaneKey, LaneActivity>,
    /// Why a policy could not accept finished work when it last tried.
    not_accepted: BTreeMap<TaskId, String>,
    runs: LiveRuns,
}

#[derive(Debug, Clone, Default)]
struct LaneActivity {
    /// In the order in which they began.
    runs: Vec<ActiveRun>,
    error: Option<String>,
    /// What keeps it is that its branch fails the checks.
    is_red: bool,
    /// A person wants it to go on now.
    looks_again: bool,
}

impl LaneActivity {
    /// Why the lane does not go on. What was found before a person asked for another look may be over: nobody waits because
    /// of it until that look has been taken.
    fn reason_to_wait(&self) -> Option<&String> {
        self.error.as_ref().filter(|_| !self.looks_again)
    }
}

#[derive(Debug, Clone)]
struct ActiveRun {
    number: u64,
    tasks: Vec<TaskId>,
    since: Timestamp,
}

/// A run of the checks that is at work. Dropped, it is over.
pub(crate) struct WatchedRun {
    board: LandingBoard,
    lane: LaneKey,
    number: u64,
    /// Where its output goes.
    pub output: LiveOutput,
}

impl Drop for WatchedRun {
    fn drop(&mut self) {
        if let Some(activity) = self.board.known().lanes.get_mut(&self.lane) {
            activity.runs.retain(|run| run.number != self.number);
        }
        self.board.note_change();
    }
}

impl LandingBoard {
    /// A run of the checks begins.
    pub(crate) fn note_checking(&self, lane: &LaneKey, subject: CheckSubject) -> WatchedRun {
        let (tasks, since) = (subject.tasks.clone(), subject.since);
        let mut known = self.known();
        let (number, output) = known.runs.start(&lane.branch, subject, self.changes.clone());
        let activity = known.lanes.entry(lane.clone()).or_default();
        (activity.error, activity.is_red) = (None, false);
        activity.runs.push(ActiveRun { number, tasks, since });
        drop(known);
        self.note_change();
        WatchedRun { board: self.clone(), lane: lane.clone(), number, output }
    }

    pub(crate) fn note_idle(&self, lane: &LaneKey) {
        let mut known = self.known();
        if let Some(activity) = known.lanes.remove(lane).filter(|activity| activity.looks_again) {
            let asked = LaneActivity { looks_again: activity.looks_again, ..LaneActivity::default() };
            known.lanes.insert(lane.clone(), asked);
        }
        drop(known);
        self.note_change();
    }

    /// Whether something keeps this lane from going on.
    pub(crate) fn is_stopped(&self, lane: &LaneKey) -> bool {
        self.known().lanes.get(lane).is_some_and(|activity| activity.error.is_some())
    }

    /// Nothing waits in any other lane, so nothing keeps one.
    pub(crate) fn forget_empty(&self, lanes: &BTreeSet<LaneKey>) {
        let empty = |(lane, activity): (&LaneKey, &LaneActivity)| {
            (activity.error.is_some() && !lanes.contains(lane)).then(|| lane.clone())
        };
        let empty: Vec<LaneKey> = self.known().lanes.iter().filter_map(empty).collect();
        for lane in empty {
            self.note_idle(&lane);
        }
    }

    /// What keeps the lane from going on; it is retried.
    pub(crate) fn note_error(&self, lane: &LaneKey, error: String, is_red: bool) {
        let mut known = self.known();
        let looks_again = known.lanes.get(lane).is_some_and(|activity| activity.looks_again);
        let activity = LaneActivity { error: Some(error), is_red, looks_again, ..LaneActivity::default() };
        known.lanes.insert(lane.clone(), activity);
        drop(known);
        self.note_change();
    }

    /// A policy tried to accept finished work; `error` says why it could not. It tries again.
    pub(crate) fn note_accepting(&self, task: TaskId, error: Option<String>) {
        let mut known = self.known();
        match error {
            Some(error) => known.not_accepted.insert(task, error),
            None => known.not_accepted.remove(&task),
        };
    }

    /// Why a policy cannot accept this task.
    pub(crate) fn why_not_accepted(&self, task: TaskId) -> Option<String> {
        self.known().not_accepted.get(&task).cloned()
    }

    /// A person wants this lane to go on now: what is known to keep it may be over.
    pub(crate) fn request_look(&self, lane: &LaneKey) {
        let mut known = self.known();
        let activity = known.lanes.entry(lane.clone()).or_default();
        (activity.error, activity.is_red, activity.looks_again) = (None, false, true);
        drop(known);
        self.looks.send_modify(|count| *count += 1);
        self.note_change();
    }

    /// Whether somebody wants that, and nobody has begun with it.
    pub(crate) fn is_look_requested(&self, lane: &LaneKey) -> bool {
        self.known().lanes.get(lane).is_some_and(|activity| activity.looks_again)
    }

    /// The same, at the start of a sentence.
    pub(crate) fn take_look(&self, lane: &LaneKey) -> bool {
        self.known().lanes.get_mut(lane).is_some_and(|activity| std::mem::take(&mut activity.looks_again))
    }

    /// Counts the requests to go on.
    pub(crate) fn looks(&self) -> watch::Receiver<u64> {
        self.looks.subscribe()
    }

    pub(crate) fn is_red(&self, lane: &LaneKey) -> bool {
        self.known().lanes.get(lane).is_some_and(|activity| activity.is_red)
    }

    /// The lanes that cannot go on in this process, apart from those whose branch fails, with the reason.
    pub fn stopped(&self) -> Vec<(LaneKey, String)> {
        let known = self.known();
        let stopped = known.lanes.iter().filter(|(_, activity)| !activity.is_red);
        stopped
            .filter_map(|(key, activity)| Some((key.clone(), activity.reason_to_wait()?.clone())))
            .collect()
    }

    fn note_change(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    /// Counts what this process has done and what its checks have printed.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    fn known(&self) -> MutexGuard<'_, Activities> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Everything, for the API and the pages.
    pub async fn view(&self, projects: &Projects) -> Result<LandingView, EngineError> {
        let lanes = lanes::load(projects).await?;
        let verdicts = projects.tasks.store.last_verdicts(VERDICTS_MAX).await?;
        let known = self.known().clone();
        let recent = self.history.load(&projects.tasks).await?;
        let mut views = Vec::new();
        for lane in lanes {
            let (tip, note) = look(projects, &lane).await;
            views.push(LaneView { note, ..lane_view(lane, tip, &known.lanes) });
        }
        let active = |activity: &LaneActivity, run| activity.runs.iter().any(|active| active.number == run);
        let is_running = |run| known.lanes.values().any(|activity| active(activity, run));
        Ok(LandingView {
            lanes: views,
            runs: known.runs.views(is_running),
            recent,
            verdicts: verdicts
                .into_iter()
                .filter(|stored| stored.value.subject == VerdictSubject::Candidate)
                .map(|stored| VerdictView::new(stored.value))
                .collect(),
        })
    }
}

/// Why it cannot be read is the lane's own error, and reported as such as soon as the lane is worked on.
async fn look(projects: &Projects, lane: &Lane) -> (Option<CommitId>, Option<String>) {
    let LaneKey { repository, branch } = &lane.key;
    if !repository.is_dir() {
        return (None, None);
    }
    let Ok(worktrees) = projects.open_source(&lane.source).await else { return (None, None) };
    let tip = worktrees.repository().tip(branch).await.ok().flatten();
    let project = lane.project.as_ref();
    let difference = match &lane.source {
        CodeSource::Here(folder) => {
            let trunk = projects.trunk(&worktrees, project).await.ok().flatten();
            landing_rules::difference(worktrees.repository(), branch, trunk, folder).await.ok().flatten()
        }
        CodeSource::Remote(_) => None,
    };
    let lost = lost::find(worktrees.repository(), branch).await.ok().flatten();
    let notes: Vec<String> =
        lost.into_iter().chain(difference).map(|found| format!("{}; {}", found.detail, found.fix)).collect();
    (tip, (!notes.is_empty()).then(|| notes.join(". ")))
}

fn lane_view(lane: Lane, tip: Option<CommitId>, known: &BTreeMap<LaneKey, LaneActivity>) -> LaneView {
    let activity = known.get(&lane.key).cloned().unwrap_or_default();
    let first = activity.runs.first();
    let mut behind = None;
    let mut candidates = Vec::new();
    for task in &lane.tasks {
        let Some(entry) = lane_entry(task) else { continue };
        let is_being_checked = activity.runs.iter().any(|run| run.tasks.contains(&task.id()));
        candidates.push(LaneCandidate::new(task, entry, is_being_checked, behind.replace(task.id())));
    }
    for LaneMember { task, unmet } in &lane.resting {
        let Some(entry) = lane_entry(task) else { continue };
        let on = unmet.first().copied();
        let mut candidate = LaneCandidate::new(task, entry, false, on);
        candidate.delayed = candidate.delayed.or_else(|| {
            on.map(|on| {
                format!("it was started on the work of {on}, which is not in the lane and has to land first")
            })
        });
        candidates.push(candidate);
    }
    LaneView {
        branch: lane.key.branch,
        project_id: lane.project.as_ref().map(|project| project.id),
        project_title: lane.project.map(|project| project.title),
        remote: lane.source.remote().cloned(),
        tip,
        run: first.map(|run| run.number),
        checking: first.map(|run| run.tasks.clone()).unwrap_or_default(),
        checking_since: first.map(|run| run.since),
        error: activity.reason_to_wait().cloned(),
        note: None,
        candidates,
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn what_was_found_before_a_person_asked_for_another_look_is_put_aside_until_it_is_taken() {
        let (board, lane) = (
            LandingBoard::default(),
            LaneKey { repository: PathBuf::from("/code"), branch: "baton/next".parse().unwrap() },
        );
        board.request_look(&lane);
        // The look before it was still under way, and ends now.
        board.note_error(&lane, "another task waits".to_owned(), false);
        assert!(board.stopped().is_empty());

        assert!(board.take_look(&lane));
        board.note_error(&lane, "this one waits too".to_owned(), false);
        assert_eq!(board.stopped(), [(lane, "this one waits too".to_owned())]);
    }
}

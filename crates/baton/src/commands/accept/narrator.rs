//! Says what happens to accepted work while a command waits for it: a line for each change, on standard error.

use std::collections::BTreeSet;

use baton_core::base::id::TaskId;
use baton_core::base::time::Timestamp;
use baton_engine::landing::live_runs::CheckRunView;
use baton_engine::landing::views::{LandingView, LaneCandidate};

use crate::commands::lanes::{end_sentence, short_commit};
use crate::output;

pub(crate) struct LandingNarrator {
    tasks: Vec<TaskId>,
    is_quiet: bool,
    /// What has been said, or was over before.
    known: Option<Known>,
}

#[derive(Default)]
struct Known {
    runs: BTreeSet<u64>,
    ends: BTreeSet<(Timestamp, TaskId)>,
    delayed: BTreeSet<TaskId>,
    notes: BTreeSet<String>,
}

impl LandingNarrator {
    pub(crate) fn new(tasks: Vec<TaskId>, is_quiet: bool) -> Self {
        Self { tasks, is_quiet, known: None }
    }

    /// Says what is new.
    pub(crate) fn look(&mut self, landing: &LandingView) {
        if self.is_quiet {
            return;
        }
        for line in self.news(landing) {
            output::talk(&line);
        }
    }

    fn news(&mut self, landing: &LandingView) -> Vec<String> {
        let mut lines = Vec::new();
        let is_first = self.known.is_none();
        let known = self.known.get_or_insert_with(|| Known {
            runs: landing.runs.iter().filter(|run| !run.is_running).map(|run| run.run).collect(),
            ends: landing.recent.iter().map(|entry| (entry.at, entry.task_id)).collect(),
            delayed: BTreeSet::new(),
            notes: BTreeSet::new(),
        });
        let candidates = || {
            let all =
                landing.lanes.iter().flat_map(|lane| lane.candidates.iter().map(move |one| (lane, one)));
            all.filter(|(_, one)| self.tasks.contains(&one.task_id))
        };
        if is_first {
            lines.extend(candidates().map(|(lane, one)| queued(one, lane.branch.as_str())));
        }
        for note in candidates().filter_map(|(lane, _)| lane.note.as_ref()) {
            if known.notes.insert(note.clone()) {
                lines.push(format!("note: {note}"));
            }
        }
        for run in landing.runs.iter().filter(|run| run.task_ids.iter().any(|id| self.tasks.contains(id))) {
            if known.runs.insert(run.run) {
                lines.push(checking(run));
            }
        }
        for (_, one) in candidates() {
            if let Some(delayed) = &one.delayed
                && known.delayed.insert(one.task_id)
            {
                lines.push(format!("{}  waiting: {delayed}", one.task_id));
            }
        }
        for entry in landing.recent.iter().rev().filter(|entry| self.tasks.contains(&entry.task_id)) {
            if known.ends.insert((entry.at, entry.task_id)) {
                lines.push(format!("{}  {}", entry.task_id, end_sentence(&entry.end)));
            }
        }
        lines
    }
}

fn queued(candidate: &LaneCandidate, branch: &str) -> String {
    let place = match candidate.behind {
        Some(behind) => format!("behind {behind}"),
        None => "next".to_owned(),
    };
    format!("{}  queued: {place} to land on {branch}", candidate.task_id)
}

fn checking(run: &CheckRunView) -> String {
    let tasks: Vec<String> = run.task_ids.iter().map(ToString::to_string).collect();
    let (tasks, commit) = (tasks.join(", "), short_commit(&run.commit));
    // What the branch says by itself decides whether the work is to blame.
    if let Some(what) = &run.without_work {
        return format!("checking {what} without {tasks} ({commit})");
    }
    format!("checking {tasks} on {} ({commit})", run.branch)
}

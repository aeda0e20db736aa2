//! The newest runs of the checks in this process, for people who watch them.

use std::collections::VecDeque;

use baton_agents::output::live::LiveOutput;
use baton_core::base::git_name::{BranchName, CommitId};
use baton_core::base::id::TaskId;
use baton_core::base::time::Timestamp;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

/// Runs kept: the ones at work, and those that have just ended, so that who follows them sees their last lines.
const RUNS_MAX: usize = 8;

/// What is checked, and for whose sake.
#[derive(Debug, Clone)]
pub(crate) struct CheckSubject {
    pub tasks: Vec<TaskId>,
    pub commit: CommitId,
    pub base: CommitId,
    /// What is checked, in words, where the work of the tasks is not in it.
    pub without_work: Option<String>,
    pub since: Timestamp,
}

#[derive(Clone)]
struct LiveRun {
    number: u64,
    branch: BranchName,
    subject: CheckSubject,
    output: LiveOutput,
}

#[derive(Clone, Default)]
pub(super) struct LiveRuns(VecDeque<LiveRun>);

impl LiveRuns {
    /// Its number, and where its output goes. Numbers grow, also from one start of Baton to the next.
    pub(super) fn start(
        &mut self,
        branch: &BranchName,
        subject: CheckSubject,
        changes: watch::Sender<u64>,
    ) -> (u64, LiveOutput) {
        let after_last = self.0.back().map_or(1, |last| last.number + 1);
        let number = u64::try_from(subject.since.ms()).unwrap_or_default().max(after_last);
        let output = LiveOutput::new(changes);
        self.0.push_back(LiveRun { number, branch: branch.clone(), subject, output: output.clone() });
        while self.0.len() > RUNS_MAX {
            self.0.pop_front();
        }
        (number, output)
    }

    /// Oldest first. `is_running` says which of them are at work.
    pub(super) fn views(&self, is_running: impl Fn(u64) -> bool) -> Vec<CheckRunView> {
        let view = |run: &LiveRun| {
            let tail = run.output.tail();
            CheckRunView {
                run: run.number,
                branch: run.branch.clone(),
                task_ids: run.subject.tasks.clone(),
                commit: run.subject.commit.clone(),
                base: run.subject.base.clone(),
                without_work: run.subject.without_work.clone(),
                since: run.subject.since,
                is_running: is_running(run.number),
                output: tail.text,
                output_bytes_before: tail.bytes_before,
            }
        };
        self.0.iter().map(view).collect()
    }
}

/// One run of the checks that this process has started.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CheckRunView {
    /// Later runs have larger numbers.
    pub run: u64,
    pub branch: BranchName,
    /// The tasks that are checked together.
    pub task_ids: Vec<TaskId>,
    pub commit: CommitId,
    /// The tip of the branch it was built on.
    pub base: CommitId,
    /// What is checked, in words, where the work of the tasks is not in it: whether they are to blame.
    pub without_work: Option<String>,
    pub since: Timestamp,
    pub is_running: bool,
    /// The end of what the checks have printed so far.
    pub output: String,
    /// Bytes that were printed before that and are not kept.
    pub output_bytes_before: u64,
}

//! What landed or was sent back lately, read from the events.

use std::collections::VecDeque;
use std::sync::Arc;

use baton_core::base::git_name::CommitId;
use baton_core::base::id::TaskId;
use baton_core::base::text::NonBlank;
use baton_core::base::time::Timestamp;
use baton_core::records::event::{Event, EventBody};
use baton_core::task::not_landed::NotLanded;
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

use crate::base::error::EngineError;
use crate::tasks::service::TaskService;

/// Entries kept.
const ENTRIES_MAX: usize = 20;
/// Events looked at the first time; later only the new ones are.
const LOOK_BACK: u64 = 2_000;
/// Events read at once.
const PAGE: u32 = 500;

/// Cheap to clone; clones share what was read.
#[derive(Clone, Default)]
pub(super) struct LandingHistory(Arc<Mutex<SeenEvents>>);

#[derive(Default)]
struct SeenEvents {
    /// The last event that was read.
    seq: Option<u64>,
    entries: VecDeque<(Timestamp, TaskId, LandingEnd)>,
}

/// How an accepted task left its lane.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "end", rename_all = "snake_case")]
pub enum LandingEnd {
    Landed {
        commit: CommitId,
        /// Checks that failed first and then passed on the same files.
        #[serde(default)]
        flaky: Vec<NonBlank>,
    },
    SentBack {
        reason: Box<NotLanded>,
        headline: String,
    },
    Forced {
        by: String,
        commit: Option<CommitId>,
    },
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LandingEntry {
    pub at: Timestamp,
    pub task_id: TaskId,
    pub title: NonBlank,
    #[serde(flatten)]
    pub end: LandingEnd,
}

impl LandingHistory {
    /// Newest first.
    pub(super) async fn load(&self, tasks: &TaskService) -> Result<Vec<LandingEntry>, EngineError> {
        let entries: Vec<_> = {
            let mut seen = self.0.lock().await;
            seen.catch_up(tasks).await?;
            seen.entries.iter().rev().cloned().collect()
        };
        let ids: Vec<TaskId> = entries.iter().map(|(_, task, _)| *task).collect();
        let found = tasks.store.tasks_by_ids(&ids).await?;
        let title = |id: TaskId| found.iter().find(|stored| stored.value.id() == id);
        let entry = |(at, task_id, end)| {
            let title = title(task_id)?.value.spec().title.clone();
            Some(LandingEntry { at, task_id, title, end })
        };
        Ok(entries.into_iter().filter_map(entry).collect())
    }
}

impl SeenEvents {
    async fn catch_up(&mut self, tasks: &TaskService) -> Result<(), EngineError> {
        let mut seq = match self.seq {
            Some(seq) => seq,
            None => tasks.last_event().await?.saturating_sub(LOOK_BACK),
        };
        loop {
            let events = tasks.store.events_after(seq, PAGE).await?;
            let Some(last) = events.last() else { break };
            seq = last.seq;
            for stored in &events {
                self.take(&stored.event);
            }
            self.seq = Some(seq);
        }
        self.seq = Some(seq);
        Ok(())
    }

    fn take(&mut self, event: &Event) {
        let (task, end) = match &event.body {
            EventBody::TaskLanded { task, commit, evidence, .. } => {
                let flaky = evidence.iter().flat_map(|evidence| &evidence.flaky);
                let flaky = flaky.map(|check| check.name.clone()).collect();
                (*task, LandingEnd::Landed { commit: commit.clone(), flaky })
            }
            EventBody::TaskSentBack { task, reason } => {
                (*task, LandingEnd::SentBack { reason: reason.clone(), headline: reason.headline() })
            }
            EventBody::TaskForced { task, commit, .. } => {
                (*task, LandingEnd::Forced { by: event.by.to_string(), commit: commit.clone() })
            }
            _ => return,
        };
        self.entries.push_back((event.at, task, end));
        while self.entries.len() > ENTRIES_MAX {
            self.entries.pop_front();
        }
    }
}

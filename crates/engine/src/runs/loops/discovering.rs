//! The tasks a review came upon, created after YES and never twice (I9).
//!
//! Two loops may come upon the same task at the same moment. What is open already is looked up before the change is
//! written; a receipt for the title, in the same change, makes the second of two such changes fail, and it looks again.

use crate::tasks::error::TaskError;
use std::collections::BTreeSet;
use std::fmt::Write;

use baton_core::base::id::TaskId;
use baton_core::base::task_type::TaskType;
use baton_core::base::text::NonBlank;
use baton_core::base::time::Timestamp;
use baton_core::base::title::normalize_title;
use baton_core::graph::Standing;
use baton_core::people::actor::Actor;
use baton_core::phase::discovered::{ApprovedTasks, DiscoveredTask};
use baton_core::phase::phase_loop::PhaseLoop;
use baton_core::records::change::{Change, Record, WriteGuard};
use baton_core::records::event::{Event, EventBody};
use baton_core::records::receipt::{Receipt, ReceiptKey, RequestedWork};
use baton_core::task::{Task, TaskSpec};
use baton_store::model::query::TaskFilter;
use sha2::{Digest, Sha256};

use crate::base::error::Result;
use crate::runs::loops::Loops;

/// Why a discovered task is held.
pub(crate) const DISCOVERED: &str = "the loop discovered it";

/// Tasks read at once when duplicates are looked for.
const TASKS_PAGE: u32 = 500;
/// How often a review may come upon a title anew after it was done. Beyond this a person should ask why.
const TIMES_MAX: u32 = 10_000;

/// How many are new, and how many were left out.
pub(crate) struct Counts {
    pub created: u32,
    pub skipped: u32,
}

impl Loops {
    /// I9: what was approved and is not open already.
    pub(crate) async fn discovered(
        &self,
        current: &PhaseLoop,
        approved: ApprovedTasks,
        actor: &Actor,
        now: Timestamp,
    ) -> Result<(Change, Counts)> {
        let open = self.open_titles().await?;
        let selection = approved.resolve(open.iter().map(String::as_str)).into_selection();
        let project =
            self.tasks.store.session(current.session()).await?.and_then(|stored| stored.value.project_id);
        let asker = self.tasks.asker_of(current.session()).await?;
        let count = |len: usize| u32::try_from(len).unwrap_or(u32::MAX);
        let mut counts = Counts { created: 0, skipped: count(selection.skipped.len()) };
        let why = NonBlank::new(DISCOVERED)?;
        let mut change = Change::new();
        for DiscoveredTask { title, description } in selection.create {
            let (id, session) = (self.tasks.ids.task(), current.session().clone());
            let spec = TaskSpec {
                project_id: project,
                description,
                ..TaskSpec::new(id, session, TaskType::Implementation, title, now)
            };
            // The loop owns what it discovered until somebody releases it (I22).
            let task = Task::create_held_for(spec, why.clone()).with_requester(asker.clone());
            let Some(receipt) = self.receipt_for(&task, now).await? else {
                counts.skipped += 1;
                continue;
            };
            counts.created += 1;
            let body = EventBody::TaskCreated { spec: Box::new(task.spec().clone()), depends_on: Vec::new() };
            change = change
                .and(Change::create(task, &[], Event { at: now, by: actor.clone(), body }))
                .put(Record::Receipt(receipt), WriteGuard::New);
        }
        Ok((change, counts))
    }

    /// The first receipt of the title that is not written yet; none where the task of an earlier one is still open.
    async fn receipt_for(&self, task: &Task, now: Timestamp) -> Result<Option<Receipt>> {
        let title = digest(&normalize_title(task.spec().title.as_str()));
        for time in 0..TIMES_MAX {
            let key = ReceiptKey::for_discovered(&title, time)
                .map_err(|_| TaskError::DiscoveredTooOften { title: task.spec().title.to_string() })?;
            let Some(written) = self.tasks.store.receipt(&key).await? else {
                let session_id = task.spec().session_id.clone();
                let wanted = RequestedWork::default();
                return Ok(Some(Receipt {
                    key,
                    session_id,
                    message: None,
                    task_id: Some(task.id()),
                    wanted,
                    delivered: None,
                    answer: None,
                    at: now,
                }));
            };
            if let Some(task) = written.task_id
                && self.is_open(task).await?
            {
                return Ok(None);
            }
        }
        Err(TaskError::DiscoveredTooOften { title: task.spec().title.to_string() }.into())
    }

    /// Whether it, or anything that stands in for it, is still to be done.
    async fn is_open(&self, task: TaskId) -> Result<bool> {
        let (mut left, mut seen) = (vec![task], BTreeSet::new());
        while let Some(id) = left.pop() {
            if !seen.insert(id) {
                continue;
            }
            match self.tasks.store.task(id).await?.map(|stored| stored.value.standing()) {
                Some(Standing::Open | Standing::Recycled { .. }) => return Ok(true),
                Some(Standing::Replaced { by }) => left.extend(by),
                Some(Standing::Done | Standing::Cancelled | Standing::Failed) | None => {}
            }
        }
        Ok(false)
    }

    /// The titles of all tasks that are not over.
    pub(crate) async fn open_titles(&self) -> Result<Vec<String>> {
        let mut titles = Vec::new();
        let mut cursor = None;
        loop {
            let page = self.tasks.store.tasks(&TaskFilter::default(), cursor, TASKS_PAGE).await?;
            for task in page.items.iter().map(|stored| &stored.value) {
                let is_open = match task.standing() {
                    Standing::Open | Standing::Recycled { .. } => true,
                    Standing::Replaced { .. } => self.is_open(task.id()).await?,
                    Standing::Done | Standing::Cancelled | Standing::Failed => false,
                };
                if is_open {
                    titles.push(task.spec().title.to_string());
                }
            }
            cursor = page.next;
            if cursor.is_none() {
                return Ok(titles);
            }
        }
    }
}

fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().fold(String::new(), |mut hex, byte| {
        // Writing to a String cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

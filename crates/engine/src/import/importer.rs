//! Writes what was found, a piece at a time. A task and its receipt are one change, so a task that has its receipt is
//! there, and one that has none is not.

use std::collections::HashMap;

use baton_core::actor::Actor;
use baton_core::change::{Change, EdgeChange, Guard, Record};
use baton_core::event::{Event, EventBody};
use baton_core::id::{SessionId, TaskId};
use baton_core::project::Project;
use baton_core::receipt::{BadReceiptKey, Receipt, ReceiptKey, Wanted};
use baton_core::session::Session;
use baton_core::task::TaskSpec;
use baton_core::task_type::TaskType;
use baton_core::text::NonBlank;
use baton_core::time::Timestamp;
use baton_store::model::commit::{Commit, Conflict};

use super::item::{Found, Item};
use super::order::{Dropped, arrange};
use crate::desk::{DECISIONS_MAX, Desk};
use crate::error::EngineError;

/// Tasks written in one transaction: many enough to be quick, few enough that nobody waits behind them.
const TASKS_PER_CHANGE: usize = 250;

/// What is to be imported, ready to be written.
#[derive(Debug)]
pub struct Import {
    origin: String,
    pub items: Vec<Item>,
    /// Edges that could not be kept.
    pub dropped: Vec<Dropped>,
    pub left_out: Vec<String>,
}

/// What came of one item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    pub name: String,
    pub task: TaskId,
    /// False where an earlier import had brought it.
    pub is_new: bool,
}

impl Import {
    pub fn of(found: Found) -> Self {
        let Found { origin, items, left_out } = found;
        let (items, dropped) = arrange(items);
        Self { origin, items, dropped, left_out }
    }

    fn key(&self, item: &Item) -> Result<ReceiptKey, EngineError> {
        ReceiptKey::of_import(&self.origin, &item.name)
            .map_err(|BadReceiptKey| EngineError::ImportName { name: item.name.chars().take(80).collect() })
    }

    /// Which of the items an earlier import brought, and as which tasks. Nothing is written.
    pub async fn known(&self, desk: &Desk) -> Result<HashMap<String, TaskId>, EngineError> {
        let mut known = HashMap::new();
        for item in &self.items {
            if let Some(receipt) = desk.store.receipt(&self.key(item)?).await? {
                known.insert(item.name.clone(), receipt.task_id);
            }
        }
        Ok(known)
    }

    /// Writes all that is not there yet. `progress` hears how many are through after each piece.
    pub async fn write(
        &self,
        desk: &Desk,
        session: &SessionId,
        project: Option<&Project>,
        actor: &Actor,
        mut progress: impl FnMut(usize),
    ) -> Result<Vec<Imported>, EngineError> {
        let mut known = HashMap::new();
        let mut done = Vec::with_capacity(self.items.len());
        for piece in self.items.chunks(TASKS_PER_CHANGE) {
            let writing = Piece { import: self, items: piece, session, project, actor };
            done.extend(writing.write(desk, &mut known).await?);
            progress(done.len());
        }
        Ok(done)
    }
}

/// The items of one transaction.
struct Piece<'a> {
    import: &'a Import,
    items: &'a [Item],
    session: &'a SessionId,
    project: Option<&'a Project>,
    actor: &'a Actor,
}

impl Piece<'_> {
    /// Tries as if all were new, which they mostly are; looks closer when the store says that one is not.
    async fn write(
        &self,
        desk: &Desk,
        known: &mut HashMap<String, TaskId>,
    ) -> Result<Vec<Imported>, EngineError> {
        for round in 0..DECISIONS_MAX {
            if round > 0 {
                for item in self.items {
                    if let Some(receipt) = desk.store.receipt(&self.import.key(item)?).await? {
                        known.insert(item.name.clone(), receipt.task_id);
                    }
                }
            }
            let (change, imported) = self.change(desk, known).await?;
            if change.puts.is_empty() {
                return Ok(imported);
            }
            match desk.store.commit(change).await? {
                Commit::Written { .. } => {
                    known.extend(imported.iter().map(|item| (item.name.clone(), item.task)));
                    return Ok(imported);
                }
                Commit::Conflict(Conflict::Moved { .. }) => {}
                Commit::Conflict(conflict) => return Err(EngineError::Dependency(conflict)),
            }
        }
        Err(EngineError::Restless { task: desk.ids.task() })
    }

    async fn change(
        &self,
        desk: &Desk,
        known: &HashMap<String, TaskId>,
    ) -> Result<(Change, Vec<Imported>), EngineError> {
        let now = desk.store.now().await?;
        let mut change = Change::new();
        let mut fresh: HashMap<&str, TaskId> = HashMap::new();
        let mut imported = Vec::with_capacity(self.items.len());
        for item in self.items {
            let before = known.get(&item.name).copied();
            let task = before.unwrap_or_else(|| desk.ids.task());
            imported.push(Imported { name: item.name.clone(), task, is_new: before.is_none() });
            if before.is_none() {
                let named = |name: &String| known.get(name).or_else(|| fresh.get(name.as_str())).copied();
                let on = item.waits_on.iter().filter_map(named).collect();
                self.admit(item, task, on, now, &mut change)?;
                fresh.insert(&item.name, task);
            }
        }
        if !change.puts.is_empty() && desk.store.session(self.session).await?.is_none() {
            let session = Session::open(self.session.clone(), self.project.map(|project| project.id), now);
            let body = EventBody::SessionOpened { session: session.id.clone(), project: session.project_id };
            change.events.insert(0, Event { at: now, by: self.actor.clone(), body });
            change = change.put(Record::Session(session), Guard::New);
        }
        Ok((change, imported))
    }

    fn admit(
        &self,
        item: &Item,
        task: TaskId,
        on: Vec<TaskId>,
        now: Timestamp,
        change: &mut Change,
    ) -> Result<(), EngineError> {
        let spec = TaskSpec {
            project_id: self.project.map(|project| project.id),
            description: item.text.clone(),
            priority: item.priority,
            ..TaskSpec::new(
                task,
                self.session.clone(),
                TaskType::Implementation,
                NonBlank::new(item.title.trim())?,
                item.created_at.unwrap_or(now),
            )
        };
        let (admitted, bodies) = item.arrival.admit(spec, on.clone(), self.actor);
        let receipt = Receipt {
            key: self.import.key(item)?,
            session_id: self.session.clone(),
            message: None,
            task_id: task,
            wanted: Wanted::default(),
            at: now,
        };
        let rows = [Record::Task(Box::new(admitted)), Record::Receipt(receipt)];
        for record in rows {
            *change = std::mem::take(change).put(record, Guard::New);
        }
        change.edges.extend(on.into_iter().map(|on| EdgeChange::Add { task, on }));
        change.events.extend(bodies.into_iter().map(|body| Event { at: now, by: self.actor.clone(), body }));
        Ok(())
    }
}

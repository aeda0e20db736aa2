//! Writes the tasks in batches. A task and its receipt are one change, so an imported task always has its receipt.

use std::collections::HashMap;
use std::mem;

use baton_core::base::id::{SessionId, TaskId};
use baton_core::base::task_type::TaskType;
use baton_core::base::text::NonBlank;
use baton_core::base::time::Timestamp;
use baton_core::people::actor::Actor;
use baton_core::records::change::{Change, EdgeChange, Record, WriteGuard};
use baton_core::records::event::{Event, EventBody};
use baton_core::records::project::Project;
use baton_core::records::receipt::{InvalidReceiptKey, Receipt, ReceiptKey, RequestedWork};
use baton_core::records::session::Session;
use baton_core::task::TaskSpec;

use crate::base::error::EngineError;
use crate::import::error::ImportError;
use crate::import::item::{ExternalTask, ExternalTasks};
use crate::import::order::{DroppedEdge, sort};
use crate::tasks::service::TaskService;

/// Tasks written in one transaction: enough to be fast, few enough not to block other writers.
const TASKS_PER_CHANGE: usize = 250;

/// Tasks to import, in an order in which they can be written.
#[derive(Debug)]
pub struct Import {
    origin: String,
    pub items: Vec<ExternalTask>,
    /// Dependencies that cannot be imported.
    pub dropped: Vec<DroppedEdge>,
    pub left_out: Vec<String>,
}

/// One task after the import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    pub name: String,
    pub task: TaskId,
    /// False if an earlier import created it.
    pub is_new: bool,
}

impl Import {
    pub fn new(found: ExternalTasks) -> Self {
        let ExternalTasks { origin, items, left_out } = found;
        let (items, dropped) = sort(items);
        Self { origin, items, dropped, left_out }
    }

    fn key(&self, item: &ExternalTask) -> Result<ReceiptKey, EngineError> {
        Ok(ReceiptKey::for_import(&self.origin, &item.name).map_err(|InvalidReceiptKey| {
            ImportError::NameTooLong { name: item.name.chars().take(80).collect() }
        })?)
    }

    /// The items that an earlier import created, and their tasks. Writes nothing.
    pub async fn find_known(&self, tasks: &TaskService) -> Result<HashMap<String, TaskId>, EngineError> {
        let mut known = HashMap::new();
        for item in &self.items {
            if let Some(receipt) = tasks.store.receipt(&self.key(item)?).await? {
                known.extend(receipt.task_id.map(|task| (item.name.clone(), task)));
            }
        }
        Ok(known)
    }

    /// Writes the items that do not exist yet. Calls `progress` with the number done after each batch.
    pub async fn write(
        &self,
        tasks: &TaskService,
        session: &SessionId,
        project: Option<&Project>,
        actor: &Actor,
        mut progress: impl FnMut(usize),
    ) -> Result<Vec<Imported>, EngineError> {
        let mut known = HashMap::new();
        let mut done = Vec::with_capacity(self.items.len());
        for items in self.items.chunks(TASKS_PER_CHANGE) {
            let batch = ImportBatch { import: self, items, session, project, actor };
            done.extend(batch.write(tasks, &mut known).await?);
            progress(done.len());
        }
        Ok(done)
    }
}

/// The items of one transaction.
struct ImportBatch<'a> {
    import: &'a Import,
    items: &'a [ExternalTask],
    session: &'a SessionId,
    project: Option<&'a Project>,
    actor: &'a Actor,
}

impl ImportBatch<'_> {
    /// Assumes first that all items are new; looks up their receipts only after a conflict.
    async fn write(
        &self,
        tasks: &TaskService,
        known: &mut HashMap<String, TaskId>,
    ) -> Result<Vec<Imported>, EngineError> {
        let mut decision = tasks.decision("the imported items");
        let mut is_first = true;
        loop {
            if !mem::take(&mut is_first) {
                for item in self.items {
                    if let Some(receipt) = tasks.store.receipt(&self.import.key(item)?).await? {
                        known.extend(receipt.task_id.map(|task| (item.name.clone(), task)));
                    }
                }
            }
            let (change, imported) = self.change(tasks, known).await?;
            if change.puts.is_empty() {
                return Ok(imported);
            }
            if decision.commit(change).await? {
                known.extend(imported.iter().map(|item| (item.name.clone(), item.task)));
                return Ok(imported);
            }
        }
    }

    async fn change(
        &self,
        tasks: &TaskService,
        known: &HashMap<String, TaskId>,
    ) -> Result<(Change, Vec<Imported>), EngineError> {
        let now = tasks.store.now().await?;
        let mut change = Change::new();
        let mut new: HashMap<&str, TaskId> = HashMap::new();
        let mut imported = Vec::with_capacity(self.items.len());
        for item in self.items {
            let before = known.get(&item.name).copied();
            let task = before.unwrap_or_else(|| tasks.ids.task());
            imported.push(Imported { name: item.name.clone(), task, is_new: before.is_none() });
            if before.is_none() {
                let find = |name: &String| known.get(name).or_else(|| new.get(name.as_str())).copied();
                let on = item.waits_on.iter().filter_map(find).collect();
                self.add_task(item, task, on, now, &mut change)?;
                new.insert(&item.name, task);
            }
        }
        if !change.puts.is_empty() && tasks.store.session(self.session).await?.is_none() {
            let session = Session::open(self.session.clone(), self.project.map(|project| project.id), now);
            let body = EventBody::SessionOpened { session: session.id.clone(), project: session.project_id };
            change.events.insert(0, Event { at: now, by: self.actor.clone(), body });
            change = change.put(Record::Session(session), WriteGuard::New);
        }
        Ok((change, imported))
    }

    fn add_task(
        &self,
        item: &ExternalTask,
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
            task_id: Some(task),
            wanted: RequestedWork::default(),
            delivered: None,
            answer: None,
            at: now,
        };
        let rows = [Record::Task(Box::new(admitted)), Record::Receipt(receipt)];
        for record in rows {
            *change = std::mem::take(change).put(record, WriteGuard::New);
        }
        change.edges.extend(on.into_iter().map(|on| EdgeChange::Add { task, on }));
        change.events.extend(bodies.into_iter().map(|body| Event { at: now, by: self.actor.clone(), body }));
        Ok(())
    }
}

//! `baton accept`

use std::collections::BTreeMap;
use std::fmt::Write;

use baton_core::command::Command;
use baton_core::id::TaskId;
use baton_core::recycle::RecycleReason;
use baton_core::state::Queue;
use baton_core::task::Task;
use baton_engine::acceptor::{Accepted, Acceptor};
use baton_engine::graph_view;
use serde_json::json;

use crate::cli::Accept;
use crate::fault::Fault;
use crate::office::Office;
use crate::output;

/// Provisional tasks taken at once; more come with the next call.
const TASKS_MAX: u32 = 500;

/// What came of it all.
#[derive(Default)]
struct Outcome {
    accepted: Vec<Task>,
    conflicted: Vec<(Task, Vec<String>)>,
    recycled: Vec<Task>,
    burned: Vec<Task>,
}

pub async fn run(office: &Office, accept: Accept) -> Result<String, Fault> {
    let tasks = chosen(office, &accept).await?;
    if accept.dry_run {
        return preview(office, &accept, &tasks).await;
    }
    let engine = office.engine(None).await?;
    let acceptor = Acceptor::new(engine.shop.clone());
    let mut outcome = Outcome::default();
    for task in tasks {
        if is_burned(&task) && accept.recycle {
            let recycle = Command::Recycle { reason: RecycleReason::TooLarge };
            outcome.recycled.push(office.desk.apply(task.id(), recycle, office.actor()).await?);
        } else if is_burned(&task) && accept.all && !accept.force {
            outcome.burned.push(task);
        } else {
            match acceptor.accept(task.id(), accept.force, office.actor()).await {
                Ok(Accepted::Done { .. }) => outcome.accepted.push(task),
                Ok(Accepted::Conflicted { files }) => outcome.conflicted.push((task, files)),
                Err(error) => {
                    // What was done before it stays done, and is told.
                    if !outcome.accepted.is_empty() {
                        output::talk(outcome.print(office)?.trim_end());
                    }
                    return Err(error.into());
                }
            }
        }
    }
    outcome.print(office)
}

async fn chosen(office: &Office, accept: &Accept) -> Result<Vec<Task>, Fault> {
    if accept.all {
        let page = office.desk.list(Some(Queue::Provisional), None, TASKS_MAX).await?;
        let tasks = page.items.into_iter().map(|stored| stored.value);
        return Ok(tasks.filter(|task| !task.is_breakdown()).collect());
    }
    let mut tasks = Vec::new();
    for text in &accept.tasks {
        tasks.push(office.desk.task(office.task(text).await?).await?.value);
    }
    Ok(tasks)
}

fn is_burned(task: &Task) -> bool {
    baton_engine::recycler::reason_to_recycle(task).is_some()
}

impl Outcome {
    fn print(&self, office: &Office) -> Result<String, Fault> {
        let ids = |tasks: &[Task]| tasks.iter().map(Task::id).collect::<Vec<TaskId>>();
        if office.is_json {
            let conflicted: Vec<_> = self
                .conflicted
                .iter()
                .map(|(task, files)| json!({ "task_id": task.id(), "files": files }))
                .collect();
            return output::json(&json!({
                "accepted": ids(&self.accepted),
                "conflicted": conflicted,
                "recycled": ids(&self.recycled),
                "burned_out": ids(&self.burned),
            }));
        }
        let mut text = String::new();
        for task in &self.accepted {
            let _ = writeln!(text, "{}  accepted  {}", task.id(), task.spec().title);
        }
        for (task, files) in &self.conflicted {
            let _ = writeln!(text, "{}  conflicts in {}; it is not merged", task.id(), files.join(", "));
        }
        for task in &self.recycled {
            let _ = writeln!(text, "{}  recycled  {}", task.id(), task.spec().title);
        }
        if !self.burned.is_empty() {
            let _ = writeln!(
                text,
                "\n{} task(s) burned out (turns used up, too little to show):",
                self.burned.len()
            );
            for task in &self.burned {
                let project = task.spec().project_id.map_or_else(|| "none".to_owned(), |id| id.to_string());
                let _ = writeln!(text, "  {}: {} (project: {project})", task.id(), task.spec().title);
            }
            text.push_str("\nOptions:\n  baton accept --all --force     accept them anyway\n");
            text.push_str("  baton accept --all --recycle   send them to a breakdown\n");
        }
        if text.is_empty() {
            text.push_str("Nothing waits to be accepted.\n");
        }
        Ok(text)
    }
}

/// What would come of it, without doing any of it.
async fn preview(office: &Office, accept: &Accept, tasks: &[Task]) -> Result<String, Fault> {
    let context = office.desk.context(office.actor()).await?;
    let (mut accepted, mut rows) = (Vec::new(), Vec::new());
    for task in tasks {
        let fate = if is_burned(task) && accept.recycle {
            Fate::Recycled
        } else if is_burned(task) && accept.all && !accept.force {
            Fate::BurnedOut
        } else {
            match task.apply(Command::Accept { force: accept.force }, &context) {
                Ok(_) => Fate::Accepted,
                Err(refusal) => Fate::Refused(refusal.to_string()),
            }
        };
        if fate == Fate::Accepted {
            accepted.push(task.id());
        }
        rows.push((task, fate));
    }
    let starts: BTreeMap<TaskId, Vec<TaskId>> =
        graph_view::would_start(&office.desk, &accepted).await?.into_iter().collect();
    if office.is_json {
        let preview: Vec<_> = rows
            .iter()
            .map(|(task, fate)| {
                let starts = starts.get(&task.id()).cloned().unwrap_or_default();
                json!({ "task_id": task.id(), "would_be": fate.word(), "would_start": starts })
            })
            .collect();
        return output::json(&json!({ "preview": preview }));
    }
    let mut text = String::new();
    for (task, fate) in rows {
        let _ = write!(text, "{}  would be {}", task.id(), fate.word());
        match fate {
            Fate::Accepted => {
                let names: Vec<String> =
                    starts.get(&task.id()).into_iter().flatten().map(ToString::to_string).collect();
                let what = if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
                let _ = writeln!(text, " and start {what}");
            }
            Fate::Refused(why) => {
                let _ = writeln!(text, ": {why}");
            }
            Fate::Recycled | Fate::BurnedOut => text.push('\n'),
        }
    }
    if text.is_empty() {
        text.push_str("Nothing waits to be accepted.\n");
    }
    Ok(text)
}

/// What would become of one task.
#[derive(Debug, PartialEq, Eq)]
enum Fate {
    Accepted,
    Recycled,
    BurnedOut,
    Refused(String),
}

impl Fate {
    const fn word(&self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Recycled => "recycled",
            Self::BurnedOut => "reported as burned out",
            Self::Refused(_) => "refused",
        }
    }
}

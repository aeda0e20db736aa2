//! Vibe Kanban: one SQLite file for all projects of a user. Ids are blobs.

use std::collections::HashMap;
use std::path::Path;

use baton_core::base::priority::Priority;
use baton_core::transition::arrival::ImportedState;
use baton_store::external::{ExternalDatabase, ExternalRow};

use crate::import::item::{DescriptionBuilder, ExternalTask, ExternalTasks, parse_time, text};
use crate::import::{ImportError, find, parent_folder};

const CANDIDATES: [&str; 3] = ["db.v2.sqlite", "db.sqlite", "vibe-kanban.db"];

pub(super) fn read(path: &Path) -> Result<ExternalTasks, ImportError> {
    let file = find(path, &CANDIDATES)?;
    let database = ExternalDatabase::open(&file)?;
    if !database.has_table("tasks")? {
        return Err(ImportError::malformed(&file, 1, "not a Vibe Kanban file: it has no table \"tasks\""));
    }
    let projects: HashMap<String, String> =
        database.rows("projects")?.iter().map(|row| (text(row, "id"), text(row, "name"))).collect();
    let parents = tasks_by_attempt(&database)?;
    let mut found = ExternalTasks { origin: parent_folder(&file), ..ExternalTasks::default() };
    for row in database.rows("tasks")? {
        let name = text(&row, "id");
        if name.is_empty() || text(&row, "title").trim().is_empty() {
            found.left_out.push(format!("a task without an id or a title ({name})"));
            continue;
        }
        found.items.push(item(&row, &projects, &parents));
    }
    Ok(found)
}

fn item(
    row: &ExternalRow,
    projects: &HashMap<String, String>,
    parents: &HashMap<String, String>,
) -> ExternalTask {
    let arrival = match text(row, "status").as_str() {
        "done" => ImportedState::Done,
        "cancelled" => ImportedState::Cancelled,
        // Work in progress or in review is in a worktree that Baton does not have, so the task starts over.
        _ => ImportedState::Open,
    };
    let project = projects.get(&text(row, "project_id")).cloned().unwrap_or_default();
    // A task created by another task's attempt depends on that task.
    let parent =
        ["parent_workspace_id", "parent_task_attempt"].iter().find_map(|key| parents.get(&text(row, key)));
    ExternalTask {
        name: text(row, "id"),
        title: text(row, "title"),
        text: DescriptionBuilder::new(&text(row, "description"))
            .facts([("Vibe Kanban project", project), ("Vibe Kanban status", text(row, "status"))])
            .into_string(),
        priority: Priority::default(),
        arrival,
        waits_on: parent.into_iter().cloned().collect(),
        created_at: parse_time(&text(row, "created_at")),
    }
}

/// The task of each attempt; newer files call attempts workspaces.
fn tasks_by_attempt(database: &ExternalDatabase) -> Result<HashMap<String, String>, ImportError> {
    let mut owners = HashMap::new();
    for table in ["task_attempts", "workspaces"] {
        for row in database.rows(table)? {
            owners.insert(text(&row, "id"), text(&row, "task_id"));
        }
    }
    Ok(owners)
}

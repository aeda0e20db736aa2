//! Vibe Kanban: one SQLite file for all projects of a person. Ids are bytes.

use std::collections::HashMap;
use std::path::Path;

use baton_core::base::priority::Priority;
use baton_core::transition::arrival::ImportedState;
use baton_store::external::{ExternalDatabase, ExternalRow};

use crate::import::item::{Found, Item, Text, text, time};
use crate::import::{ImportError, find, folder_of};

const CANDIDATES: [&str; 3] = ["db.v2.sqlite", "db.sqlite", "vibe-kanban.db"];

pub fn read(path: &Path) -> Result<Found, ImportError> {
    let file = find(path, &CANDIDATES)?;
    let database = ExternalDatabase::open(&file)?;
    if !database.has_table("tasks")? {
        return Err(ImportError::malformed(
            &file,
            1,
            "it has no table \"tasks\", so it is not a Vibe Kanban file",
        ));
    }
    let projects: HashMap<String, String> =
        database.rows("projects")?.iter().map(|row| (text(row, "id"), text(row, "name"))).collect();
    let parents = parents(&database)?;
    let mut found = Found { origin: folder_of(&file), ..Found::default() };
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

fn item(row: &ExternalRow, projects: &HashMap<String, String>, parents: &HashMap<String, String>) -> Item {
    let arrival = match text(row, "status").as_str() {
        "done" => ImportedState::Done,
        "cancelled" => ImportedState::Cancelled,
        // In progress or in review there means work in a worktree Baton does not have: it starts anew.
        _ => ImportedState::Open,
    };
    let project = projects.get(&text(row, "project_id")).cloned().unwrap_or_default();
    // A task that came out of an attempt at another follows it.
    let parent =
        ["parent_workspace_id", "parent_task_attempt"].iter().find_map(|key| parents.get(&text(row, key)));
    Item {
        name: text(row, "id"),
        title: text(row, "title"),
        text: Text::new(&text(row, "description"))
            .facts([("Vibe Kanban project", project), ("Status there", text(row, "status"))])
            .into_string(),
        priority: Priority::default(),
        arrival,
        waits_on: parent.into_iter().cloned().collect(),
        created_at: time(&text(row, "created_at")),
    }
}

/// Which task each attempt (or workspace, as newer files call it) belongs to.
fn parents(database: &ExternalDatabase) -> Result<HashMap<String, String>, ImportError> {
    let mut owners = HashMap::new();
    for table in ["task_attempts", "workspaces"] {
        for row in database.rows(table)? {
            owners.insert(text(&row, "id"), text(&row, "task_id"));
        }
    }
    Ok(owners)
}

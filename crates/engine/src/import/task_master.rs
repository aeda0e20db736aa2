//! Task Master: `.taskmaster/tasks/tasks.json`. Tasks and their subtasks are numbered. Newer files have several lists,
//! each under a tag.

use std::path::Path;

use baton_core::transition::arrival::ImportedState;
use baton_store::external::ExternalRow;
use serde_json::Value;

use crate::import::item::{
    DescriptionBuilder, ExternalTask, ExternalTasks, as_text, objects, parse_priority, parse_time, text,
};
use crate::import::{ImportError, find, parent_folder, read_text};

const CANDIDATES: [&str; 4] =
    [".taskmaster/tasks/tasks.json", "tasks/tasks.json", "tasks.json", "tasks/tasks-legacy.json"];

pub(super) fn read(path: &Path) -> Result<ExternalTasks, ImportError> {
    let file = find(path, &CANDIDATES)?;
    let whole = read_text(&file)?;
    let document: ExternalRow = serde_json::from_str(&whole)
        .map_err(|error| ImportError::malformed(&file, error.line(), error.to_string()))?;
    let mut found = ExternalTasks { origin: parent_folder(&file), ..ExternalTasks::default() };
    let mut lists = 0;
    if document.get("tasks").is_some_and(Value::is_array) {
        lists += 1;
        TaskMasterList { tag: None }.read(&document, &mut found);
    }
    for (tag, list) in &document {
        if let Some(list) = list.as_object().filter(|list| list.contains_key("tasks")) {
            lists += 1;
            TaskMasterList { tag: Some(tag) }.read(list, &mut found);
        }
    }
    if lists == 0 {
        let detail = "no list of tasks, neither \"tasks\" nor a tag with \"tasks\"";
        return Err(ImportError::malformed(&file, 1, detail));
    }
    Ok(found)
}

/// One list of tasks. Numbers are unique within it.
struct TaskMasterList<'a> {
    tag: Option<&'a str>,
}

impl TaskMasterList<'_> {
    fn read(&self, list: &ExternalRow, found: &mut ExternalTasks) {
        for task in objects(list, "tasks") {
            let number = text(task, "id");
            if number.is_empty() || text(task, "title").trim().is_empty() {
                found.left_out.push(format!("a task without an id or a title ({number})"));
                continue;
            }
            let mut parent = self.item(&number, task);
            let before = parent.waits_on.clone();
            for part in objects(task, "subtasks") {
                let part_number = format!("{number}.{}", last_part(&text(part, "id")));
                let mut item = self.item(&part_number, part);
                // A number without a dot is a sibling.
                item.waits_on = dependencies(part)
                    .map(|on| self.name(&if on.contains('.') { on } else { format!("{number}.{on}") }))
                    .collect();
                // Subtasks inherit the dependencies of the task, and the task depends on its subtasks.
                item.waits_on.extend(before.iter().cloned());
                item.title = format!("{} › {}", parent.title, item.title);
                item.priority = parent.priority;
                parent.waits_on.push(item.name.clone());
                found.items.push(item);
            }
            found.items.push(parent);
        }
    }

    fn item(&self, number: &str, task: &ExternalRow) -> ExternalTask {
        let arrival = match text(task, "status").as_str() {
            "done" | "completed" => ImportedState::Done,
            "cancelled" | "canceled" => ImportedState::Cancelled,
            "deferred" => ImportedState::Held,
            _ => ImportedState::Open,
        };
        let whole = DescriptionBuilder::new(&text(task, "description"))
            .section("Details", &text(task, "details"))
            .section("How to test it", &text(task, "testStrategy"))
            .section("Acceptance criteria", &text(task, "acceptanceCriteria"))
            .facts([
                ("Task Master", number.to_owned()),
                ("List", self.tag.unwrap_or_default().to_owned()),
                ("Assignee", text(task, "assignee")),
            ]);
        ExternalTask {
            name: self.name(number),
            title: text(task, "title"),
            text: whole.into_string(),
            priority: parse_priority(&text(task, "priority")),
            arrival,
            waits_on: dependencies(task).map(|on| self.name(&on)).collect(),
            created_at: parse_time(&text(task, "createdAt")),
        }
    }

    /// Newer versions call the list without a tag `master`; its tasks are the same.
    fn name(&self, number: &str) -> String {
        format!("{}:{number}", self.tag.unwrap_or("master"))
    }
}

fn dependencies(task: &ExternalRow) -> impl Iterator<Item = String> {
    task.get("dependencies").and_then(Value::as_array).into_iter().flatten().map(as_text)
}

/// Subtasks are numbered 1, 2, 3 in some files and 4.1, 4.2 in others.
fn last_part(number: &str) -> &str {
    number.rsplit('.').next().unwrap_or(number)
}

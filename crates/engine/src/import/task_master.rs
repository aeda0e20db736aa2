//! Task Master: `.taskmaster/tasks/tasks.json`. Tasks have numbers, subtasks numbers of their own below them, and a
//! newer file keeps several lists, each under its tag.

use std::path::Path;

use baton_core::transition::arrival::ImportedState;
use serde_json::{Map, Value};

use crate::import::item::{Found, Item, Text, as_text, objects, priority, text, time};
use crate::import::{ImportError, find, folder_of, read_text};

const CANDIDATES: [&str; 4] =
    [".taskmaster/tasks/tasks.json", "tasks/tasks.json", "tasks.json", "tasks/tasks-legacy.json"];

type Row = Map<String, Value>;

pub fn read(path: &Path) -> Result<Found, ImportError> {
    let file = find(path, &CANDIDATES)?;
    let whole = read_text(&file)?;
    let document: Row = serde_json::from_str(&whole)
        .map_err(|error| ImportError::malformed(&file, error.line(), error.to_string()))?;
    let mut found = Found { origin: folder_of(&file), ..Found::default() };
    let mut lists = 0;
    if document.get("tasks").is_some_and(Value::is_array) {
        lists += 1;
        List { tag: None }.read(&document, &mut found);
    }
    for (tag, list) in &document {
        if let Some(list) = list.as_object().filter(|list| list.contains_key("tasks")) {
            lists += 1;
            List { tag: Some(tag) }.read(list, &mut found);
        }
    }
    if lists == 0 {
        let detail = "there is no list of tasks in it, neither \"tasks\" nor a tag with \"tasks\"";
        return Err(ImportError::malformed(&file, 1, detail));
    }
    Ok(found)
}

/// One list of tasks; numbers are unique within it.
struct List<'a> {
    tag: Option<&'a str>,
}

impl List<'_> {
    fn read(&self, list: &Row, found: &mut Found) {
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
                // Inside a task, a plain number is a sibling.
                item.waits_on = dependencies(part)
                    .map(|on| self.name(&if on.contains('.') { on } else { format!("{number}.{on}") }))
                    .collect();
                // What the whole waits on, its parts wait on too; and the whole is done when its parts are.
                item.waits_on.extend(before.iter().cloned());
                item.title = format!("{} › {}", parent.title, item.title);
                item.priority = parent.priority;
                parent.waits_on.push(item.name.clone());
                found.items.push(item);
            }
            found.items.push(parent);
        }
    }

    fn item(&self, number: &str, task: &Row) -> Item {
        let arrival = match text(task, "status").as_str() {
            "done" | "completed" => ImportedState::Done,
            "cancelled" | "canceled" => ImportedState::Cancelled,
            "deferred" => ImportedState::Held,
            _ => ImportedState::Open,
        };
        let whole = Text::new(&text(task, "description"))
            .section("Details", &text(task, "details"))
            .section("How to test it", &text(task, "testStrategy"))
            .section("Acceptance criteria", &text(task, "acceptanceCriteria"))
            .facts([
                ("Task Master", number.to_owned()),
                ("List", self.tag.unwrap_or_default().to_owned()),
                ("Assignee", text(task, "assignee")),
            ]);
        Item {
            name: self.name(number),
            title: text(task, "title"),
            text: whole.into_string(),
            priority: priority(&text(task, "priority")),
            arrival,
            waits_on: dependencies(task).map(|on| self.name(&on)).collect(),
            created_at: time(&text(task, "createdAt")),
        }
    }

    /// The list that had no name before there were names is now called so; its tasks are the same.
    fn name(&self, number: &str) -> String {
        format!("{}:{number}", self.tag.unwrap_or("master"))
    }
}

fn dependencies(task: &Row) -> impl Iterator<Item = String> {
    task.get("dependencies").and_then(Value::as_array).into_iter().flatten().map(as_text)
}

/// Subtasks are numbered 1, 2, 3 in some files and 4.1, 4.2 in others.
fn last_part(number: &str) -> &str {
    number.rsplit('.').next().unwrap_or(number)
}

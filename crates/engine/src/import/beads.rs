//! Beads: `.beads/issues.jsonl`, one issue per line, or the SQLite database next to it.

use std::collections::HashMap;
use std::path::Path;

use baton_core::base::priority::Priority;
use baton_core::transition::arrival::ImportedState;
use baton_store::external::{ExternalDatabase, ExternalRow};
use serde_json::Value;

use crate::import::item::{
    DescriptionBuilder, ExternalTask, ExternalTasks, objects, parse_time, text, texts,
};
use crate::import::{ImportError, find, parent_folder, read_text};

/// In order of preference: the export first, because teams share it.
const CANDIDATES: [&str; 7] = [
    ".beads/issues.jsonl",
    ".beads/beads.jsonl",
    "issues.jsonl",
    "beads.jsonl",
    ".beads/beads.db",
    "beads.db",
    ".beads/issues.db",
];

pub(super) fn read(path: &Path) -> Result<ExternalTasks, ImportError> {
    let file = find(path, &CANDIDATES)?;
    let is_database = file.extension().is_some_and(|extension| extension == "db" || extension == "sqlite");
    let issues = if is_database { from_database(&file)? } else { from_lines(&file)? };
    let mut found = ExternalTasks { origin: parent_folder(&file), ..ExternalTasks::default() };
    let children = children_by_parent(&issues);
    for issue in &issues {
        let name = text(issue, "id");
        if text(issue, "status") == "tombstone" {
            found.left_out.push(format!("{name} is deleted"));
        } else if name.is_empty() || text(issue, "title").trim().is_empty() {
            found.left_out.push(format!("an issue without an id or a title ({name})"));
        } else {
            found.items.push(item(issue, &children));
        }
    }
    Ok(found)
}

fn from_lines(file: &Path) -> Result<Vec<ExternalRow>, ImportError> {
    let whole = read_text(file)?;
    let lines = whole.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(at, line)| {
            serde_json::from_str(line)
                .map_err(|error| ImportError::malformed(file, at + 1, error.to_string()))
        })
        .collect()
}

/// The rows, joined with the other tables as in the export.
fn from_database(file: &Path) -> Result<Vec<ExternalRow>, ImportError> {
    let database = ExternalDatabase::open(file)?;
    let mut issues = database.rows("issues")?;
    for (table, key) in [("dependencies", "dependencies"), ("labels", "labels"), ("comments", "comments")] {
        let mut by_issue: HashMap<String, Vec<Value>> = HashMap::new();
        for row in database.rows(table)? {
            let issue = text(&row, "issue_id");
            let value = if table == "labels" { text(&row, "label").into() } else { Value::Object(row) };
            by_issue.entry(issue).or_default().push(value);
        }
        for issue in &mut issues {
            if let Some(values) = by_issue.remove(&text(issue, "id")) {
                issue.insert(key.to_owned(), Value::Array(values));
            }
        }
    }
    Ok(issues)
}

fn item(issue: &ExternalRow, children: &HashMap<String, Vec<String>>) -> ExternalTask {
    let name = text(issue, "id");
    let is_container = matches!(text(issue, "issue_type").as_str(), "epic" | "molecule" | "convoy");
    let arrival = match text(issue, "status").as_str() {
        "closed" => ImportedState::Done,
        "deferred" | "pinned" => ImportedState::Held,
        // Not work for an agent: a person closes it when its children are done.
        _ if is_container => ImportedState::Held,
        _ => ImportedState::Open,
    };
    let mut waits_on = edges(issue, &["blocks", "conditional-blocks", "waits-for"]);
    waits_on.extend(children.get(&name).into_iter().flatten().cloned());
    let level = issue.get("priority").and_then(Value::as_i64).unwrap_or(2);
    let priority = match level {
        ..=0 => Priority::P0,
        1 => Priority::P1,
        2 => Priority::P2,
        3.. => Priority::P3,
    };
    ExternalTask {
        title: text(issue, "title"),
        text: describe(issue),
        priority,
        arrival,
        waits_on,
        created_at: parse_time(&text(issue, "created_at")),
        name,
    }
}

/// The children of each parent, which depends on them.
fn children_by_parent(issues: &[ExternalRow]) -> HashMap<String, Vec<String>> {
    let mut children: HashMap<String, Vec<String>> = HashMap::new();
    for issue in issues {
        for parent in edges(issue, &["parent-child"]) {
            children.entry(parent).or_default().push(text(issue, "id"));
        }
    }
    children
}

/// The targets of an issue's edges of these kinds. An edge without a kind blocks.
fn edges(issue: &ExternalRow, kinds: &[&str]) -> Vec<String> {
    objects(issue, "dependencies")
        .filter(|edge| {
            let kind = text(edge, "type");
            kinds.contains(&if kind.is_empty() { "blocks" } else { &kind })
        })
        .map(|edge| text(edge, "depends_on_id"))
        .collect()
}

fn describe(issue: &ExternalRow) -> String {
    let comments: Vec<String> = objects(issue, "comments")
        .map(|comment| format!("{}: {}", text(comment, "author"), text(comment, "text")))
        .collect();
    let related = edges(issue, &["related", "discovered-from"]).join(", ");
    DescriptionBuilder::new(&text(issue, "description"))
        .section("Design", &text(issue, "design"))
        .section("Acceptance criteria", &text(issue, "acceptance_criteria"))
        .section("Notes", &text(issue, "notes"))
        .section("Comments", &comments.join("\n\n"))
        .facts([
            ("Beads", text(issue, "id")),
            ("Type", text(issue, "issue_type")),
            ("Labels", texts(issue, "labels").join(", ")),
            ("Assignee", text(issue, "assignee")),
            ("Related", related),
            ("Reference", text(issue, "external_ref")),
            ("Closed because", text(issue, "close_reason")),
        ])
        .into_string()
}

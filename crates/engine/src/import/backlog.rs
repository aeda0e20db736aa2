//! Backlog.md: a folder of Markdown files with YAML front matter, one task each.

use crate::import::error::ImportError;
use crate::import::item::{DescriptionBuilder, ExternalTask, ExternalTasks, parse_priority, parse_time};
use crate::import::read_text;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use baton_core::transition::arrival::ImportedState;
use baton_taskfile::yaml::{self, YamlNode};

/// The folders with tasks, and whether all tasks in it are finished.
const FOLDERS: [(&str, bool); 4] =
    [("tasks", false), ("completed", true), ("archive/tasks", true), ("drafts", false)];

pub(super) fn read(path: &Path) -> Result<ExternalTasks, ImportError> {
    let root = root(path)?;
    let mut found = ExternalTasks { origin: root.display().to_string(), ..ExternalTasks::default() };
    let mut parts: HashMap<String, Vec<String>> = HashMap::new();
    for (folder, is_finished) in FOLDERS {
        for file in markdown_files(&root.join(folder))? {
            let BacklogFile { mut item, parent } = read_file(&file)?;
            if let Some(parent) = parent {
                parts.entry(parent).or_default().push(item.name.clone());
            }
            match folder {
                "archive/tasks" if item.arrival != ImportedState::Done => {
                    item.arrival = ImportedState::Cancelled;
                }
                _ if is_finished => item.arrival = ImportedState::Done,
                "drafts" if item.arrival == ImportedState::Open => item.arrival = ImportedState::Held,
                _ => {}
            }
            found.items.push(item);
        }
    }
    // Subtasks name their parent; here the parent depends on its subtasks.
    for item in &mut found.items {
        item.waits_on.extend(parts.remove(&item.name).unwrap_or_default());
    }
    Ok(found)
}

fn root(path: &Path) -> Result<PathBuf, ImportError> {
    let candidates = [path.join("backlog"), path.join(".backlog"), path.to_owned()];
    let root = candidates.iter().find(|folder| folder.join("tasks").is_dir());
    root.cloned().ok_or_else(|| ImportError::NothingFound {
        path: path.to_owned(),
        wanted: vec!["backlog/tasks".to_owned(), "tasks".to_owned()],
    })
}

/// Sorted by the numbers in their names, as the tool lists them.
fn markdown_files(folder: &Path) -> Result<Vec<PathBuf>, ImportError> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let entries = std::fs::read_dir(folder).map_err(|error| ImportError::unreadable(folder, &error))?;
    let mut files = Vec::new();
    for entry in entries {
        let file = entry.map_err(|error| ImportError::unreadable(folder, &error))?.path();
        if file.extension().is_some_and(|extension| extension == "md") {
            files.push(file);
        }
    }
    files.sort_by_key(|file| (numbers(file), file.clone()));
    Ok(files)
}

fn numbers(file: &Path) -> Vec<u64> {
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let head = name.split(" - ").next().unwrap_or_default().to_owned();
    head.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect()
}

/// A file's task and its parent.
struct BacklogFile {
    item: ExternalTask,
    parent: Option<String>,
}

fn read_file(file: &Path) -> Result<BacklogFile, ImportError> {
    let whole = read_text(file)?;
    let Some((head, body)) = whole.strip_prefix("---").and_then(|rest| rest.split_once("\n---")) else {
        return Err(ImportError::malformed(file, 1, "no front matter between two lines of ---"));
    };
    // The front matter starts on the file's first line, after the dashes, so line numbers match.
    let head = yaml::parse_strict(head)
        .map_err(|error| ImportError::malformed(file, error.position.line, error.message))?;
    let Some(entries) = head.as_ref().and_then(YamlNode::entries) else {
        return Err(ImportError::malformed(file, 1, "the front matter is not a mapping"));
    };
    let find = |key: &str| entries.iter().find(|(name, _)| name.key() == key).map(|(_, value)| value);
    let one = |key: &str| find(key).map(word);
    let many = |key: &str| match find(key) {
        Some(list) if list.items().is_some() => list.items().unwrap_or_default().iter().map(word).collect(),
        Some(single) => vec![word(single)].into_iter().filter(|word| !word.is_empty()).collect(),
        None => Vec::new(),
    };
    let missing = |key: &str| ImportError::malformed(file, 1, format!("the front matter has no {key}"));
    let name = one("id").filter(|id| !id.is_empty()).ok_or_else(|| missing("id"))?;
    let title = one("title").filter(|title| !title.trim().is_empty()).ok_or_else(|| missing("title"))?;
    let status = one("status").unwrap_or_default();
    let arrival = match status.to_lowercase().as_str() {
        "done" | "completed" | "closed" => ImportedState::Done,
        "cancelled" | "canceled" | "won't do" => ImportedState::Cancelled,
        "draft" | "deferred" | "on hold" => ImportedState::Held,
        _ => ImportedState::Open,
    };
    let text = DescriptionBuilder::new(&without_marks(body.trim_start_matches('-')))
        .facts([
            ("Backlog", name.clone()),
            ("Part of", one("parent_task_id").unwrap_or_default()),
            ("Labels", many("labels").join(", ")),
            ("Assignee", many("assignee").join(", ")),
            ("Milestone", one("milestone").unwrap_or_default()),
        ])
        .into_string();
    let parent = one("parent_task_id").filter(|id| !id.is_empty()).map(|id| canonical(&id));
    let item = ExternalTask {
        name: canonical(&name),
        title,
        text,
        priority: parse_priority(&one("priority").unwrap_or_default()),
        arrival,
        waits_on: many("dependencies").iter().map(|on| canonical(on)).collect(),
        created_at: one("created_date").and_then(|date| parse_time(&date)),
    };
    Ok(BacklogFile { item, parent })
}

/// Ids occur in upper and lower case.
fn canonical(id: &str) -> String {
    id.trim().to_lowercase()
}

/// Removes the comments with which the tool marks its sections.
fn without_marks(body: &str) -> String {
    let is_mark = |line: &&str| {
        let line = line.trim();
        line.starts_with("<!--") && (line.ends_with(":BEGIN -->") || line.ends_with(":END -->"))
    };
    body.lines().filter(|line| !is_mark(line)).collect::<Vec<_>>().join("\n")
}

fn word(node: &YamlNode) -> String {
    node.text().unwrap_or_default().to_owned()
}

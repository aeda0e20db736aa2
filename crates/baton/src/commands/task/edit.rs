//! `baton task edit`: what a task says, changed by flags or in the person's editor. What was written is never lost: it
//! is in a file until the store has it.

use std::io::Read;

use baton_core::id::TaskId;
use baton_engine::view::TaskView;
use serde_json::{Map, Value, json};

use crate::cli::edit::EditArgs;
use crate::context::CliContext;
use crate::context::api::Api;
use crate::documents::task::TaskDocument;
use crate::error::CliError;
use crate::terminal::editor;

pub async fn run(api: &Api, asked: EditArgs) -> Result<String, CliError> {
    let id = api.task_id(&asked.task).await?;
    let view = api.task(id).await?;
    let before = said_by(&view);
    if asked.has_flags() {
        let mut waits_for = Vec::new();
        for task in &asked.after {
            waits_for.push(api.task_id(task).await?);
        }
        let after = by_flags(&before, asked)?;
        // Only what was named is set; nobody looked at the rest.
        let mut changed = difference(&before, &after).map(|(changed, _)| changed).unwrap_or_default();
        if !waits_for.is_empty() {
            changed.insert("after".to_owned(), json!(waits_for));
        }
        if changed.is_empty() {
            return api.tell(id, &format!("{id} says that already.\n")).await;
        }
        return send(api, id, changed, None).await;
    }
    in_editor(api, id, &before).await
}

fn said_by(view: &TaskView) -> TaskDocument {
    TaskDocument {
        title: view.summary.title.to_string(),
        priority: view.summary.priority,
        description: view.description.clone(),
    }
}

fn by_flags(before: &TaskDocument, asked: EditArgs) -> Result<TaskDocument, CliError> {
    let mut after = before.clone();
    if let Some(title) = asked.title {
        after.title = CliContext::said(&title, "the title")?.to_string();
    }
    match asked.description {
        Some(dash) if dash == "-" => {
            after.description.clear();
            std::io::stdin().read_to_string(&mut after.description).map_err(|error| {
                CliError::usage(
                    format!("standard input cannot be read: {error}"),
                    "give the text itself instead of -",
                )
            })?;
        }
        Some(text) => after.description = text,
        None => {}
    }
    after.priority = asked.priority.unwrap_or(after.priority);
    Ok(after)
}

/// What is to be changed, and what it was.
fn difference(
    before: &TaskDocument,
    after: &TaskDocument,
) -> Option<(Map<String, Value>, Map<String, Value>)> {
    let parts = [
        ("title", json!(before.title), json!(after.title)),
        ("priority", json!(before.priority), json!(after.priority)),
        ("description", json!(before.description), json!(after.description)),
    ];
    let (mut changed, mut seen) = (Map::new(), Map::new());
    for (name, old, new) in parts {
        if old != new {
            changed.insert(name.to_owned(), new);
            seen.insert(name.to_owned(), old);
        }
    }
    (!changed.is_empty()).then_some((changed, seen))
}

async fn in_editor(api: &Api, id: TaskId, before: &TaskDocument) -> Result<String, CliError> {
    let kept = api.place.state_dir.join("edits").join(format!("{id}.md"));
    // An edit that could not be used is gone on with.
    if !kept.exists() {
        editor::keep(&kept, &before.write(id))?;
    }
    let instead = "say it by flags: --title, --description, --priority";
    let text = match editor::edit(&kept, instead) {
        Ok(text) => text,
        Err(fault) => {
            // Nothing was written yet, so there is nothing to go on with.
            if std::fs::read_to_string(&kept).is_ok_and(|text| text == before.write(id)) {
                let _ = std::fs::remove_file(&kept);
            }
            return Err(fault);
        }
    };
    let again = format!("what you wrote is in {}; go on with it: baton task edit {id}", kept.display());
    let after = TaskDocument::read(&text, before).map_err(|bad| {
        CliError::usage(format!("{}:{}: {}", kept.display(), bad.line, bad.message), &again)
    })?;
    let printed = match difference(before, &after) {
        Some((changed, seen)) => match send(api, id, changed, Some(seen)).await {
            Ok(printed) => printed,
            Err(fault) => return Err(kept_from(api, id, before, fault, &again).await),
        },
        None => api.tell(id, &format!("{id} is as it was.\n")).await?,
    };
    // It is in the store now. That it was never kept here is as good.
    let _ = std::fs::remove_file(kept);
    Ok(printed)
}

/// The refusal, with where the text is; and, where somebody else was faster, with what they wrote.
async fn kept_from(api: &Api, id: TaskId, before: &TaskDocument, fault: CliError, again: &str) -> CliError {
    let theirs = api.place.state_dir.join("edits").join(format!("{id}.theirs.md"));
    let now = api.task(id).await.ok().map(|view| said_by(&view)).filter(|now| now != before);
    let hint = match now {
        Some(now) if editor::keep(&theirs, &now.write(id)).is_ok() => {
            format!("what it says now is in {}, and {again}", theirs.display())
        }
        Some(_) | None => format!("{}; {again}", fault.hint),
    };
    CliError { hint, ..fault }
}

async fn send(
    api: &Api,
    id: TaskId,
    mut changed: Map<String, Value>,
    seen: Option<Map<String, Value>>,
) -> Result<String, CliError> {
    let word = |key: &str| if key == "after" { "task to wait for" } else { key }.to_owned();
    let names: Vec<String> = changed.keys().map(|key| word(key)).collect();
    if let Some(seen) = seen {
        changed.insert("seen".to_owned(), Value::Object(seen));
    }
    let _: Value = api.patch(&format!("/api/tasks/{id}"), &changed).await?;
    api.tell(id, &format!("{id} has a new {}.\n", names.join(" and "))).await
}

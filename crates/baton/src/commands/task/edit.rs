//! `baton task edit`: changes a task by flags or in an editor. The text stays in a file until the store has it.

use std::collections::BTreeSet;
use std::fmt::Write;

use baton_core::base::id::TaskId;
use baton_engine::reports::view::TaskView;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::cli::edit::EditArgs;
use crate::commands::task::text_or_stdin;
use crate::context::CliContext;
use crate::context::api::Api;
use crate::documents::task::TaskDocument;
use crate::error::CliError;
use crate::terminal::editor;

pub(crate) async fn run(api: &Api, args: EditArgs) -> Result<String, CliError> {
    let id = api.task_id(&args.task).await?;
    let view = api.task(id).await?;
    let before = document_of(&view);
    if args.has_flags() {
        let (mut waits_for, mut waits_no_more) = (Vec::new(), Vec::new());
        for task in &args.after {
            waits_for.push(api.task_id(task).await?);
        }
        for task in &args.not_after {
            let on = api.task_id(task).await?;
            if !view.depends_on.contains(&on) {
                let hint = format!("see what it waits on: baton task show {id}");
                return Err(CliError::refused(format!("{id} does not depend on {on}"), hint));
            }
            waits_no_more.push(on);
        }
        let after = apply_flags(&before, args)?;
        // Set only what was named.
        let mut changed = difference(&before, &after).map(|(changed, _)| changed).unwrap_or_default();
        if !waits_for.is_empty() {
            changed.insert("after".to_owned(), json!(waits_for));
        }
        if !waits_no_more.is_empty() {
            changed.insert("not_after".to_owned(), json!(waits_no_more));
        }
        if changed.is_empty() {
            return api.confirm(id, &format!("{id} is unchanged.\n")).await;
        }
        return send(api, id, changed, None).await;
    }
    edit_in_editor(api, id, &before).await
}

fn document_of(view: &TaskView) -> TaskDocument {
    TaskDocument {
        title: view.summary.title.to_string(),
        priority: view.summary.priority,
        description: view.description.clone(),
    }
}

fn apply_flags(before: &TaskDocument, args: EditArgs) -> Result<TaskDocument, CliError> {
    let mut after = before.clone();
    if let Some(title) = args.title {
        after.title = CliContext::non_blank(&title, "the title")?.to_string();
    }
    if let Some(text) = args.description {
        after.description = text_or_stdin(text)?;
    }
    after.priority = args.priority.unwrap_or(after.priority);
    Ok(after)
}

/// The changed fields, and their old values.
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

async fn edit_in_editor(api: &Api, id: TaskId, before: &TaskDocument) -> Result<String, CliError> {
    let kept = api.place.state_dir.join("edits").join(format!("{id}.md"));
    // Continue an edit that could not be applied.
    if !kept.exists() {
        editor::save(&kept, &before.write(id))?;
    }
    let instead = "use flags: --title, --description, --priority";
    let text = match editor::edit(&kept, instead) {
        Ok(text) => text,
        Err(error) => {
            // Unchanged: nothing to continue.
            if std::fs::read_to_string(&kept).is_ok_and(|text| text == before.write(id)) {
                let _ = std::fs::remove_file(&kept);
            }
            return Err(error);
        }
    };
    let again = format!("your text is in {}; continue with it: baton task edit {id}", kept.display());
    let after = TaskDocument::parse(&text, before).map_err(|bad| {
        CliError::usage(format!("{}:{}: {}", kept.display(), bad.line, bad.message), &again)
    })?;
    let printed = match difference(before, &after) {
        Some((changed, seen)) => match send(api, id, changed, Some(seen)).await {
            Ok(printed) => printed,
            Err(error) => return Err(explain_refusal(api, id, before, error, &again).await),
        },
        None => api.confirm(id, &format!("{id} is unchanged.\n")).await?,
    };
    // It is stored now; the file may not exist.
    let _ = std::fs::remove_file(kept);
    Ok(printed)
}

/// Adds the location of the text and, if somebody else changed the task meanwhile, of their version.
async fn explain_refusal(
    api: &Api,
    id: TaskId,
    before: &TaskDocument,
    error: CliError,
    again: &str,
) -> CliError {
    let theirs = api.place.state_dir.join("edits").join(format!("{id}.theirs.md"));
    let now = api.task(id).await.ok().map(|view| document_of(&view)).filter(|now| now != before);
    let hint = match now {
        Some(now) if editor::save(&theirs, &now.write(id)).is_ok() => {
            format!("the current version is in {}, and {again}", theirs.display())
        }
        Some(_) | None => format!("{}; {again}", error.hint),
    };
    CliError { hint, ..error }
}

async fn send(
    api: &Api,
    id: TaskId,
    mut changed: Map<String, Value>,
    seen: Option<Map<String, Value>>,
) -> Result<String, CliError> {
    let names: BTreeSet<&str> = changed.keys().map(|key| name_of(key)).collect();
    let names = names.into_iter().collect::<Vec<_>>().join(" and ");
    if let Some(seen) = seen {
        changed.insert("seen".to_owned(), Value::Object(seen));
    }
    let edited: Edited = api.patch(&format!("/api/tasks/{id}"), &changed).await?;
    let mut sentence = format!("Changed {names} of {id}.\n");
    for NewDependency { task_id, on } in edited.now_waiting {
        let _ =
            writeln!(sentence, "{task_id} now waits on {on}: it waits for every part of a broken-down task.");
    }
    api.confirm(id, &sentence).await
}

/// What a person calls a field.
fn name_of(key: &str) -> &str {
    match key {
        "after" | "not_after" => "dependencies",
        field => field,
    }
}

/// The server's answer to an edit.
#[derive(Deserialize)]
struct Edited {
    now_waiting: Vec<NewDependency>,
}

#[derive(Deserialize)]
struct NewDependency {
    task_id: TaskId,
    on: TaskId,
}

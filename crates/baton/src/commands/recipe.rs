//! `baton recipe …`

use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;

use baton_core::id::{BadId, SessionId};
use baton_core::recipe::Recipe;
use baton_core::run::Run;
use baton_core::text::{BadName, RecipeId};
use baton_engine::recipes::{self, Checked, FileFault, Listed, Source};
use serde_json::{Value, json};

use crate::cli::RecipeCommand;
use crate::fault::{FAILED, Fault};
use crate::office::Office;
use crate::output;

pub async fn run(office: &Office, command: RecipeCommand) -> Result<String, Fault> {
    match command {
        RecipeCommand::List => list(office),
        RecipeCommand::Show { recipe, mermaid } => show(office, &recipe, mermaid),
        RecipeCommand::Check { files } => check(office, &files),
        RecipeCommand::Start { recipe, session, message } => {
            let recipe = find(office, &recipe)?;
            let message = message.map(|text| Office::said(&text, "the message")).transpose()?;
            let session = read_session(&session)?;
            let run = office.desk.start_run(&session, recipe.id(), None, message, office.actor()).await?;
            let sentence = format!("{} runs on the session {session} ({}).", recipe.label(), run.id());
            tell(office, &run, &sentence)
        }
        RecipeCommand::Say { text, session } => {
            let session = read_session(&session)?;
            let text = Office::said(&text, "the message")?;
            let message = office.desk.say(&session, text, office.actor()).await?;
            if office.is_json {
                return output::json(&message);
            }
            Ok("Its agent hears it before it goes on.\n".to_owned())
        }
        RecipeCommand::Exit { session } => {
            let session = read_session(&session)?;
            let run = office.desk.exit_run(&session, office.actor()).await?;
            let sentence = if run.has_exited() {
                format!("{} is over.", run.id())
            } else {
                format!("{} ends; what its agent did so far is kept.", run.id())
            };
            tell(office, &run, &sentence)
        }
        RecipeCommand::Schema => output::json(&recipes::schema()),
    }
}

/// The recipe of this id, or an error that names the nearest.
pub fn find(office: &Office, id: &str) -> Result<Arc<Recipe>, Fault> {
    let id: RecipeId = id
        .parse()
        .map_err(|error: BadName| Fault::usage(error.to_string(), "see what there is: baton recipe list"))?;
    Ok(office.desk.recipe(&id)?)
}

fn read_session(text: &str) -> Result<SessionId, Fault> {
    text.parse().map_err(|error: BadId| Fault::usage(error.to_string(), "choose another name with --session"))
}

fn tell(office: &Office, run: &Run, sentence: &str) -> Result<String, Fault> {
    if !office.is_json {
        return Ok(format!("{sentence}\n"));
    }
    output::json(&json!({
        "run_id": run.id(),
        "recipe_id": run.recipe(),
        "session_id": run.session(),
        "task_id": run.task(),
        "current_step": run.step(),
        "step_count": run.total_steps(),
        "has_exited": run.has_exited(),
    }))
}

fn list(office: &Office) -> Result<String, Fault> {
    let listed = office.desk.recipes.list();
    for news in office.desk.recipes.news() {
        output::talk(&news);
    }
    if office.is_json {
        let recipes: Vec<Value> = listed.iter().map(summary).collect();
        return output::json(&json!({ "recipes": recipes }));
    }
    let rows: Vec<[String; 4]> = listed
        .iter()
        .map(|listed| {
            let recipe = &listed.recipe;
            [
                recipe.id().to_string(),
                recipe.label().to_string(),
                source_of(listed).to_owned(),
                recipe.description().to_string(),
            ]
        })
        .collect();
    Ok(output::table(["ID", "LABEL", "FROM", "WHAT IT DOES"], &rows))
}

fn summary(listed: &Listed) -> Value {
    let recipe = &listed.recipe;
    json!({
        "id": recipe.id(),
        "label": recipe.label(),
        "description": recipe.description(),
        "from": source_of(listed),
        "faults": listed.faults,
    })
}

fn source_of(listed: &Listed) -> &str {
    match &listed.source {
        Source::BuiltIn => "built in",
        Source::File(file) => file.file_name().and_then(|name| name.to_str()).unwrap_or("a file"),
    }
}

fn show(office: &Office, id: &str, mermaid: bool) -> Result<String, Fault> {
    let recipe = find(office, id)?;
    if office.is_json {
        output::json(&*recipe)
    } else if mermaid {
        Ok(recipes::mermaid(&recipe))
    } else {
        Ok(recipes::text(&recipe))
    }
}

/// The faults are what was asked for, so they go where data goes; that there are any is told by the exit code.
fn check(office: &Office, files: &[PathBuf]) -> Result<String, Fault> {
    let mut checked = if files.is_empty() {
        office.desk.recipes.check()
    } else {
        files.iter().map(|file| look_at(file.clone())).collect()
    };
    for one in &mut checked {
        one.faults.iter_mut().for_each(|fault| shorten(office, fault));
    }
    let faults: Vec<&FileFault> = checked.iter().flat_map(|one| &one.faults).collect();
    let printed = if office.is_json {
        let files: Vec<Value> = checked
            .iter()
            .map(|one| {
                json!({
                    "file": one.file,
                    "id": one.recipe.as_ref().map(|recipe| recipe.id().clone()),
                    "faults": one.faults,
                })
            })
            .collect();
        output::json(&json!({ "files": files }))?
    } else {
        let mut text = String::new();
        for fault in &faults {
            let _ = writeln!(text, "{fault}");
        }
        text
    };
    if faults.is_empty() {
        let good = format!("{} recipe(s) without faults.\n", checked.len());
        return Ok(if office.is_json { printed } else { good });
    }
    output::line(printed.trim_end());
    Err(Fault {
        message: format!("{} fault(s) in {} file(s)", faults.len(), files_of(&checked)),
        hint: "mend them; until then the version before, or the built-in one, is used".to_owned(),
        code: FAILED,
    })
}

fn look_at(file: PathBuf) -> Checked {
    match recipes::load(&file) {
        Ok(recipe) => Checked { file, recipe: Some(Arc::new(recipe)), faults: Vec::new() },
        Err(faults) => Checked { file, recipe: None, faults },
    }
}

fn files_of(checked: &[Checked]) -> usize {
    checked.iter().filter(|one| !one.faults.is_empty()).count()
}

/// A path as a person standing in the repository would type it.
fn shorten(office: &Office, fault: &mut FileFault) {
    if let Ok(inside) = fault.file.strip_prefix(&office.place.root) {
        fault.file = inside.to_owned();
    }
}

//! `baton recipe …`

use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;

use baton_core::base::id::{InvalidId, SessionId};
use baton_core::base::words::pluralize;
use baton_core::recipe::Recipe;
use baton_core::records::session::Message;
use baton_engine::settings::place::Place;
use baton_engine::settings::recipes::{self, Checked, FileFault, Listed, RecipeLibrary, Source};
use serde_json::{Value, json};

use crate::cli::recipes::RecipeCommand;
use crate::commands::task::recipe_id;
use crate::commands::with_api;
use crate::context::api::Api;
use crate::context::{self, CliContext};
use crate::error::CliError;
use crate::options::GlobalOptions;
use crate::output;

pub(crate) async fn run(options: &GlobalOptions, command: RecipeCommand) -> Result<String, CliError> {
    let files = || context::find(options).map(|(place, _)| RecipeFiles::new(place, options.json));
    match command {
        // These read the repository's files and need neither a server nor a store.
        RecipeCommand::List => files()?.list(),
        RecipeCommand::Show { recipe, mermaid } => files()?.show(&recipe, mermaid),
        RecipeCommand::Check { files: paths } => files()?.check(&paths),
        RecipeCommand::Schema => output::json(&recipes::schema()),
        RecipeCommand::Start { recipe, session, message } => {
            with_api(options, async |api| start(api, &recipe, &session, message.as_deref()).await).await
        }
        RecipeCommand::Say { text, session } => {
            with_api(options, async |api| say(api, &text, &session).await).await
        }
        RecipeCommand::Exit { session } => with_api(options, async |api| exit(api, &session).await).await,
    }
}

async fn start(api: &Api, recipe: &str, session: &str, message: Option<&str>) -> Result<String, CliError> {
    let recipe = RecipeFiles::new(api.place.clone(), api.is_json).find(recipe)?;
    let message = message.map(|text| CliContext::non_blank(text, "the message")).transpose()?;
    let session = parse_session(session)?;
    let new = json!({ "recipe_id": recipe.id(), "message": message });
    let run: Value = api.post(&format!("/api/sessions/{session}/recipe"), &new).await?;
    let label = recipe.label();
    report(api, &run, |run| format!("Started {label} in session {session} ({run})."))
}

async fn say(api: &Api, text: &str, session: &str) -> Result<String, CliError> {
    let session = parse_session(session)?;
    let text = CliContext::non_blank(text, "the message")?;
    let path = format!("/api/sessions/{session}/messages");
    let message: Message = api.post(&path, &json!({ "text": text })).await?;
    if api.is_json {
        return output::json(&message);
    }
    Ok("Sent. The agent reads it before its next step.\n".to_owned())
}

async fn exit(api: &Api, session: &str) -> Result<String, CliError> {
    let session = parse_session(session)?;
    let run: Value = api.delete(&format!("/api/sessions/{session}/recipe")).await?;
    let is_over = has_exited(&run);
    report(api, &run, |run| {
        if is_over {
            format!("{run} has ended.")
        } else {
            format!("{run} is stopping; the agent's work so far is kept.")
        }
    })
}

fn parse_session(text: &str) -> Result<SessionId, CliError> {
    text.parse().map_err(|error: InvalidId| {
        CliError::usage(error.to_string(), "choose another session name with --session")
    })
}

fn has_exited(run: &Value) -> bool {
    run["state"] == "exited"
}

fn report(api: &Api, run: &Value, sentence: impl FnOnce(&str) -> String) -> Result<String, CliError> {
    if !api.is_json {
        return Ok(sentence(run["run_id"].as_str().unwrap_or_default()) + "\n");
    }
    output::json(&json!({
        "run_id": run["run_id"],
        "recipe_id": run["recipe_id"],
        "session_id": run["session_id"],
        "task_id": run["task_id"],
        "current_step": run["current_step"],
        "step_count": run["step_count"],
        "has_exited": has_exited(run),
    }))
}

/// The recipes of a repository, read from its files.
struct RecipeFiles {
    place: Place,
    recipes: RecipeLibrary,
    is_json: bool,
}

impl RecipeFiles {
    fn new(place: Place, is_json: bool) -> Self {
        Self { recipes: RecipeLibrary::of(&place.root), place, is_json }
    }

    /// The recipe with this id, or an error that suggests the nearest one.
    fn find(&self, id: &str) -> Result<Arc<Recipe>, CliError> {
        Ok(self.recipes.find(&recipe_id(id)?)?)
    }

    fn list(&self) -> Result<String, CliError> {
        let listed = self.recipes.list();
        for message in self.recipes.news() {
            output::talk(&message);
        }
        if self.is_json {
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
                    source_name(listed).to_owned(),
                    recipe.description().to_string(),
                ]
            })
            .collect();
        Ok(output::table(["ID", "LABEL", "FROM", "DESCRIPTION"], &rows))
    }

    fn show(&self, id: &str, mermaid: bool) -> Result<String, CliError> {
        let recipe = self.find(id)?;
        if self.is_json {
            output::json(&*recipe)
        } else if mermaid {
            Ok(recipes::mermaid(&recipe))
        } else {
            Ok(recipes::text(&recipe))
        }
    }

    /// Errors are data here and go to standard output; the exit code says whether there are any.
    fn check(&self, files: &[PathBuf]) -> Result<String, CliError> {
        let mut checked = if files.is_empty() {
            self.recipes.check()
        } else {
            files.iter().map(|file| check_file(file.clone())).collect()
        };
        for one in &mut checked {
            one.faults.iter_mut().for_each(|fault| self.shorten(fault));
        }
        let faults: Vec<&FileFault> = checked.iter().flat_map(|one| &one.faults).collect();
        let printed = if self.is_json {
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
            let good = format!("{}, no errors.\n", pluralize(checked.len() as u64, "recipe"));
            return Ok(if self.is_json { printed } else { good });
        }
        output::line(printed.trim_end());
        Err(CliError::failed(
            format!(
                "{} in {}",
                pluralize(faults.len() as u64, "error"),
                pluralize(files_with_faults(&checked) as u64, "file")
            ),
            "fix them; until then the previous version, or the built-in one, is used",
        ))
    }

    /// Makes the path relative to the repository.
    fn shorten(&self, fault: &mut FileFault) {
        if let Ok(inside) = fault.file.strip_prefix(&self.place.root) {
            fault.file = inside.to_owned();
        }
    }
}

fn summary(listed: &Listed) -> Value {
    let recipe = &listed.recipe;
    json!({
        "id": recipe.id(),
        "label": recipe.label(),
        "description": recipe.description(),
        "from": source_name(listed),
        "faults": listed.faults,
    })
}

fn source_name(listed: &Listed) -> &str {
    match &listed.source {
        Source::BuiltIn => "built in",
        Source::File(file) => file.file_name().and_then(|name| name.to_str()).unwrap_or("a file"),
    }
}

fn check_file(file: PathBuf) -> Checked {
    match recipes::load(&file) {
        Ok(recipe) => Checked { file, recipe: Some(Arc::new(recipe)), faults: Vec::new() },
        Err(faults) => Checked { file, recipe: None, faults },
    }
}

fn files_with_faults(checked: &[Checked]) -> usize {
    checked.iter().filter(|one| !one.faults.is_empty()).count()
}

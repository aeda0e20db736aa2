//! `baton recipe …`

mod runs;

pub(crate) use runs::describe_state;

use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;

use baton_core::base::id::{InvalidId, SessionId};
use baton_core::base::words::pluralize;
use baton_core::recipe::Recipe;
use baton_core::records::session::Message;
use baton_engine::reports::run_view::RunView;
use baton_engine::settings::location::StateLocation;
use baton_engine::settings::recipes::{
    self, CheckedRecipe, ListedRecipe, RecipeFileError, RecipeLibrary, RecipeSource,
};
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
        RecipeCommand::Start { recipe, session, message, follow } => {
            with_api(options, async |api| {
                let seen = api.last_event().await?;
                let started = start(api, &recipe, &session, message.as_deref()).await?;
                if !follow {
                    return Ok(started);
                }
                if !api.is_json {
                    output::talk(started.trim_end());
                }
                runs::follow(api, &parse_session(&session)?, seen).await
            })
            .await
        }
        RecipeCommand::Runs { session, open, limit } => {
            with_api(options, async |api| runs::list(api, session.as_deref(), open, limit).await).await
        }
        RecipeCommand::Follow { session } => {
            with_api(options, async |api| {
                let seen = api.last_event().await?;
                runs::follow(api, &parse_session(&session)?, seen).await
            })
            .await
        }
        RecipeCommand::Say { text, session } => {
            with_api(options, async |api| say(api, &text, &session).await).await
        }
        RecipeCommand::Exit { session } => with_api(options, async |api| exit(api, &session).await).await,
    }
}

async fn start(api: &Api, recipe: &str, session: &str, message: Option<&str>) -> Result<String, CliError> {
    let files = RecipeFiles::new(api.place.clone(), api.is_json);
    let recipe = files.find(recipe)?;
    let listed = files.recipes.list().into_iter().find(|listed| listed.recipe.id() == recipe.id());
    for error in listed.iter().flat_map(|listed| &listed.errors) {
        output::talk(&format!(
            "{error}\nUntil it is fixed, the previous version, or the built-in one, is used."
        ));
    }
    let message = message.map(|text| CliContext::non_blank(text, "the message")).transpose()?;
    let session = parse_session(session)?;
    let new = json!({ "recipe_id": recipe.id(), "message": message });
    let run: RunView = api.post(&format!("/api/sessions/{session}/recipe"), &new).await?;
    if api.is_json {
        return output::json(&run);
    }
    let on = run.task_id.map(|task| format!(", on {task}")).unwrap_or_default();
    Ok(format!(
        "Started {} in session {session} ({}{on}).\nAgents work on it while a server runs here (baton up). Follow it: \
         baton recipe follow --session {session}\n",
        recipe.label(),
        run.run_id
    ))
}

async fn say(api: &Api, text: &str, session: &str) -> Result<String, CliError> {
    let session = parse_session(session)?;
    let text = CliContext::non_blank(text, "the message")?;
    let path = format!("/api/sessions/{session}/messages");
    let message: Message = api.post(&path, &json!({ "text": text })).await?;
    if api.is_json {
        return output::json(&message);
    }
    Ok("Sent. The agent reads it at its next pause.\n".to_owned())
}

async fn exit(api: &Api, session: &str) -> Result<String, CliError> {
    let session = parse_session(session)?;
    let run: RunView = api.delete(&format!("/api/sessions/{session}/recipe")).await?;
    if api.is_json {
        return output::json(&run);
    }
    Ok(if run.has_exited {
        format!("{} has ended.\n", run.run_id)
    } else {
        format!("{} is stopping; the agent's work so far is kept.\n", run.run_id)
    })
}

fn parse_session(text: &str) -> Result<SessionId, CliError> {
    text.parse().map_err(|error: InvalidId| {
        CliError::usage(error.to_string(), "choose another session name with --session")
    })
}

/// The recipes of a repository, read from its files.
struct RecipeFiles {
    place: StateLocation,
    recipes: RecipeLibrary,
    is_json: bool,
}

impl RecipeFiles {
    fn new(place: StateLocation, is_json: bool) -> Self {
        Self { recipes: RecipeLibrary::for_repository(&place.root), place, is_json }
    }

    /// The recipe with this id, or an error that suggests the nearest one.
    fn find(&self, id: &str) -> Result<Arc<Recipe>, CliError> {
        Ok(self.recipes.find(&recipe_id(id)?)?)
    }

    fn list(&self) -> Result<String, CliError> {
        let listed = self.recipes.list();
        for message in self.recipes.take_warnings() {
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
            Ok(recipes::render_mermaid(&recipe))
        } else {
            Ok(recipes::render_text(&recipe))
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
            one.errors.iter_mut().for_each(|error| self.shorten(error));
        }
        let errors: Vec<&RecipeFileError> = checked.iter().flat_map(|one| &one.errors).collect();
        let printed = if self.is_json {
            let files: Vec<Value> = checked
                .iter()
                .map(|one| {
                    json!({
                        "file": one.file,
                        "id": one.recipe.as_ref().map(|recipe| recipe.id().clone()),
                        "faults": one.errors,
                    })
                })
                .collect();
            output::json(&json!({ "files": files }))?
        } else {
            let mut text = String::new();
            for error in &errors {
                let _ = writeln!(text, "{error}");
            }
            text
        };
        if errors.is_empty() {
            let good = format!("{}, no errors.\n", pluralize(checked.len() as u64, "recipe"));
            return Ok(if self.is_json { printed } else { good });
        }
        output::line(printed.trim_end());
        Err(CliError::failed(
            format!(
                "{} in {}",
                pluralize(errors.len() as u64, "error"),
                pluralize(files_with_errors(&checked) as u64, "file")
            ),
            "fix them; until then the previous version, or the built-in one, is used",
        ))
    }

    /// Makes the path relative to the repository.
    fn shorten(&self, error: &mut RecipeFileError) {
        if let Ok(inside) = error.file.strip_prefix(&self.place.root) {
            error.file = inside.to_owned();
        }
    }
}

fn summary(listed: &ListedRecipe) -> Value {
    let recipe = &listed.recipe;
    json!({
        "id": recipe.id(),
        "recipe_id": recipe.id(),
        "label": recipe.label(),
        "description": recipe.description(),
        "from": source_name(listed),
        "faults": listed.errors,
    })
}

fn source_name(listed: &ListedRecipe) -> &str {
    match &listed.source {
        RecipeSource::BuiltIn => "built in",
        RecipeSource::File(file) => file.file_name().and_then(|name| name.to_str()).unwrap_or("a file"),
    }
}

fn check_file(file: PathBuf) -> CheckedRecipe {
    match recipes::load(&file) {
        Ok(recipe) => CheckedRecipe { file, recipe: Some(Arc::new(recipe)), errors: Vec::new() },
        Err(errors) => CheckedRecipe { file, recipe: None, errors },
    }
}

fn files_with_errors(checked: &[CheckedRecipe]) -> usize {
    checked.iter().filter(|one| !one.errors.is_empty()).count()
}

//! `baton demo`: a tour on a scratch repository, with the scripted agent.
//!
//! Everything is real (store, git worktrees, agent processes, merges) except the model, which is a script. In the browser
//! ([`browser`]) the visitor answers, accepts and approves; headless, or when the visitor does nothing, [`stand_in`] does.

mod browser;
mod guide;
mod narrator;
mod pace;
mod stand_in;
mod story;

use std::env;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use baton_engine::base::ids::Ids;
use baton_engine::services::engine::Engine;
use baton_engine::settings::location::StateLocation;
use baton_engine::settings::store_address::StoreAddress;
use baton_engine::tasks::service::TaskService;
use tokio::sync::watch;

use crate::cli::demo::DemoArgs;
use crate::commands::demo::narrator::Narrator;
use crate::commands::demo::pace::DemoPace;
use crate::commands::demo::stand_in::StandIn;
use crate::context::own_program;
use crate::error::CliError;
use crate::output;

/// The name of the person who decides, in the output and on the pages.
const PERSON: &str = "you";

pub(crate) async fn run(args: DemoArgs) -> Result<String, CliError> {
    let pace = DemoPace::new(&args);
    let folder = match &args.folder {
        Some(folder) => folder.clone(),
        None => env::temp_dir().join(format!("baton-demo-{}", std::process::id())),
    };
    let engine = set_up(&folder, pace).await?;
    output::line(&format!("Scratch repository: {}\n", folder.join("repository").display()));
    let result = if args.headless {
        Box::pin(run_headless(&engine, pace, &folder)).await
    } else {
        Box::pin(browser::play(&engine, &args, pace, &folder)).await
    };
    engine.workspace.tasks.close().await?;
    result
}

/// Runs the demo in the terminal, without input.
async fn run_headless(engine: &Engine, pace: DemoPace, folder: &Path) -> Result<String, CliError> {
    let started = Instant::now();
    let (stop, shutdown) = watch::channel(false);
    let playing = async {
        let mut narrator = Narrator::new(engine.workspace.tasks.clone(), true);
        let played = StandIn::new(engine, PERSON, pace).play(&mut narrator).await;
        let _ = stop.send(true);
        played
    };
    let (worked, played) = tokio::join!(engine.run(shutdown), playing);
    worked?;
    played?;
    Ok(format!("{}{}", story::summary(engine, started.elapsed()).await?, next_steps(folder)))
}

/// Printed at the end, however it ended.
fn next_steps(folder: &Path) -> String {
    format!(
        "\nInspect the result: cd {} && git log --graph --oneline {}\n\
         Use Baton in your own repository: baton init, then baton up\n",
        folder.join("repository").display(),
        story::feature_branch()
    )
}

/// Prepares the demo, or continues an interrupted one.
async fn set_up(folder: &Path, pace: DemoPace) -> Result<Engine, CliError> {
    let unusable = |error: std::io::Error| {
        CliError::failed(
            format!("cannot use {}: {error}", folder.display()),
            "choose another directory with --folder",
        )
    };
    std::fs::create_dir_all(folder).map_err(unusable)?;
    let folder: PathBuf = folder.canonicalize().map_err(unusable)?;
    let script = folder.join("script.json");
    std::fs::write(&script, story::script(pace)).map_err(unusable)?;
    let scratch = StateLocation {
        root: folder.join("repository"),
        state_dir: folder.join("state"),
        namespace: "demo".to_owned(),
        store: StoreAddress::File,
    };
    let tasks = TaskService::new(scratch.open_store().await?, Ids::random());
    let engine =
        Engine::new(tasks, story::settings(&script)?, scratch, own_program(), Arc::new(output::talk)).await?;
    story::begin(&engine).await?;
    Ok(engine)
}

//! `baton demo`: the whole product on a scratch repository, with the agent that needs no model.
//!
//! Everything is real: a store, git worktrees, agent processes, merges. Only the model is a script. In a browser
//! ([`browser`]) the person who answers, accepts and approves is whoever looks; printed, and wherever nobody does
//! anything, they are played by [`stand_in`].

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

use baton_engine::desk::Desk;
use baton_engine::engine::Engine;
use baton_engine::ids::Ids;
use baton_engine::place::Place;
use baton_engine::store_address::StoreAddress;
use tokio::sync::watch;

use crate::cli::demo::DemoArgs;
use crate::commands::demo::narrator::Narrator;
use crate::commands::demo::pace::DemoPace;
use crate::commands::demo::stand_in::StandIn;
use crate::context::own_program;
use crate::error::{CliError, FAILED};
use crate::output;

/// Who decides, in the story and on its pages.
const PERSON: &str = "you";

pub async fn run(asked: DemoArgs) -> Result<String, CliError> {
    let pace = DemoPace::of(&asked);
    let folder = match &asked.folder {
        Some(folder) => folder.clone(),
        None => env::temp_dir().join(format!("baton-demo-{}", std::process::id())),
    };
    let engine = set_up(&folder, pace).await?;
    output::line(&format!("A scratch repository in {}\n", folder.join("repository").display()));
    let printed = if asked.headless {
        Box::pin(printed(&engine, pace, &folder)).await
    } else {
        Box::pin(browser::play(&engine, &asked, pace, &folder)).await
    };
    engine.shop.desk.close().await?;
    printed
}

/// The story in the terminal alone, played by itself.
async fn printed(engine: &Engine, pace: DemoPace, folder: &Path) -> Result<String, CliError> {
    let started = Instant::now();
    let (stop, shutdown) = watch::channel(false);
    let playing = async {
        let mut telling = Narrator::new(engine.shop.desk.clone(), true);
        let played = StandIn::new(engine, PERSON, pace).play(&mut telling).await;
        // The engine is gone already when nobody listens.
        let _ = stop.send(true);
        played
    };
    let (worked, played) = tokio::join!(engine.run(shutdown), playing);
    worked?;
    played?;
    Ok(format!("{}{}", story::summary(engine, started.elapsed()).await?, how_to_go_on(folder)))
}

/// The last words, however it ended.
fn how_to_go_on(folder: &Path) -> String {
    format!(
        "\nLook around: cd {} && git log --graph --oneline {}\n\
         Go on in a repository of your own: baton init, then baton up\n",
        folder.join("repository").display(),
        story::feature_branch()
    )
}

/// Everything the demo starts from. Doing it again over an interrupted demo goes on from there.
async fn set_up(folder: &Path, pace: DemoPace) -> Result<Engine, CliError> {
    let unusable = |error: std::io::Error| CliError {
        message: format!("{} cannot be used: {error}", folder.display()),
        hint: "choose another folder with --folder".to_owned(),
        code: FAILED,
    };
    std::fs::create_dir_all(folder).map_err(unusable)?;
    let folder: PathBuf = folder.canonicalize().map_err(unusable)?;
    let script = folder.join("script.json");
    std::fs::write(&script, story::script(pace)).map_err(unusable)?;
    let ground = Place {
        root: folder.join("repository"),
        state_dir: folder.join("state"),
        namespace: "demo".to_owned(),
        store: StoreAddress::File,
    };
    let desk = Desk::new(ground.open_store().await?, Ids::random());
    let engine =
        Engine::new(desk, story::settings(&script)?, ground, own_program(), Arc::new(output::talk)).await?;
    story::begin(&engine).await?;
    Ok(engine)
}

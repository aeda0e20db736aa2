//! `baton demo`: the whole product on a scratch repository, with the agent that needs no model.
//!
//! Everything is real: a store, git worktrees, agent processes, merges. Only the model is a script, and the
//! person who answers, accepts and approves is played by [`human`].

mod human;
mod story;
mod telling;

use std::env;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use baton_engine::desk::Desk;
use baton_engine::engine::Engine;
use baton_engine::ids::Ids;
use baton_engine::place::{AnyStore, Place};
use baton_engine::store_address::StoreAddress;
use tokio::sync::watch;

use self::human::Human;
use self::telling::Telling;
use crate::fault::{FAILED, Fault};
use crate::office::own_program;
use crate::output;

pub async fn run(is_headless: bool, folder: Option<PathBuf>) -> Result<String, Fault> {
    let started = Instant::now();
    let folder = match folder {
        Some(folder) => folder,
        None => env::temp_dir().join(format!("baton-demo-{}", std::process::id())),
    };
    let engine = set_up(&folder).await?;
    output::line(&format!("A scratch repository in {}\n", folder.join("repository").display()));
    let (stop, shutdown) = watch::channel(false);
    let playing = async {
        let telling = Telling::new(engine.shop.desk.clone(), is_headless);
        let played = Human::new(&engine).play(telling).await;
        // The engine is gone already when nobody listens.
        let _ = stop.send(true);
        played
    };
    let (worked, played) = tokio::join!(engine.run(shutdown), playing);
    worked?;
    played?;
    let summary = story::summary(&engine, started.elapsed()).await?;
    engine.shop.desk.close().await?;
    Ok(format!(
        "{summary}\nLook around: cd {} && git log --graph --oneline {}\n",
        folder.join("repository").display(),
        story::feature_branch()
    ))
}

/// Everything the demo starts from. Doing it again over an interrupted demo goes on from there.
async fn set_up(folder: &Path) -> Result<Engine<AnyStore>, Fault> {
    let unusable = |error: std::io::Error| Fault {
        message: format!("{} cannot be used: {error}", folder.display()),
        hint: "choose another folder with --folder".to_owned(),
        code: FAILED,
    };
    std::fs::create_dir_all(folder).map_err(unusable)?;
    let folder = folder.canonicalize().map_err(unusable)?;
    let script = folder.join("script.json");
    std::fs::write(&script, story::script()).map_err(unusable)?;
    let place = Place {
        root: folder.join("repository"),
        state_dir: folder.join("state"),
        namespace: "demo".to_owned(),
        store: StoreAddress::File,
    };
    let desk = Desk::new(place.open_store().await?, Ids::random());
    let engine =
        Engine::new(desk, story::settings(&script)?, place, own_program(), Arc::new(output::talk)).await?;
    story::begin(&engine).await?;
    Ok(engine)
}

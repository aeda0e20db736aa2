//! The demo in a browser: the real pages on this machine, with a guide's words over them. The person decides there;
//! where nobody does, the demo goes on by itself, so it never hangs.

use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use baton_engine::engine::Engine;
use baton_server::http::guard::HttpGuard;
use baton_server::serve::Server;
use baton_server::state::App;
use tokio::sync::watch;

use super::human::Human;
use super::pace::Pace;
use super::telling::Telling;
use super::{PERSON, guide, how_to_go_on, story};
use crate::browser;
use crate::cli::demo::Demo;
use crate::fault::{FAILED, Fault};
use crate::output;
use crate::server_file::{self, ServerFile};
use crate::signals::Signals;

/// Who decides when nobody does.
const STAND_IN: &str = "the demo";

/// How long the pages stay after the end for somebody who looked at them: no demo is left running over night.
const LOOKING_AROUND_MAX: Duration = Duration::from_mins(30);

/// How it came to its end.
enum Ending {
    /// With everything merged; the text is the story in numbers.
    Told(String),
    /// By Ctrl-C, on the way.
    Interrupted,
    /// The engine or the server was first.
    Stopped,
}

pub async fn play(engine: &Engine, asked: &Demo, pace: Pace, folder: &Path) -> Result<String, Fault> {
    let mut signals = Signals::hear()?;
    let server = bind(asked.port).await?;
    let address = server.address();
    // Commands that are told of this folder find the server.
    let _file = ServerFile::write(&engine.shop.place, address, None)?;
    let (stop, stopping) = watch::channel(false);
    // Streams end last, so that they can tell what the engine's end brought about.
    let (end, ending) = watch::channel(false);
    let is_visited = Arc::new(AtomicBool::new(false));
    let app = App::new(engine.shop.clone(), PERSON.to_owned(), HttpGuard::new(address, None), ending)
        .with_guide(guiding(Arc::clone(&is_visited), pace));
    greet(&server_file::url(address), asked);

    let working = async {
        let worked = Box::pin(engine.run(stopping.clone())).await;
        // Also when it failed: without an engine there is nothing to see. Nobody listens when all is over.
        let _ = stop.send(true);
        let _ = end.send(true);
        worked
    };
    let telling = async {
        let told = tell(engine, pace, &is_visited, stopping.clone(), &mut signals).await;
        let _ = stop.send(true);
        told
    };
    let (worked, (), told) = tokio::join!(working, server.run(app, stopping.clone()), telling);
    worked?;
    Ok(match told? {
        Ending::Told(summary) => summary + &how_to_go_on(folder),
        Ending::Interrupted | Ending::Stopped => format!(
            "\nThe demo is ended. Go on with it where it was: baton demo --folder {}\n{}",
            folder.display(),
            how_to_go_on(folder)
        ),
    })
}

async fn bind(port: u16) -> Result<Server, Fault> {
    Server::bind((Ipv4Addr::LOCALHOST, port).into()).await.map_err(|error| Fault {
        message: format!("the demo cannot listen at port {port}: {error}"),
        hint: "leave --port out, and one that is free is taken".to_owned(),
        code: FAILED,
    })
}

/// The guide's words, and a note that somebody reads them.
fn guiding(is_visited: Arc<AtomicBool>, pace: Pace) -> baton_server::state::guide::GuideFn {
    Box::new(move |tasks| {
        is_visited.store(true, Ordering::Relaxed);
        guide::narrate(tasks, pace.patience)
    })
}

fn greet(url: &str, asked: &Demo) {
    let is_open = !asked.no_open && browser::open(url);
    output::line(&format!("The demo is at {url}"));
    output::line(if is_open {
        "It opens in your browser. Ctrl-C ends it.\n"
    } else {
        "Open it in a browser: the page says what happens, and what to click next. Ctrl-C ends it.\n"
    });
}

/// The story to its end, and for as long as somebody looks around after it.
async fn tell(
    engine: &Engine,
    pace: Pace,
    is_visited: &AtomicBool,
    mut stopping: watch::Receiver<bool>,
    signals: &mut Signals,
) -> Result<Ending, Fault> {
    let started = Instant::now();
    let mut telling = Telling::new(engine.shop.desk.clone(), false);
    let person = Human::new(engine, STAND_IN, pace);
    tokio::select! {
        played = person.play(&mut telling) => played?,
        () = signals.heard() => return Ok(Ending::Interrupted),
        _ = stopping.wait_for(|is_stopping| *is_stopping) => return Ok(Ending::Stopped),
    }
    let summary = story::summary(engine, started.elapsed()).await?;
    if is_visited.load(Ordering::Relaxed) {
        output::line("\nThat was the story. Look around on the pages; Ctrl-C ends the demo.");
        tokio::select! {
            () = signals.heard() => {}
            () = tokio::time::sleep(LOOKING_AROUND_MAX) => {}
            _ = stopping.wait_for(|is_stopping| *is_stopping) => {}
        }
    }
    Ok(Ending::Told(summary))
}

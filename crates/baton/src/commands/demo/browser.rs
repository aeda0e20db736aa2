//! The demo in a browser: the real pages with a guide on top. The visitor decides; if they do nothing, the demo decides
//! for them, so it never hangs.

use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use baton_engine::services::engine::Engine;
use baton_server::http::guard::HttpGuard;
use baton_server::serve::Server;
use baton_server::state::App;
use tokio::sync::watch;

use crate::cli::demo::DemoArgs;
use crate::commands::demo::narrator::Narrator;
use crate::commands::demo::pace::DemoPace;
use crate::commands::demo::stand_in::StandIn;
use crate::commands::demo::{PERSON, guide, next_steps, story};
use crate::context::server_file::{self, ServerFile};
use crate::error::CliError;
use crate::output;
use crate::terminal::browser;
use crate::terminal::signals::Signals;

/// Who decides when the visitor does not.
const STAND_IN: &str = "the demo";

/// How long the pages stay up after the end, if anybody opened them.
const LINGER_MAX: Duration = Duration::from_mins(30);

/// How the demo ended.
enum DemoEnd {
    /// Everything is merged; holds the summary.
    Complete(String),
    /// Ctrl-C.
    Interrupted,
    /// The engine or the server stopped.
    Stopped,
}

pub(crate) async fn play(
    engine: &Engine,
    args: &DemoArgs,
    pace: DemoPace,
    folder: &Path,
) -> Result<String, CliError> {
    let mut signals = Signals::install()?;
    let server = bind(args.port).await?;
    let address = server.address();
    // So that commands run on this directory find the server.
    let _file = ServerFile::write(&engine.workspace.place, address, None)?;
    let (stop, stopping) = watch::channel(false);
    // Streams end last, so that they deliver the events of the shutdown.
    let (end, ending) = watch::channel(false);
    let is_visited = Arc::new(AtomicBool::new(false));
    let app = App::new(engine.workspace.clone(), PERSON.to_owned(), HttpGuard::new(address, None), ending)
        .with_guide(guiding(Arc::clone(&is_visited), pace));
    greet(&server_file::url(address), args);

    let working = async {
        let worked = Box::pin(engine.run(stopping.clone())).await;
        // Also when it failed: without an engine there is nothing to see.
        let _ = stop.send(true);
        let _ = end.send(true);
        worked
    };
    let narrating = async {
        let ended = narrate(engine, pace, &is_visited, stopping.clone(), &mut signals).await;
        let _ = stop.send(true);
        ended
    };
    let (worked, (), ended) = tokio::join!(working, server.run(app, stopping.clone()), narrating);
    worked?;
    Ok(match ended? {
        DemoEnd::Complete(summary) => summary + &next_steps(folder),
        DemoEnd::Interrupted | DemoEnd::Stopped => format!(
            "\nThe demo was stopped. Continue it: baton demo --folder {}\n{}",
            folder.display(),
            next_steps(folder)
        ),
    })
}

async fn bind(port: u16) -> Result<Server, CliError> {
    Server::bind((Ipv4Addr::LOCALHOST, port).into()).await.map_err(|error| {
        CliError::failed(format!("cannot listen on port {port}: {error}"), "omit --port to use any free port")
    })
}

/// The guide, and a note that somebody reads it.
fn guiding(is_visited: Arc<AtomicBool>, pace: DemoPace) -> baton_server::state::guide::GuideFn {
    Box::new(move |tasks| {
        is_visited.store(true, Ordering::Relaxed);
        guide::narrate(tasks, pace.patience)
    })
}

fn greet(url: &str, args: &DemoArgs) {
    let is_open = !args.no_open && browser::open(url);
    output::line(&format!("Demo: {url}"));
    output::line(if is_open {
        "Opening it in your browser. Press Ctrl-C to stop.\n"
    } else {
        "Open it in a browser; the pages say what to click next. Press Ctrl-C to stop.\n"
    });
}

/// Runs the demo to its end, and keeps the pages up if anybody opened them.
async fn narrate(
    engine: &Engine,
    pace: DemoPace,
    is_visited: &Arc<AtomicBool>,
    mut stopping: watch::Receiver<bool>,
    signals: &mut Signals,
) -> Result<DemoEnd, CliError> {
    let started = Instant::now();
    let mut narrator = Narrator::new(engine.workspace.tasks.clone(), false);
    let person = StandIn::new(engine, STAND_IN, pace).beside(is_visited);
    tokio::select! {
        played = person.play(&mut narrator) => played?,
        () = signals.next() => return Ok(DemoEnd::Interrupted),
        _ = stopping.wait_for(|is_stopping| *is_stopping) => return Ok(DemoEnd::Stopped),
    }
    let summary = story::summary(engine, started.elapsed()).await?;
    if is_visited.load(Ordering::Relaxed) {
        output::line("\nThe tour is complete. Browse the pages as long as you like; press Ctrl-C to stop.");
        tokio::select! {
            () = signals.next() => {}
            () = tokio::time::sleep(LINGER_MAX) => {}
            _ = stopping.wait_for(|is_stopping| *is_stopping) => {}
        }
    }
    Ok(DemoEnd::Complete(summary))
}

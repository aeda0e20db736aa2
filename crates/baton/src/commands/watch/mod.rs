//! `baton watch`: board and inbox on one screen, redrawn when something happens.

mod screen;

use std::io::IsTerminal;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use crate::commands::watch::screen::{WatchScreen, WatchSnapshot};
use crate::context::api::Api;
use crate::error::{CliError, UNREACHABLE};
use crate::options::GlobalOptions;
use crate::output::{self, FullScreen};

/// Rows of each list that are fetched; a screen shows fewer.
const ROWS_MAX: u32 = 50;
/// Ages go on without events.
const REDRAW: Duration = Duration::from_secs(1);
/// Events come in bursts; they are drawn together.
const BURST: Duration = Duration::from_millis(100);
/// How long to wait before looking again for a server that went away.
const AWAY: Duration = Duration::from_secs(1);

pub async fn run(common: &GlobalOptions) -> Result<String, CliError> {
    let is_live = std::io::stdout().is_terminal() && !common.json;
    let canvas = is_live.then(FullScreen::take);
    let ended = tokio::select! {
        ended = watching(common, canvas.as_ref()) => ended,
        // The screen is given back when the canvas is dropped.
        _ = tokio::signal::ctrl_c() => Ok(()),
    };
    drop(canvas);
    ended.map(|()| String::new())
}

/// For ever: a server that ends is waited for, and what happened meanwhile is on the next screen.
async fn watching(common: &GlobalOptions, canvas: Option<&FullScreen>) -> Result<(), CliError> {
    loop {
        let api = Api::open(common).await?;
        let watched = watch(&api, canvas).await;
        let was_served = api.is_served();
        api.close().await?;
        match watched {
            Err(fault) if !was_served || fault.code != UNREACHABLE => return Err(fault),
            Ok(()) | Err(_) => tokio::time::sleep(AWAY).await,
        }
    }
}

async fn watch(api: &Api, canvas: Option<&FullScreen>) -> Result<(), CliError> {
    let mut events = api.events(api.last_event().await?).await?;
    let mut snapshot = WatchSnapshot::load(api, ROWS_MAX).await?;
    let mut is_new = true;
    loop {
        match canvas {
            Some(_) => FullScreen::draw(&WatchScreen::of(&snapshot, FullScreen::size()).to_string()),
            None if is_new => output::line(output::json_line(&snapshot)?.trim_end()),
            None => {}
        }
        is_new = false;
        let mut until = Instant::now() + REDRAW;
        // Nothing came in time: only the ages are drawn anew.
        while let Ok(event) = timeout_at(until, events.next()).await {
            if event?.is_none() {
                return Ok(());
            }
            if !is_new {
                (is_new, until) = (true, Instant::now() + BURST);
            }
        }
        if is_new {
            snapshot = WatchSnapshot::load(api, ROWS_MAX).await?;
        }
        snapshot.now = api.now().await?;
    }
}

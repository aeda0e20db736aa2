//! `baton watch`: board and inbox on one screen, redrawn on every change.

mod screen;

use std::io::IsTerminal;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use crate::commands::watch::screen::{WatchScreen, WatchSnapshot};
use crate::context::api::Api;
use crate::error::{CliError, UNREACHABLE};
use crate::options::GlobalOptions;
use crate::output::{self, FullScreen};

/// Rows per list.
const ROWS_MAX: u32 = 50;
/// Ages change without events.
const REDRAW: Duration = Duration::from_secs(1);
/// Events within this time are drawn together.
const BURST: Duration = Duration::from_millis(100);
/// Wait between attempts to reach the server.
const RECONNECT_AFTER: Duration = Duration::from_secs(1);

pub(crate) async fn run(options: &GlobalOptions) -> Result<String, CliError> {
    let is_live = std::io::stdout().is_terminal() && !options.json;
    let screen = is_live.then(FullScreen::enter);
    let ended = tokio::select! {
        ended = watch_forever(options, screen.as_ref()) => ended,
        // Dropping the screen restores the terminal.
        _ = tokio::signal::ctrl_c() => Ok(()),
    };
    drop(screen);
    ended.map(|()| String::new())
}

/// Reconnects when the server ends.
async fn watch_forever(options: &GlobalOptions, screen: Option<&FullScreen>) -> Result<(), CliError> {
    loop {
        let api = Api::open(options).await?;
        let watched = watch(&api, screen).await;
        let was_served = api.is_served();
        api.close().await?;
        match watched {
            Err(error) if !was_served || error.code != UNREACHABLE => return Err(error),
            Ok(()) | Err(_) => tokio::time::sleep(RECONNECT_AFTER).await,
        }
    }
}

async fn watch(api: &Api, screen: Option<&FullScreen>) -> Result<(), CliError> {
    let mut events = api.events(api.last_event().await?).await?;
    let mut snapshot = WatchSnapshot::load(api, ROWS_MAX).await?;
    let mut is_new = true;
    loop {
        match screen {
            Some(_) => FullScreen::draw(&WatchScreen::new(&snapshot, FullScreen::size()).to_string()),
            None if is_new => output::line(output::json_line(&snapshot)?.trim_end()),
            None => {}
        }
        is_new = false;
        let mut until = Instant::now() + REDRAW;
        // A timeout redraws the ages.
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

//! `baton watch`: what waits for you, what runs and what comes next, and the keys to decide it.

mod decision;
mod detail;
mod draw;
mod rows;
mod screen;
mod snapshot;
mod state;
#[cfg(test)]
mod tests;

use std::io::IsTerminal;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use crate::commands::watch::snapshot::WatchSnapshot;
use crate::context::api::Api;
use crate::error::{CliError, UNREACHABLE};
use crate::options::GlobalOptions;
use crate::output;

/// Rows per list.
const ROWS_MAX: u32 = 200;
/// Events within this time are shown together.
const BURST: Duration = Duration::from_millis(100);
/// Wait between attempts to reach the server.
const RECONNECT_AFTER: Duration = Duration::from_secs(1);

pub(crate) async fn run(options: &GlobalOptions) -> Result<String, CliError> {
    let is_live = std::io::stdin().is_terminal() && std::io::stdout().is_terminal() && !options.json;
    if is_live {
        screen::run(options).await?;
        return Ok(String::new());
    }
    tokio::select! {
        ended = print_forever(options) => ended.map(|()| String::new()),
        _ = tokio::signal::ctrl_c() => Ok(String::new()),
    }
}

/// One line of JSON now and after every change. Reconnects when the server ends.
async fn print_forever(options: &GlobalOptions) -> Result<(), CliError> {
    loop {
        let api = Api::open(options).await?;
        let watched = print(&api).await;
        let was_served = api.is_served();
        api.close().await?;
        match watched {
            Err(error) if !was_served || error.code != UNREACHABLE => return Err(error),
            Ok(()) | Err(_) => tokio::time::sleep(RECONNECT_AFTER).await,
        }
    }
}

async fn print(api: &Api) -> Result<(), CliError> {
    let mut events = api.events(api.last_event().await?).await?;
    loop {
        let snapshot = WatchSnapshot::load(api, ROWS_MAX).await?;
        output::line(output::json_line(&snapshot)?.trim_end());
        if events.next().await?.is_none() {
            return Ok(());
        }
        let until = Instant::now() + BURST;
        while let Ok(event) = timeout_at(until, events.next()).await {
            if event?.is_none() {
                return Ok(());
            }
        }
    }
}

//! `baton up`: runs agents and the server for this repository until Ctrl-C.

pub(crate) mod assumptions;
mod narrate;

use std::fs::File;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use baton_engine::base::ids::Ids;
use baton_engine::settings::Settings;
use baton_server::http::guard::{HttpGuard, ServerToken};
use baton_server::serve::Server;
use baton_server::state::App;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::cli::up::UpArgs;
use crate::context::CliContext;
use crate::context::server_file::{self, ServerFile};
use crate::error::{CliError, FAILED};
use crate::output;
use crate::telemetry::{Telemetry, show_logs};
use crate::terminal::signals::Signals;

pub(crate) async fn run(context: &CliContext, options: UpArgs) -> Result<String, CliError> {
    let settings = context.settings()?;
    let otlp = settings.telemetry.otlp.as_deref();
    let telemetry = Telemetry::start(otlp, &context.place.namespace)?;
    show_logs(options.logs.log_format, telemetry.as_ref())?;
    let served = Box::pin(serve(context, options, &settings)).await;
    if let Some(telemetry) = telemetry {
        telemetry.end().await;
    }
    served
}

async fn serve(context: &CliContext, options: UpArgs, settings: &Settings) -> Result<String, CliError> {
    let _lock = lock_engine(context).await?;
    let server = bind(options.listen.unwrap_or(settings.listen)).await?;
    let token = token_for(server.address(), options.token)?;
    let mut engine = context.waiting_for_store().engine(options.agents).await?;
    engine.workspace.agents.mcp_url = Some(format!("{}/mcp", server_file::url(server.address())));
    let file = ServerFile::write(&context.place, server.address(), token.as_ref().map(ServerToken::reveal))?;
    if let Some(text) = assumptions::describe(&engine.workspace).await {
        output::talk(&text);
    }
    crate::context::mention_unread(&context.place);
    announce(&engine.workspace.settings);
    // Say it now, not when the first agent fails to start.
    if let Err(error) = engine.workspace.projects.home_repository().await {
        output::talk(&format!("{error}\n  → {}", error.hint()));
    }
    // Before the announcement: its reader may send a signal at once.
    let mut signals = Signals::install()?;
    announce_server(server.address(), token.is_some(), &file);

    // A task of its own, which ends with this function: a terminal that is slow to read holds up nobody else.
    let mut narrating = JoinSet::new();
    if !options.quiet {
        narrating.spawn(narrate::narrate(engine.workspace.tasks.clone()));
    }
    let (stop, stopping) = watch::channel(false);
    // Streams end last, so that they deliver the events of the shutdown.
    let (end, ending) = watch::channel(false);
    let guard = HttpGuard::new(server.address(), token);
    let app = App::new(CliContext::fail_fast(&engine.workspace), context.person().to_owned(), guard, ending);
    let working = async {
        let worked = Box::pin(engine.run(stopping.clone())).await;
        // Also when it failed: without an engine there is nothing to serve.
        let _ = stop.send(true);
        let _ = end.send(true);
        worked
    };
    let serving = server.run(app, stopping.clone());
    let stopped = async {
        let (worked, ()) = tokio::join!(working, serving);
        worked
    };
    // On the heap: it holds the state of every service.
    let mut stopped = Box::pin(stopped);
    tokio::select! {
        worked = &mut stopped => worked?,
        () = signals.next() => {
            output::talk("Stopping: agents are stopped, and their tasks return to the queue.");
            let _ = stop.send(true);
            tokio::select! {
                worked = &mut stopped => worked?,
                // Shutdown waits for a shared store that is unreachable; a second signal does not.
                () = signals.next() => return Err(CliError::failed("killed before the shutdown was complete", "no work is lost: running tasks return to the queue at the next start")),
            }
        }
    }
    Ok(String::new())
}

async fn bind(listen: SocketAddr) -> Result<Server, CliError> {
    Server::bind(listen).await.map_err(|error| CliError {
        hint: if error.kind() == std::io::ErrorKind::AddrInUse {
            format!(
                "another program uses this port, perhaps baton up in another repository; choose another port, or any \
                 free one: baton up --listen {}:0",
                listen.ip()
            )
        } else {
            "choose an address of this machine: baton up --listen 127.0.0.1:5678".to_owned()
        },
        message: format!("cannot listen on {listen}: {error}"),
        code: FAILED,
        reason: None,
    })
}

/// Required off loopback. Written to the server file, never printed.
fn token_for(address: SocketAddr, given: Option<String>) -> Result<Option<ServerToken>, CliError> {
    match given {
        Some(text) if text.len() < ServerToken::LEN_MIN => Err(CliError::usage(
            format!("the token is shorter than {} characters", ServerToken::LEN_MIN),
            "choose a longer one, or omit it and use the one in the server file",
        )),
        Some(text) => Ok(Some(ServerToken::new(text))),
        None if address.ip().is_loopback() => Ok(None),
        None => Ok(Some(ServerToken::new(Ids::secret()))),
    }
}

fn announce_server(address: SocketAddr, needs_token: bool, file: &ServerFile) {
    output::talk(&format!("Listening on {}", server_file::url(address)));
    if needs_token {
        output::talk(&format!("Clients must send the token in {}", file.path().display()));
    }
}

/// How long a lock without a server behind it is waited for.
const LOCK_WAIT: Duration = Duration::from_secs(2);
const LOCK_PAUSE: Duration = Duration::from_millis(20);

/// One engine per store and machine: a second one would reclaim the tasks the first one runs.
pub(crate) async fn lock_engine(context: &CliContext) -> Result<File, CliError> {
    let path = context.place.state_dir.join(format!("{}.up", context.place.namespace));
    let failed = |error: std::io::Error| {
        CliError::failed(format!("cannot lock {}: {error}", path.display()), "check the permissions")
    };
    let file = File::create(&path).map_err(failed)?;
    let until = Instant::now() + LOCK_WAIT;
    loop {
        let url = server_file::recorded_url(&context.place);
        match file.try_lock() {
            Ok(()) => return Ok(file),
            // Children that a killed Baton had just forked hold its lock for a moment longer than it lived.
            Err(std::fs::TryLockError::WouldBlock) if url.is_none() && Instant::now() < until => {
                sleep(LOCK_PAUSE).await;
            }
            Err(std::fs::TryLockError::WouldBlock) => {
                return Err(CliError::refused(
                    "baton up is already running here",
                    match url {
                        Some(url) => format!("it listens on {url}; use it, or stop it first"),
                        None => "use it, or stop it first".to_owned(),
                    },
                ));
            }
            Err(std::fs::TryLockError::Error(error)) => return Err(failed(error)),
        }
    }
}

pub(crate) fn announce(settings: &Settings) {
    if settings.agents.is_empty() {
        output::talk(
            "No agent is configured, so tasks wait. Install one (baton doctor lists them), or configure any program in \
             .agent/baton.toml:\n",
        );
        output::talk(
            "    default_agent = \"mine\"\n\n    [agents.mine]\n    kind = \"command\"\n    command = [\"my-agent\"]\n",
        );
    } else {
        let names: Vec<&str> =
            settings.agents.keys().map(baton_core::base::text::AgentName::as_str).collect();
        output::talk(&format!(
            "Running up to {} agents: {}. Press Ctrl-C to stop.",
            settings.max_agents,
            names.join(", ")
        ));
    }
}

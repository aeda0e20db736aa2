//! `baton up`: agents at work on this repository, and the server beside them, until Ctrl-C.

use std::fs::File;
use std::net::SocketAddr;

use baton_engine::error::EngineError;
use baton_engine::ids::Ids;
use baton_engine::settings::Settings;
use baton_server::guard::{Guard, Token};
use baton_server::serve::Server;
use baton_server::state::App;
use tokio::sync::watch;

use super::assumptions;
use crate::cli::up::Up;
use crate::fault::{FAILED, Fault, REFUSED};
use crate::office::Office;
use crate::output;
use crate::server_file::{self, ServerFile};
use crate::signals::Signals;
use crate::telemetry::{Telemetry, show_logs};

pub async fn run(office: &Office, options: Up) -> Result<String, Fault> {
    let settings = Settings::load(&office.place.settings_path()).map_err(EngineError::from)?;
    let otlp = settings.telemetry.otlp.as_deref();
    let telemetry = Telemetry::start(otlp, &office.place.namespace)?;
    show_logs(options.logs.log_format, telemetry.as_ref())?;
    let served = Box::pin(serve(office, options, &settings)).await;
    if let Some(telemetry) = telemetry {
        telemetry.end().await;
    }
    served
}

async fn serve(office: &Office, options: Up, settings: &Settings) -> Result<String, Fault> {
    let _alone = only_one(office)?;
    let server = bind(options.listen.unwrap_or(settings.listen)).await?;
    let token = token_for(server.address(), options.token)?;
    let mut engine = office.patient().engine(options.agents).await?;
    engine.shop.mcp_url = Some(format!("{}/mcp", server_file::url(server.address())));
    let file = ServerFile::write(&office.place, server.address(), token.as_ref().map(Token::reveal))?;
    if let Some(told) = assumptions::told(&engine.shop).await {
        output::talk(&told);
    }
    announce(&engine.shop.settings);
    // Said now, and not when the first agent cannot start.
    if let Err(error) = engine.shop.home_repository().await {
        output::talk(&format!("{error}\n  → {}", error.hint()));
    }
    // Heard before it is said that we are there: whoever reads that may end us at once.
    let mut signals = Signals::hear()?;
    announce_server(server.address(), token.is_some(), &file);

    let (stop, stopping) = watch::channel(false);
    // Streams end last, so that they can tell what the engine's end brought about.
    let (end, ending) = watch::channel(false);
    let guard = Guard::new(server.address(), token);
    let app = App::new(Office::for_people(&engine.shop), office.person().to_owned(), guard, ending);
    let working = async {
        let worked = Box::pin(engine.run(stopping.clone())).await;
        // Also when it failed: without an engine there is nothing to serve. Nobody listens when all is over.
        let _ = stop.send(true);
        let _ = end.send(true);
        worked
    };
    let serving = server.run(app, stopping.clone());
    let stopped = async {
        let (worked, ()) = tokio::join!(working, serving);
        worked
    };
    // On the heap: it holds the state of everything that runs all day.
    let mut stopped = Box::pin(stopped);
    tokio::select! {
        worked = &mut stopped => worked?,
        () = signals.heard() => {
            output::talk("Stopping: agents are ended, their tasks go back to the queue.");
            let _ = stop.send(true);
            tokio::select! {
                worked = &mut stopped => worked?,
                // A shared store that is away would be waited for.
                () = signals.heard() => return Err(Fault {
                    message: "ended before everything was put away".to_owned(),
                    hint: "nothing is lost: what was at work goes back to the queue at the next start".to_owned(),
                    code: FAILED,
                }),
            }
        }
    }
    Ok(String::new())
}

async fn bind(listen: SocketAddr) -> Result<Server, Fault> {
    Server::bind(listen).await.map_err(|error| Fault {
        hint: if error.kind() == std::io::ErrorKind::AddrInUse {
            format!(
                "another program listens there, perhaps baton up in another repository; choose another port, or any \
                 free one: baton up --listen {}:0",
                listen.ip()
            )
        } else {
            "choose an address of this machine: baton up --listen 127.0.0.1:5678".to_owned()
        },
        message: format!("the server cannot listen at {listen}: {error}"),
        code: FAILED,
    })
}

/// Off loopback there is always one. It is written to the server file and never printed.
fn token_for(address: SocketAddr, given: Option<String>) -> Result<Option<Token>, Fault> {
    match given {
        Some(text) if text.len() < Token::LEN_MIN => Err(Fault::usage(
            format!("the token is shorter than {} characters", Token::LEN_MIN),
            "choose a longer one, or leave it out and take the one in the server file",
        )),
        Some(text) => Ok(Some(Token::new(text))),
        None if address.ip().is_loopback() => Ok(None),
        None => Ok(Some(Token::new(Ids::secret()))),
    }
}

fn announce_server(address: SocketAddr, needs_token: bool, file: &ServerFile) {
    output::talk(&format!("Listening at {}", server_file::url(address)));
    if needs_token {
        output::talk(&format!("Clients need the token in {}", file.path().display()));
    }
}

/// One engine for a store on one machine: the second would take back what the first one runs.
pub fn only_one(office: &Office) -> Result<File, Fault> {
    let path = office.place.state_dir.join(format!("{}.up", office.place.namespace));
    let failed = |error: std::io::Error| Fault {
        message: format!("{} cannot be locked: {error}", path.display()),
        hint: "check that you may write there".to_owned(),
        code: FAILED,
    };
    let file = File::create(&path).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(std::fs::TryLockError::WouldBlock) => Err(Fault {
            message: "baton up runs here already".to_owned(),
            hint: match server_file::said_url(&office.place) {
                Some(url) => format!("it is at {url}; use it, or stop it first"),
                None => "use it, or stop it first".to_owned(),
            },
            code: REFUSED,
        }),
        Err(std::fs::TryLockError::Error(error)) => Err(failed(error)),
    }
}

pub fn announce(settings: &Settings) {
    if settings.agents.is_empty() {
        output::talk(
            "No agent is set up, so tasks wait. Install one (baton doctor names them), or write down any program in \
             .agent/baton.toml:\n",
        );
        output::talk(
            "    default_agent = \"mine\"\n\n    [agents.mine]\n    kind = \"command\"\n    command = [\"my-agent\"]\n",
        );
    } else {
        let names: Vec<&str> = settings.agents.keys().map(baton_core::text::AgentName::as_str).collect();
        output::talk(&format!(
            "Up to {} agents at once: {}. Ctrl-C ends it.",
            settings.max_agents,
            names.join(", ")
        ));
    }
}

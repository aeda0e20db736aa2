//! `baton up`: agents at work on this repository, until Ctrl-C.

use std::fs::File;

use baton_engine::settings::Settings;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use crate::fault::{FAILED, Fault, REFUSED};
use crate::office::Office;
use crate::output;

pub async fn run(office: &Office, agents: Option<u32>) -> Result<String, Fault> {
    let _alone = only_one(office)?;
    let engine = office.engine(agents).await?;
    announce(&engine.shop.settings);
    let (stop, shutdown) = watch::channel(false);
    let signals = async {
        let interrupted = wait_for_signal().await;
        output::talk("Stopping: agents are ended, their tasks go back to the queue.");
        // The engine is gone already when nobody listens.
        let _ = stop.send(true);
        interrupted
    };
    tokio::pin!(signals);
    // On the heap: it holds the state of everything that runs all day.
    let mut working = Box::pin(engine.run(shutdown));
    tokio::select! {
        worked = &mut working => worked?,
        interrupted = &mut signals => {
            interrupted?;
            working.await?;
        }
    }
    Ok(String::new())
}

/// One engine for a store on one machine: the second would take back what the first one runs.
fn only_one(office: &Office) -> Result<File, Fault> {
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
            hint: "use it, or stop it first".to_owned(),
            code: REFUSED,
        }),
        Err(std::fs::TryLockError::Error(error)) => Err(failed(error)),
    }
}

fn announce(settings: &Settings) {
    if settings.agents.is_empty() {
        output::talk("No agent is set up, so nothing will be started. Add one to .agent/baton.toml:\n");
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

async fn wait_for_signal() -> Result<(), Fault> {
    let failed = |error: std::io::Error| Fault {
        message: format!("signals cannot be heard: {error}"),
        hint: "check the limits of this session".to_owned(),
        code: FAILED,
    };
    let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    Ok(())
}

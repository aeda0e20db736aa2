//! SIGINT (Ctrl-C) and SIGTERM (service managers).

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::error::CliError;

/// Once installed, neither signal ends the process by itself.
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    pub(crate) fn install() -> Result<Self, CliError> {
        Ok(Self {
            interrupt: install(SignalKind::interrupt())?,
            terminate: install(SignalKind::terminate())?,
        })
    }

    /// Waits for the next signal. Cancel-safe.
    pub(crate) async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

/// Ctrl-C alone, for commands that a terminal runs.
pub(crate) fn interrupt() -> Result<Signal, CliError> {
    install(SignalKind::interrupt())
}

fn install(kind: SignalKind) -> Result<Signal, CliError> {
    signal(kind).map_err(|error| {
        CliError::failed(
            format!("cannot install signal handlers: {error}"),
            "check this session's limits: ulimit -a",
        )
    })
}

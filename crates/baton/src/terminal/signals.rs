//! SIGINT (Ctrl-C) and SIGTERM (service managers).

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::error::{CliError, FAILED};

/// Once installed, neither signal ends the process by itself.
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    pub(crate) fn install() -> Result<Self, CliError> {
        let failed = |error: std::io::Error| CliError {
            message: format!("cannot install signal handlers: {error}"),
            hint: "check this session's limits: ulimit -a".to_owned(),
            code: FAILED,
        };
        let interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
        let terminate = signal(SignalKind::terminate()).map_err(failed)?;
        Ok(Self { interrupt, terminate })
    }

    /// Waits for the next signal. Cancel-safe.
    pub(crate) async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

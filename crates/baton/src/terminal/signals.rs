//! Ctrl-C, and the polite request of a service manager.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::error::{CliError, FAILED};

/// From the moment it is made, neither ends this program by itself any more.
pub struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    pub fn hear() -> Result<Self, CliError> {
        let failed = |error: std::io::Error| CliError {
            message: format!("signals cannot be heard: {error}"),
            hint: "check the limits of this session".to_owned(),
            code: FAILED,
        };
        let interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
        let terminate = signal(SignalKind::terminate()).map_err(failed)?;
        Ok(Self { interrupt, terminate })
    }

    /// Waits for the next one. Safe to drop half-way.
    pub async fn heard(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

//! `baton up`

use std::net::SocketAddr;

use clap::Args;

use crate::telemetry::LogFormat;

#[derive(Debug, Args)]
pub(crate) struct UpArgs {
    /// Most agents to run at once [default: from the settings]
    #[arg(long, value_name = "N")]
    pub(crate) agents: Option<u32>,
    /// Address to listen on; port 0 picks a free port; addresses other than loopback require a token
    /// [default: from the settings, else 127.0.0.1:5678]
    #[arg(long, value_name = "ADDRESS", env = "BATON_LISTEN")]
    pub(crate) listen: Option<SocketAddr>,
    /// Token that clients must send [default: none on loopback, else a new one, written to the server file]
    #[arg(long, value_name = "TOKEN", env = "BATON_SERVER_TOKEN", hide_env_values = true)]
    pub(crate) token: Option<String>,
    /// Do not print what happens to tasks
    #[arg(long)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) logs: LogOptions,
}

/// What is logged on standard error; `BATON_LOG` says how much.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct LogOptions {
    /// The form of the log on standard error
    #[arg(long, value_name = "FORMAT", env = "BATON_LOG_FORMAT", value_enum, default_value_t)]
    pub(crate) log_format: LogFormat,
}

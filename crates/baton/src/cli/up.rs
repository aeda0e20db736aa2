//! `baton up`

use std::net::SocketAddr;

use clap::Args;

use crate::telemetry::LogFormat;

#[derive(Debug, Args)]
pub struct Up {
    /// How many agents at once [default: what the settings say]
    #[arg(long, value_name = "N")]
    pub agents: Option<u32>,
    /// Where the server listens; port 0 picks a free one. Anywhere but on this machine alone, a token is needed
    /// [default: what the settings say, else 127.0.0.1:5678]
    #[arg(long, value_name = "ADDRESS", env = "BATON_LISTEN")]
    pub listen: Option<SocketAddr>,
    /// What clients must show [default: none on this machine alone, else a new one in the server file]
    #[arg(long, value_name = "TOKEN", env = "BATON_SERVER_TOKEN", hide_env_values = true)]
    pub token: Option<String>,
    #[command(flatten)]
    pub logs: LogOptions,
}

/// What is logged on standard error; `BATON_LOG` says how much.
#[derive(Debug, Clone, Copy, Args)]
pub struct LogOptions {
    /// The form of the log on standard error
    #[arg(long, value_name = "FORMAT", env = "BATON_LOG_FORMAT", value_enum, default_value_t)]
    pub log_format: LogFormat,
}

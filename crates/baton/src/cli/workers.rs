//! `baton worker`

use baton_core::base::text::{Label, Role};
use clap::Args;

use super::up::LogOptions;

#[derive(Debug, Args)]
pub(crate) struct WorkerArgs {
    /// Most agents to run at once [default: from the settings]
    #[arg(long, value_name = "N")]
    pub(crate) agents: Option<u32>,
    /// Only these roles, comma-separated [default: every role that has an agent]
    #[arg(long, value_name = "ROLES", value_delimiter = ',')]
    pub(crate) roles: Vec<Role>,
    /// Label of this machine, for tasks that need it; repeatable
    #[arg(long = "label", value_name = "LABEL")]
    pub(crate) labels: Vec<Label>,
    /// Seconds running agents have to finish after the first SIGTERM
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub(crate) grace: u32,
    #[command(flatten)]
    pub(crate) logs: LogOptions,
}

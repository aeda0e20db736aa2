//! What is typed about workers.

use baton_core::text::{Label, Role};
use clap::Args;

use super::up::LogOptions;

#[derive(Debug, Args)]
pub struct Worker {
    /// How many agents at once [default: what the settings say]
    #[arg(long, value_name = "N")]
    pub agents: Option<u32>,
    /// Only work for these roles, with commas between [default: all it has an agent for]
    #[arg(long, value_name = "ROLES", value_delimiter = ',')]
    pub roles: Vec<Role>,
    /// Something this machine has that a task may need; may be given more than once
    #[arg(long = "label", value_name = "LABEL")]
    pub labels: Vec<Label>,
    /// Seconds agents at work may take to finish once it is told to end
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub grace: u32,
    #[command(flatten)]
    pub logs: LogOptions,
}

//! `baton take`, `baton give`

use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use crate::cli::completion;

#[derive(Debug, Args)]
pub(crate) struct TakeArgs {
    /// Task id, or a unique prefix of it
    #[arg(add = ArgValueCompleter::new(completion::tasks))]
    pub(crate) task: String,
    /// End the agent at once, also in the middle of a tool
    #[arg(long)]
    pub(crate) now: bool,
    /// Open the agent's own terminal on its session instead of a shell
    #[arg(long)]
    pub(crate) agent: bool,
    /// Only print the folder
    #[arg(long, conflicts_with = "agent")]
    pub(crate) print: bool,
}

#[derive(Debug, Args)]
pub(crate) struct GiveArgs {
    /// Task id, or a unique prefix of it
    #[arg(add = ArgValueCompleter::new(completion::tasks))]
    pub(crate) task: String,
    /// The work is done: it is checked as it is, and no agent goes on
    #[arg(long)]
    pub(crate) done: bool,
    /// What the agent reads first
    #[arg(long, value_name = "TEXT", conflicts_with = "done")]
    pub(crate) message: Option<String>,
}

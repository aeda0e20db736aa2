//! `baton cost`, `open`, `stop`, `review`: a person at work.

use clap::{Args, ValueEnum};
use clap_complete::engine::ArgValueCompleter;

use crate::cli::completion;

#[derive(Debug, Args)]
pub(crate) struct CostArgs {
    /// Attempts that ended since: a time, a day, or a span such as 24h or 7d [default: today, UTC]
    #[arg(long, value_name = "WHEN")]
    pub(crate) since: Option<String>,
    /// Only this table
    #[arg(long, value_enum)]
    pub(crate) by: Option<CostBy>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CostBy {
    Project,
    Agent,
    Task,
}

#[derive(Debug, Args)]
pub(crate) struct OpenArgs {
    /// Task id, or a unique prefix of it [default: the first page]
    #[arg(add = ArgValueCompleter::new(completion::tasks))]
    pub(crate) task: Option<String>,
    /// Only print the address
    #[arg(long)]
    pub(crate) print: bool,
}

#[derive(Debug, Args)]
pub(crate) struct StopArgs {
    /// Task id, or a unique prefix of it; repeatable
    #[arg(required_unless_present = "all", add = ArgValueCompleter::new(completion::tasks))]
    pub(crate) tasks: Vec<String>,
    /// Every task that an agent works on
    #[arg(long, conflicts_with = "tasks")]
    pub(crate) all: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReviewArgs {
    /// Task id, or a unique prefix of it
    #[arg(add = ArgValueCompleter::new(completion::tasks))]
    pub(crate) task: String,
    /// Accept the work instead of asking
    #[arg(long, conflicts_with = "request_changes")]
    pub(crate) accept: bool,
    /// Send the work back with this text instead of asking
    #[arg(long, value_name = "TEXT")]
    pub(crate) request_changes: Option<String>,
    /// Accept although it needs a closer look
    #[arg(long, requires = "accept")]
    pub(crate) force: bool,
}

//! `baton accept`, `baton recycle`

use clap::{Args, ValueEnum};
use clap_complete::engine::ArgValueCompleter;

use crate::cli::completion;

#[derive(Debug, Default, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag a person types")]
pub(crate) struct AcceptArgs {
    /// Task ids, or unique prefixes of them; without any, a terminal shows what can be accepted
    #[arg(conflicts_with = "all", add = ArgValueCompleter::new(completion::tasks))]
    pub(crate) tasks: Vec<String>,
    /// Accept all provisional tasks; burned-out tasks are only listed
    #[arg(long)]
    pub(crate) all: bool,
    /// Accept burned-out tasks too, and merge without waiting for the checks; recorded with your name
    #[arg(long, conflicts_with = "recycle")]
    pub(crate) force: bool,
    /// Recycle burned-out tasks into breakdowns
    #[arg(long)]
    pub(crate) recycle: bool,
    /// Show what would happen; change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not wait until the checks have passed and the work has landed
    #[arg(long)]
    pub(crate) no_wait: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum RecycleReasonArg {
    TooLarge,
    CumulativeFailures,
}

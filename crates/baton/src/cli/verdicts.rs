//! What a person decides about finished work: `baton accept`, and why `baton recycle`

use clap::{Args, ValueEnum};
use clap_complete::engine::ArgValueCompleter;

use crate::cli::completion;

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag a person types")]
pub struct AcceptArgs {
    /// The tasks, by id or the beginning of it
    #[arg(required_unless_present = "all", conflicts_with = "all", add = ArgValueCompleter::new(completion::tasks))]
    pub tasks: Vec<String>,
    /// Everything that waits to be accepted; tasks that burned out are only reported
    #[arg(long)]
    pub all: bool,
    /// Burned-out tasks too
    #[arg(long, conflicts_with = "recycle")]
    pub force: bool,
    /// Send burned-out tasks to a breakdown
    #[arg(long)]
    pub recycle: bool,
    /// Change nothing; show what would start
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum RecycleReason {
    TooLarge,
    CumulativeFailures,
}

//! `baton loop`

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct LoopArgs {
    /// What to plan, instead of the next task of the queue
    pub(crate) goal: Option<String>,
    /// Phase to start in, if no loop is running [default: plan]
    #[arg(long, value_enum)]
    pub(crate) from: Option<LoopStartArg>,
    /// File with one answer per line, used in order before the terminal is read
    #[arg(long, value_name = "FILE")]
    pub(crate) answers: Option<PathBuf>,
    /// What happens to questions that nobody answers
    #[arg(long, value_enum, value_name = "POLICY")]
    pub(crate) unattended: Option<UnattendedArg>,
    /// Session to run in
    #[arg(long, default_value = "cli")]
    pub(crate) session: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LoopStartArg {
    Plan,
    Execute,
    Review,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum UnattendedArg {
    /// Use the question's default answer, if it has one
    Default,
    /// Stop the loop
    Fail,
    /// Notify a person and disable expiry
    Escalate,
    /// Wait for a person
    Human,
}

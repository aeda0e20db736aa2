//! `baton loop`

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub struct LoopArgs {
    /// Where to start, when no loop is under way [default: plan]
    #[arg(long, value_enum)]
    pub from: Option<LoopStartArg>,
    /// Answers typed ahead, one on each line, used in order before anything is read from the terminal
    #[arg(long, value_name = "FILE")]
    pub answers: Option<PathBuf>,
    /// Who answers when nobody does
    #[arg(long, value_enum, value_name = "POLICY")]
    pub unattended: Option<UnattendedArg>,
    /// The conversation the loop belongs to
    #[arg(long, default_value = "cli")]
    pub session: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LoopStartArg {
    Plan,
    Execute,
    Review,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum UnattendedArg {
    /// The question's own default, where it has one
    Default,
    /// The work that asks is ended
    Fail,
    /// A human is called, and no expiry answers
    Escalate,
    /// Questions wait
    Human,
}

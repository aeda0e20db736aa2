//! The command line as people type it. Every command listed here works.

use clap::{Parser, Subcommand, ValueEnum};

/// A durable orchestrator for coding agents.
#[derive(Debug, Parser)]
#[command(name = "baton", version, about, arg_required_else_help = true)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show the rules Baton goes by, as the program itself has them
    #[command(after_help = "Examples:\n  baton explain states\n  baton explain exits")]
    Explain {
        /// What to explain
        topic: Topic,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Topic {
    /// The states of a task and what leads from one to the next
    States,
    /// The phases of the Plan → Execute → Review loop
    Phases,
    /// How a recipe can end, and what each end means
    Exits,
}

//! The command line as people type it. Every command listed here works.

pub mod breakdowns;
pub mod chat;
mod command;
pub(crate) mod completion;
pub mod demo;
pub mod edit;
pub mod export;
pub mod holds;
pub mod loops;
pub mod projects;
pub mod questions;
pub mod recipes;
pub mod shell;
pub mod store;
pub mod tasks;
pub mod tokens;
pub mod transfer;
pub mod up;
pub mod verdicts;
pub mod workers;

use clap::Parser;

use crate::options::GlobalOptions;

pub use crate::cli::command::CliCommand;

/// A durable orchestrator for coding agents.
#[derive(Debug, Parser)]
#[command(
    name = "baton",
    version,
    about,
    arg_required_else_help = true,
    after_help = "Examples:\n  baton demo                          the whole product in two minutes, in a browser\n  baton init                          \
                  make yourself at home in this repository\n  baton task add \"Fix the login\"       give it work\n  baton up                            \
                  agents at work, and the page, until Ctrl-C\n\nEvery command has examples behind --help. An error names a code: baton explain CODE."
)]
pub struct Cli {
    #[command(flatten)]
    pub common: GlobalOptions,
    #[command(subcommand)]
    pub command: CliCommand,
}

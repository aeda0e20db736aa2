//! The command line: every command, its arguments, its help, and its shell completion.
//!
//! Definitions only. What a command does is in `commands`.

pub(crate) mod agents;
pub(crate) mod breakdowns;
pub(crate) mod chat;
mod command;
pub(crate) mod completion;
pub(crate) mod demo;
pub(crate) mod edit;
pub(crate) mod export;
mod groups;
pub(crate) mod holds;
pub(crate) mod landing;
pub(crate) mod loops;
pub(crate) mod projects;
pub(crate) mod questions;
pub(crate) mod recipes;
pub(crate) mod routines;
pub(crate) mod shell;
pub(crate) mod status;
pub(crate) mod steering;
pub(crate) mod store;
pub(crate) mod tasks;
pub(crate) mod tokens;
pub(crate) mod transfer;
pub(crate) mod up;
pub(crate) mod verdicts;
pub(crate) mod workers;

use clap::Parser;

use crate::options::GlobalOptions;

pub(crate) use crate::cli::command::{CliCommand, McpCaller};
pub(crate) use crate::cli::groups::with_groups;

/// A durable orchestrator for coding agents.
#[derive(Debug, Parser)]
#[command(
    name = "baton",
    version,
    about,
    arg_required_else_help = true,
    after_help = "Examples:\n  baton demo                          a two-minute tour in your browser\n  baton init                          \
                  set up this repository\n  baton task add \"Fix the login\"       add a task\n  baton up                            \
                  run agents and the web UI until Ctrl-C\n\nRun baton COMMAND --help for examples. Errors name a code: baton explain CODE."
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) options: GlobalOptions,
    #[command(subcommand)]
    pub(crate) command: CliCommand,
}

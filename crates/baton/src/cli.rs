//! The command line as people type it. Every command listed here works.

pub mod asking;
pub mod breakdowns;
pub mod chat;
mod command;
pub mod demo;
pub mod edit;
pub mod export;
pub mod holds;
pub mod keeping;
pub mod looping;
pub mod projects;
pub mod recipes;
pub mod shell;
pub mod store;
pub mod tasks;
pub mod tokens;
pub mod up;
pub mod verdicts;
pub mod workers;

use std::path::PathBuf;

use baton_engine::settings::place::PlaceOptions;
use baton_engine::settings::store_address::StoreAddress;
use clap::{Args, Parser};

pub use self::command::Command;

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
pub struct Arguments {
    #[command(flatten)]
    pub common: Common,
    #[command(subcommand)]
    pub command: Command,
}

/// What every command takes.
#[derive(Debug, Clone, Args)]
pub struct Common {
    /// Print one JSON document instead of text
    #[arg(long, global = true)]
    pub json: bool,
    /// The repository this is about [default: the one around the current folder]
    #[arg(long, global = true, value_name = "DIR", env = "BATON_ROOT")]
    pub root: Option<PathBuf>,
    /// Where the store, logs and worktrees are [default: .agent/state in the repository]
    #[arg(long, global = true, value_name = "DIR", env = "BATON_STATE_DIR")]
    pub state_dir: Option<PathBuf>,
    /// Which store in that folder [default: the folder's name and a few digits]
    #[arg(long, global = true, value_name = "NAME", env = "BATON_NAMESPACE")]
    pub namespace: Option<String>,
    /// A store that many machines share, instead of a file here
    #[arg(
        long,
        global = true,
        value_name = "postgres://USER@HOST/DATABASE",
        env = "BATON_STORE",
        hide_env_values = true
    )]
    pub store: Option<StoreAddress>,
}

impl Common {
    pub fn place(&self) -> PlaceOptions {
        PlaceOptions {
            root: self.root.clone(),
            state_dir: self.state_dir.clone(),
            namespace: self.namespace.clone(),
            store: self.store.clone(),
        }
    }
}

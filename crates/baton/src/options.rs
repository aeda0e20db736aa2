//! The options every command takes.

use std::path::PathBuf;

use baton_engine::place::PlaceOptions;
use baton_engine::store_address::StoreAddress;
use clap::{Args, Parser};

/// What every command takes.
#[derive(Debug, Clone, Args)]
pub struct GlobalOptions {
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

impl GlobalOptions {
    /// The options the environment sets, for callers that have no command line, such as shell completion.
    pub fn from_environment() -> Option<Self> {
        OnlyGlobalOptions::try_parse_from(["baton"]).ok().map(|parsed| parsed.options)
    }

    pub fn place(&self) -> PlaceOptions {
        PlaceOptions {
            root: self.root.clone(),
            state_dir: self.state_dir.clone(),
            namespace: self.namespace.clone(),
            store: self.store.clone(),
        }
    }
}

/// Parses the global options alone.
#[derive(Debug, Parser)]
struct OnlyGlobalOptions {
    #[command(flatten)]
    options: GlobalOptions,
}

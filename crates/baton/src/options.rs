//! The options every command takes.

use std::path::PathBuf;

use baton_engine::settings::location::LocationOptions;
use baton_engine::settings::store_address::StoreAddress;
use clap::{Args, Parser};

/// Options that every command takes.
#[derive(Debug, Clone, Args)]
pub(crate) struct GlobalOptions {
    /// Print one JSON document instead of text
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// The repository to work on [default: the one that contains the current directory]
    #[arg(long, global = true, value_name = "DIR", env = "BATON_ROOT")]
    pub(crate) root: Option<PathBuf>,
    /// Directory for the store, logs and worktrees [default: .agent/state in the repository]
    #[arg(long, global = true, value_name = "DIR", env = "BATON_STATE_DIR")]
    pub(crate) state_dir: Option<PathBuf>,
    /// Name of the store in that directory [default: the repository's name plus 4 hex digits]
    #[arg(long, global = true, value_name = "NAME", env = "BATON_NAMESPACE")]
    pub(crate) namespace: Option<String>,
    /// A PostgreSQL store shared by several machines, instead of a local file
    #[arg(
        long,
        global = true,
        value_name = "postgres://USER@HOST/DATABASE",
        env = "BATON_STORE",
        hide_env_values = true
    )]
    pub(crate) store: Option<StoreAddress>,
}

impl GlobalOptions {
    /// The options the environment sets, for callers that have no command line, such as shell completion.
    pub(crate) fn from_environment() -> Option<Self> {
        OnlyGlobalOptions::try_parse_from(["baton"]).ok().map(|parsed| parsed.options)
    }

    pub(crate) fn place(&self) -> LocationOptions {
        LocationOptions {
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

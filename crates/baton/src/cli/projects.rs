//! `baton project`, `baton plan`, `baton init`

use std::path::PathBuf;
use std::str::FromStr;

use baton_core::base::remote_url::RemoteUrl;
use clap::{Args, Subcommand};
use clap_complete::engine::ArgValueCompleter;

use crate::cli::completion;

#[derive(Debug, Subcommand)]
pub(crate) enum ProjectCommand {
    /// Create a project for this repository, or for another one
    #[command(
        after_help = "Examples:\n  baton project create \"Share links\" --feature\n  baton project create --path /src/app"
    )]
    Create {
        /// Title [default: the repository's directory name]
        title: Option<String>,
        /// Path of the repository [default: this one]
        #[arg(long, value_name = "DIR")]
        path: Option<PathBuf>,
        /// Address of the remote repository: every machine works on its own clone and pushes there
        #[arg(long, value_name = "URL")]
        remote: Option<RemoteUrl>,
        /// Description, for the agents
        #[arg(long, default_value = "")]
        description: String,
        /// Base branch; naming any but the current one implies --feature [default: the current branch]
        #[arg(long, value_name = "BRANCH")]
        base: Option<String>,
        /// Merge its tasks into a branch of its own, feature/…
        #[arg(long)]
        feature: bool,
        /// Most tasks that may run at once, over all machines [default: from the settings]
        #[arg(long, value_name = "NUMBER")]
        at_once: Option<u32>,
    },
    /// Limit how many tasks of a project run at once, over all machines
    #[command(
        after_help = "Examples:\n  baton project limit PROJ-dca27809 2\n  baton project limit PROJ-dca27809 0     pause the project\n  baton project limit PROJ-dca27809 none  use max_per_project from the settings"
    )]
    Limit {
        /// Project id, or a unique prefix of it
        #[arg(add = ArgValueCompleter::new(completion::projects))]
        project: String,
        /// A number, or none to use the settings
        #[arg(value_name = "NUMBER|none")]
        at_once: ConcurrencyLimit,
    },
    /// List projects, oldest first
    #[command(after_help = "Examples:\n  baton project list")]
    List,
    /// Show progress, effort and tasks of a project
    #[command(after_help = "Examples:\n  baton project show PROJ-dca27809")]
    Show {
        /// Project id, or a unique prefix of it
        #[arg(add = ArgValueCompleter::new(completion::projects))]
        project: String,
    },
    /// Mark a project complete and print a summary
    #[command(after_help = "Examples:\n  baton project complete PROJ-dca27809")]
    Complete {
        /// Project id, or a unique prefix of it
        #[arg(add = ArgValueCompleter::new(completion::projects))]
        project: String,
    },
}

/// A number of tasks, or `none`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ConcurrencyLimit(pub(crate) Option<u32>);

impl FromStr for ConcurrencyLimit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "none" => Ok(Self(None)),
            number => number
                .parse()
                .map(|max| Self(Some(max)))
                .map_err(|_| format!("\"{number}\" is neither a number nor none")),
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    /// Markdown file, or - for standard input; the first line is the title
    pub(crate) goal: PathBuf,
    /// Project the tasks belong to
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: Option<String>,
    /// Do not start an agent; do that later with baton breakdown run
    #[arg(long)]
    pub(crate) hold: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Overwrite existing files; the old ones are kept with the suffix .before
    #[arg(long)]
    pub(crate) force: bool,
}

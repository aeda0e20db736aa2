//! What is typed about projects and goals.

use std::path::PathBuf;
use std::str::FromStr;

use baton_core::remote_url::RemoteUrl;
use clap::{Args, Subcommand};
use clap_complete::engine::ArgValueCompleter;

use crate::cli::completion;

#[derive(Debug, Subcommand)]
pub enum ProjectCommand {
    /// Make a project of this repository, or of another
    #[command(
        after_help = "Examples:\n  baton project create \"Share links\" --feature\n  baton project create --path /src/app"
    )]
    Create {
        /// [default: the folder's name]
        title: Option<String>,
        /// The repository [default: this one]
        #[arg(long, value_name = "DIR")]
        path: Option<PathBuf>,
        /// Where its code is shared: every machine works on a clone of its own, and pushes there
        #[arg(long, value_name = "URL")]
        remote: Option<RemoteUrl>,
        /// More of it, for the agent
        #[arg(long, default_value = "")]
        description: String,
        /// The branch it starts from; another one than you are on makes it a feature [default: the one you are on]
        #[arg(long, value_name = "BRANCH")]
        base: Option<String>,
        /// Its tasks come together on a branch of its own, feature/…
        #[arg(long)]
        feature: bool,
        /// How many of its tasks may run at once, over all machines [default: the settings]
        #[arg(long, value_name = "NUMBER")]
        at_once: Option<u32>,
    },
    /// Say how many tasks of a project may run at once, over all machines
    #[command(
        after_help = "Examples:\n  baton project limit PROJ-dca27809 2\n  baton project limit PROJ-dca27809 0     start nothing of it for now\n  baton project limit PROJ-dca27809 none  what max_per_project of the settings says"
    )]
    Limit {
        /// The project, by id or the beginning of it
        #[arg(add = ArgValueCompleter::new(completion::projects))]
        project: String,
        /// A number, or none for what the settings say
        #[arg(value_name = "NUMBER|none")]
        at_once: ConcurrencyLimit,
    },
    /// List projects, oldest first
    #[command(after_help = "Examples:\n  baton project list")]
    List,
    /// How far a project is, and what it took
    #[command(after_help = "Examples:\n  baton project show PROJ-dca27809")]
    Show {
        /// The project, by id or the beginning of it
        #[arg(add = ArgValueCompleter::new(completion::projects))]
        project: String,
    },
    /// Say that a project is complete, and see it summed up
    #[command(after_help = "Examples:\n  baton project complete PROJ-dca27809")]
    Complete {
        /// The project, by id or the beginning of it
        #[arg(add = ArgValueCompleter::new(completion::projects))]
        project: String,
    },
}

/// A limit as it is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConcurrencyLimit(pub Option<u32>);

impl FromStr for ConcurrencyLimit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "none" => Ok(Self(None)),
            number => number
                .parse()
                .map(|max| Self(Some(max)))
                .map_err(|_| format!("\"{number}\" is neither a number of tasks nor none")),
        }
    }
}

#[derive(Debug, Args)]
pub struct PlanArgs {
    /// A goal in Markdown, or - for standard input; its first line is the title
    pub goal: PathBuf,
    /// The project it belongs to
    #[arg(long, value_name = "PROJECT")]
    pub project: Option<String>,
    /// Only write it down; start the agent later with baton breakdown run
    #[arg(long)]
    pub hold: bool,
}

#[derive(Debug, Args)]
pub struct InitArgs {
    /// Write the files again, even where they are; the old ones are kept with the ending .before
    #[arg(long)]
    pub force: bool,
}

//! What is typed about projects and goals.

use std::path::PathBuf;

use baton_core::remote_url::RemoteUrl;
use clap::{Args, Subcommand};
use clap_complete::engine::ArgValueCompleter;

use crate::completing;

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
    },
    /// List projects, oldest first
    #[command(after_help = "Examples:\n  baton project list")]
    List,
    /// How far a project is, and what it took
    #[command(after_help = "Examples:\n  baton project show PROJ-dca27809")]
    Show {
        /// The project, by id or the beginning of it
        #[arg(add = ArgValueCompleter::new(completing::projects))]
        project: String,
    },
    /// Say that a project is complete, and see it summed up
    #[command(after_help = "Examples:\n  baton project complete PROJ-dca27809")]
    Complete {
        /// The project, by id or the beginning of it
        #[arg(add = ArgValueCompleter::new(completing::projects))]
        project: String,
    },
}

#[derive(Debug, Args)]
pub struct Plan {
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
pub struct Init {
    /// Write the files again, even where they are; the old ones are kept with the ending .before
    #[arg(long)]
    pub force: bool,
}

//! `baton import`, `baton backup`, `baton restore`

use std::path::PathBuf;

use baton_engine::import::ImportTool;
use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// Tool to import from
    #[arg(value_enum)]
    pub(crate) from: ImportSource,
    /// The repository, or the file
    pub(crate) path: PathBuf,
    /// Show what would be imported; change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Project to import into
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: Option<String>,
    /// Session to import into [default: the project's own, else import-NAME]
    #[arg(long)]
    pub(crate) session: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ImportSource {
    /// .beads/issues.jsonl, or .beads/beads.db
    Beads,
    /// .taskmaster/tasks/tasks.json
    TaskMaster,
    /// backlog/tasks, a directory of Markdown files
    Backlog,
    /// db.sqlite
    VibeKanban,
    /// Output of gh issue list --state all --json number,title,body,state,labels,url,createdAt
    Github,
}

impl ImportSource {
    pub(crate) const fn source(self) -> ImportTool {
        match self {
            Self::Beads => ImportTool::Beads,
            Self::TaskMaster => ImportTool::TaskMaster,
            Self::Backlog => ImportTool::Backlog,
            Self::VibeKanban => ImportTool::VibeKanban,
            Self::Github => ImportTool::Github,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct BackupArgs {
    /// New file to write; an existing file is not overwritten
    pub(crate) file: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct RestoreArgs {
    /// A file written by `baton backup`
    pub(crate) file: PathBuf,
    /// Replace the existing store; a copy of it is kept
    #[arg(long)]
    pub(crate) replace: bool,
}

//! What is typed to bring work in, take it out, and keep a copy.

use std::path::PathBuf;

use baton_engine::import::Source;
use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub struct ImportArgs {
    /// Whose tasks they are
    #[arg(value_enum)]
    pub from: ImportSource,
    /// The repository, or the file itself
    pub path: PathBuf,
    /// Write nothing; show what would come
    #[arg(long)]
    pub dry_run: bool,
    /// The project they are to belong to
    #[arg(long, value_name = "PROJECT")]
    pub project: Option<String>,
    /// The conversation they are to belong to [default: the project's own, else import-NAME]
    #[arg(long)]
    pub session: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ImportSource {
    /// .beads/issues.jsonl, or .beads/beads.db
    Beads,
    /// .taskmaster/tasks/tasks.json
    TaskMaster,
    /// A folder backlog/tasks of Markdown files
    Backlog,
    /// Its SQLite file, db.sqlite
    VibeKanban,
    /// A JSON export: gh issue list --state all --json number,title,body,state,labels,url,createdAt
    Github,
}

impl ImportSource {
    pub const fn source(self) -> Source {
        match self {
            Self::Beads => Source::Beads,
            Self::TaskMaster => Source::TaskMaster,
            Self::Backlog => Source::Backlog,
            Self::VibeKanban => Source::VibeKanban,
            Self::Github => Source::Github,
        }
    }
}

#[derive(Debug, Args)]
pub struct BackupArgs {
    /// Where the copy goes; a file that is there already is not overwritten
    pub file: PathBuf,
}

#[derive(Debug, Args)]
pub struct RestoreArgs {
    /// A copy that `baton backup` made
    pub file: PathBuf,
    /// Put it in the place of the store that is there; that one is kept beside it
    #[arg(long)]
    pub replace: bool,
}

//! `baton export`

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// Output format
    #[arg(long, value_enum, default_value = "jsonl")]
    pub(crate) format: ExportFormat,
    /// Only this project; required for html
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: Option<String>,
    /// Output file [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Include all events
    #[arg(long)]
    pub(crate) events: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// One JSON object per line
    Jsonl,
    /// A self-contained page: work done, agents, evidence, cost, timeline
    Html,
}

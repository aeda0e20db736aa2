//! What is typed to take everything out.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub struct ExportArgs {
    /// In which form
    #[arg(long, value_enum, default_value = "jsonl")]
    pub format: ExportFormat,
    /// Only this project; a report is always of one
    #[arg(long, value_name = "PROJECT")]
    pub project: Option<String>,
    /// Where it goes [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The whole history too, event by event
    #[arg(long)]
    pub events: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// One JSON object on each line
    Jsonl,
    /// A page that needs nothing else: what was done, by whom, evidence, cost, timeline
    Html,
}

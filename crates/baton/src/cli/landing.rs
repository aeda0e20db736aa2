//! `baton landing`

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct LandingArgs {
    /// Keep running and print the output of the checks as it comes, and what lands or is sent back; with --json, one object
    /// per line
    #[arg(long)]
    pub(crate) follow: bool,
}

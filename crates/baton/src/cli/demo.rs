//! `baton demo`

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Print the tour instead of opening a browser; needs no input
    #[arg(long)]
    pub(crate) headless: bool,
    /// Directory to run in; continues a demo that was interrupted there [default: a new directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
    /// Print the URL and do not open a browser
    #[arg(long, conflicts_with = "headless")]
    pub(crate) no_open: bool,
    /// Port of the web UI [default: any free port]
    #[arg(
        long,
        value_name = "PORT",
        default_value_t = 0,
        hide_default_value = true,
        conflicts_with = "headless"
    )]
    pub(crate) port: u16,
    /// Milliseconds an agent spends on a task; for tests
    #[arg(long, value_name = "MS", hide = true)]
    pub(crate) agent_ms: Option<u64>,
    /// Milliseconds before the demo decides by itself; for tests
    #[arg(long, value_name = "MS", hide = true)]
    pub(crate) patience_ms: Option<u64>,
}

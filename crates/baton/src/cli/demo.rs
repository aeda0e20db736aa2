//! What is typed to see Baton at work.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Print the story instead of showing it in a browser; nobody has to do anything
    #[arg(long)]
    pub headless: bool,
    /// Where to play it; a demo that was interrupted there goes on [default: a new folder]
    #[arg(long, value_name = "DIR")]
    pub folder: Option<PathBuf>,
    /// Only print where the pages are, and leave the browser closed
    #[arg(long, conflicts_with = "headless")]
    pub no_open: bool,
    /// The port of the pages on this machine [default: one that is free]
    #[arg(
        long,
        value_name = "PORT",
        default_value_t = 0,
        hide_default_value = true,
        conflicts_with = "headless"
    )]
    pub port: u16,
    /// Milliseconds an agent takes for one task; for tests
    #[arg(long, value_name = "MS", hide = true)]
    pub agent_ms: Option<u64>,
    /// Milliseconds a decision waits for a person before the demo takes it; for tests
    #[arg(long, value_name = "MS", hide = true)]
    pub patience_ms: Option<u64>,
}

//! `baton hold …`

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub enum HoldCommand {
    /// List what is held, why, and until when
    #[command(after_help = "Examples:\n  baton hold list")]
    List,
    /// Give the agent work again
    #[command(after_help = "Examples:\n  baton hold release claude")]
    Release {
        /// The agent, as the settings name it
        agent: String,
    },
}

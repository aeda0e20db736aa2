//! `baton hold …`

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum HoldCommand {
    /// List held agents, with the reason and the end of each hold
    #[command(after_help = "Examples:\n  baton hold list")]
    List,
    /// Release a hold, so that the agent gets work again
    #[command(after_help = "Examples:\n  baton hold release claude")]
    Release {
        /// Name of the agent in the settings
        agent: String,
    },
}

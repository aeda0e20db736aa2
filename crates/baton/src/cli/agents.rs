//! Arguments of `baton agents`.

use std::path::PathBuf;

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum AgentsCommand {
    /// List the agents Baton knows by name: how each is started, and whether its program is here
    #[command(after_help = "Examples:\n  baton agents list\n  baton --json agents list")]
    List,
    /// Learn agents from a registry of the Agent Client Protocol: a file with its JSON, or with that of one agent
    #[command(
        after_help = "Nothing is downloaded or installed. What the file names replaces what an earlier one did; agents that Baton \
                      knows by itself stay as they are.\n\nExamples:\n  baton agents update registry.json\n  baton agents update - < registry.json"
    )]
    Update {
        /// The file; - reads standard input
        file: PathBuf,
    },
}

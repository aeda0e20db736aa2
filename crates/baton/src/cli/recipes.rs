//! `baton recipe …`

use std::path::PathBuf;

use clap::Subcommand;
use clap_complete::engine::ArgValueCompleter;

use crate::cli::completion;

#[derive(Debug, Subcommand)]
pub enum RecipeCommand {
    /// List the recipes there are
    #[command(after_help = "Examples:\n  baton recipe list\n  baton recipe list --json")]
    List,
    /// Draw a recipe: its steps, what may be reported, and where that leads
    #[command(
        after_help = "Examples:\n  baton recipe show implement-and-review\n  baton recipe show work --mermaid"
    )]
    Show {
        /// The recipe, as `baton recipe list` names it
        #[arg(add = ArgValueCompleter::new(completion::recipes))]
        recipe: String,
        /// As a Mermaid state diagram
        #[arg(long)]
        mermaid: bool,
    },
    /// Look for faults; every one is named with file, line and column
    #[command(after_help = "Examples:\n  baton recipe check\n  baton recipe check .agent/recipes/tidy.yml")]
    Check {
        /// Recipe files [default: all in .agent/recipes]
        files: Vec<PathBuf>,
    },
    /// Start a recipe on a session
    #[command(
        after_help = "Examples:\n  baton recipe start document-design --message \"Sharing links that expire\""
    )]
    Start {
        /// The recipe, as `baton recipe list` names it
        #[arg(add = ArgValueCompleter::new(completion::recipes))]
        recipe: String,
        /// The conversation it runs on; one recipe at a time
        #[arg(long, default_value = "cli")]
        session: String,
        /// What it is to work on
        #[arg(long, value_name = "TEXT")]
        message: Option<String>,
    },
    /// Say something to the recipe that runs on a session; its agent hears it before it goes on
    #[command(after_help = "Examples:\n  baton recipe say \"Leave the public names as they are\"")]
    Say {
        /// What its agent shall hear
        text: String,
        /// The conversation it runs on
        #[arg(long, default_value = "cli")]
        session: String,
    },
    /// Stop the recipe that runs on a session, and its agent; work that is there is kept
    #[command(after_help = "Examples:\n  baton recipe exit\n  baton recipe exit --session login")]
    Exit {
        /// The conversation it runs on
        #[arg(long, default_value = "cli")]
        session: String,
    },
    /// Print the JSON Schema of recipe files, for editors
    #[command(after_help = "Examples:\n  baton recipe schema > .agent/recipe.schema.json")]
    Schema,
}

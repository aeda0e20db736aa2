//! `baton recipe …`

use std::path::PathBuf;

use clap::Subcommand;
use clap_complete::engine::ArgValueCompleter;

use crate::cli::completion;

#[derive(Debug, Subcommand)]
pub(crate) enum RecipeCommand {
    /// List recipes
    #[command(after_help = "Examples:\n  baton recipe list\n  baton recipe list --json")]
    List,
    /// Show the steps of a recipe, their outcomes and transitions
    #[command(
        after_help = "Examples:\n  baton recipe show implement-and-review\n  baton recipe show work --mermaid"
    )]
    Show {
        /// Recipe id, as listed by `baton recipe list`
        #[arg(add = ArgValueCompleter::new(completion::recipes))]
        recipe: String,
        /// Print a Mermaid state diagram
        #[arg(long)]
        mermaid: bool,
    },
    /// Check recipe files; errors are printed with file, line and column
    #[command(after_help = "Examples:\n  baton recipe check\n  baton recipe check .agent/recipes/tidy.yml")]
    Check {
        /// Recipe files [default: all in .agent/recipes]
        files: Vec<PathBuf>,
    },
    /// Start a recipe in a session
    #[command(
        after_help = "Examples:\n  baton recipe start document-design --message \"Sharing links that expire\""
    )]
    Start {
        /// Recipe id, as listed by `baton recipe list`
        #[arg(add = ArgValueCompleter::new(completion::recipes))]
        recipe: String,
        /// Session to run in; one recipe at a time
        #[arg(long, default_value = "cli")]
        session: String,
        /// What to work on
        #[arg(long, value_name = "TEXT")]
        message: Option<String>,
        /// Print what it does until it ends
        #[arg(long)]
        follow: bool,
    },
    /// List runs of recipes and loops, newest first
    #[command(after_help = "Examples:\n  baton recipe runs\n  baton recipe runs --open --json")]
    Runs {
        /// Only runs of this session
        #[arg(long)]
        session: Option<String>,
        /// Only runs that have not ended
        #[arg(long)]
        open: bool,
        /// Most runs to list
        #[arg(long, default_value_t = 20)]
        limit: u32,
    },
    /// Print what the running recipe does until it ends; fails if the run does
    #[command(after_help = "Examples:\n  baton recipe follow\n  baton recipe follow --session login --json")]
    Follow {
        /// Session the recipe runs in
        #[arg(long, default_value = "cli")]
        session: String,
    },
    /// Send a message to the running recipe; its agent reads it before the next step
    #[command(after_help = "Examples:\n  baton recipe say \"Do not rename public items\"")]
    Say {
        /// The message
        text: String,
        /// Session the recipe runs in
        #[arg(long, default_value = "cli")]
        session: String,
    },
    /// Stop the running recipe and its agent; work so far is kept
    #[command(after_help = "Examples:\n  baton recipe exit\n  baton recipe exit --session login")]
    Exit {
        /// Session the recipe runs in
        #[arg(long, default_value = "cli")]
        session: String,
    },
    /// Print the JSON Schema of recipe files, for editors
    #[command(after_help = "Examples:\n  baton recipe schema > .agent/recipe.schema.json")]
    Schema,
}

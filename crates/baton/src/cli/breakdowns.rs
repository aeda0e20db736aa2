//! `baton breakdown …`

use std::path::PathBuf;

use clap::Subcommand;
use clap_complete::engine::ArgValueCompleter;

use crate::cli::completion;

#[derive(Debug, Subcommand)]
pub enum BreakdownCommand {
    /// List the tasks that are to be broken down
    #[command(after_help = "Examples:\n  baton breakdown list")]
    List,
    /// Show a breakdown and its plan
    #[command(after_help = "Examples:\n  baton breakdown show TASK-9a69e916")]
    Show {
        /// The task, by id or the beginning of it
        #[arg(add = ArgValueCompleter::new(completion::tasks))]
        task: String,
    },
    /// Let an agent plan it
    #[command(after_help = "Examples:\n  baton breakdown run TASK-9a69e916")]
    Run {
        /// The task, by id or the beginning of it
        task: String,
    },
    /// Hand in a plan of your own: in your editor, or as YAML or JSON from a file
    #[command(
        after_help = "Examples:\n  baton breakdown edit TASK-9a69e916\n  echo '{\"items\": [{\"title\": \"First part\"}, {\"title\": \"Second part\", \"depends_on\": [1]}]}' | baton breakdown edit TASK-9a69e916 -"
    )]
    Edit {
        /// The task, by id or the beginning of it
        task: String,
        /// The plan, or - for standard input [default: opened in $VISUAL or $EDITOR]
        file: Option<PathBuf>,
    },
    /// Make the plan real: its subtasks take the place of the task
    #[command(after_help = "Examples:\n  baton breakdown approve TASK-9a69e916")]
    Approve {
        /// The task, by id or the beginning of it
        task: String,
    },
    /// Send the plan back with the reason
    #[command(
        after_help = "Examples:\n  baton breakdown reject TASK-9a69e916 --reason \"The first two belong together.\""
    )]
    Reject {
        /// The task, by id or the beginning of it
        task: String,
        /// What is wrong with it; whoever plans again is told
        #[arg(long)]
        reason: String,
    },
}

//! `baton breakdown …`

use std::path::PathBuf;

use clap::Subcommand;
use clap_complete::engine::ArgValueCompleter;

use crate::cli::completion;

#[derive(Debug, Subcommand)]
pub(crate) enum BreakdownCommand {
    /// List breakdowns and what each waits for
    #[command(after_help = "Examples:\n  baton breakdown list")]
    List,
    /// Show a breakdown and its plan
    #[command(after_help = "Examples:\n  baton breakdown show TASK-9a69e916")]
    Show {
        /// Task id, or a unique prefix of it
        #[arg(add = ArgValueCompleter::new(completion::tasks))]
        task: String,
    },
    /// Have an agent write the plan
    #[command(after_help = "Examples:\n  baton breakdown run TASK-9a69e916")]
    Run {
        /// Task id, or a unique prefix of it
        task: String,
    },
    /// Write or change the plan: in your editor, or from a YAML or JSON file
    #[command(
        after_help = "Examples:\n  baton breakdown edit TASK-9a69e916\n  echo '{\"items\": [{\"title\": \"First part\"}, {\"title\": \"Second part\", \"depends_on\": [1]}]}' | baton breakdown edit TASK-9a69e916 -"
    )]
    Edit {
        /// Task id, or a unique prefix of it
        task: String,
        /// The plan, or - for standard input [default: open $VISUAL or $EDITOR]
        file: Option<PathBuf>,
    },
    /// Approve the plan: its subtasks replace the task
    #[command(after_help = "Examples:\n  baton breakdown approve TASK-9a69e916")]
    Approve {
        /// Task id, or a unique prefix of it
        task: String,
    },
    /// Reject the plan with a reason
    #[command(
        after_help = "Examples:\n  baton breakdown reject TASK-9a69e916 --reason \"Merge the first two items.\""
    )]
    Reject {
        /// Task id, or a unique prefix of it
        task: String,
        /// What is wrong; the next planner sees this
        #[arg(long)]
        reason: String,
    },
}

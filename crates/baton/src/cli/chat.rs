//! `baton chat`

use std::path::PathBuf;

use baton_core::base::task_type::TaskType;
use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct ChatArgs {
    /// The message; it becomes a task
    pub(crate) text: String,
    /// Session to post to [default: the project's own]
    #[arg(long)]
    pub(crate) session: Option<String>,
    /// Task type [default: guessed from the text]
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) task_type: Option<TaskType>,
    /// Recipe to run [default: work]
    #[arg(long)]
    pub(crate) recipe: Option<String>,
    /// A file for the agent, such as a screenshot; may be repeated
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(crate) attach: Vec<PathBuf>,
}

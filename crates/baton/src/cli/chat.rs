//! `baton chat`

use baton_core::task_type::TaskType;
use clap::Args;

#[derive(Debug, Args)]
pub struct ChatArgs {
    /// The message; it becomes a task
    pub text: String,
    /// The conversation it belongs to [default: the project's own]
    #[arg(long)]
    pub session: Option<String>,
    /// What kind of work it is [default: guessed from the words]
    #[arg(long = "type", value_name = "TYPE")]
    pub task_type: Option<TaskType>,
    /// The recipe it is done by [default: work]
    #[arg(long)]
    pub recipe: Option<String>,
}

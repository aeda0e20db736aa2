//! What is typed to change what a task says.

use baton_core::priority::Priority;
use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use crate::cli::completion;

#[derive(Debug, Args)]
pub struct EditArgs {
    /// The task, by id or the beginning of it
    #[arg(add = ArgValueCompleter::new(completion::tasks))]
    pub task: String,
    /// Its title
    #[arg(long)]
    pub title: Option<String>,
    /// What there is to do, or - for standard input
    #[arg(long, alias = "instruction", value_name = "TEXT")]
    pub description: Option<String>,
    /// How much it matters, P0 first, P3 last
    #[arg(long)]
    pub priority: Option<Priority>,
    /// A task it has to wait for, too; may be given more than once, as long as nobody has begun
    #[arg(long, alias = "depends-on", value_name = "TASK", add = ArgValueCompleter::new(completion::tasks))]
    pub after: Vec<String>,
}

impl EditArgs {
    /// Whether it is all said on the command line.
    pub fn has_flags(&self) -> bool {
        self.title.is_some()
            || self.description.is_some()
            || self.priority.is_some()
            || !self.after.is_empty()
    }
}

//! `baton task edit`

use baton_core::base::priority::Priority;
use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use crate::cli::completion;

#[derive(Debug, Args)]
pub(crate) struct EditArgs {
    /// Task id, or a unique prefix of it
    #[arg(add = ArgValueCompleter::new(completion::tasks))]
    pub(crate) task: String,
    /// New title
    #[arg(long)]
    pub(crate) title: Option<String>,
    /// New description, or - for standard input
    #[arg(long, alias = "instruction", value_name = "TEXT")]
    pub(crate) description: Option<String>,
    /// New priority: P0 is the most urgent, P3 the least
    #[arg(long)]
    pub(crate) priority: Option<Priority>,
    /// Add a dependency on this task; repeatable, until the first attempt starts
    #[arg(long, alias = "depends-on", value_name = "TASK", add = ArgValueCompleter::new(completion::tasks))]
    pub(crate) after: Vec<String>,
    /// Remove the dependency on this task; repeatable
    #[arg(long, value_name = "TASK", add = ArgValueCompleter::new(completion::tasks))]
    pub(crate) not_after: Vec<String>,
}

impl EditArgs {
    /// Whether the flags say everything, so that no editor is needed.
    pub(crate) fn has_flags(&self) -> bool {
        self.title.is_some()
            || self.description.is_some()
            || self.priority.is_some()
            || !self.after.is_empty()
            || !self.not_after.is_empty()
    }
}

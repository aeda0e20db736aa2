//! `baton questions`, `baton answer`

use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use crate::cli::completion;

#[derive(Debug, Args)]
pub(crate) struct QuestionsArgs {
    /// Keep running and print new questions; with --json, one object per line
    #[arg(long, conflicts_with = "cursor")]
    pub(crate) follow: bool,
    /// Most questions to list
    #[arg(long, default_value_t = 200)]
    pub(crate) limit: u32,
    /// Cursor of the next page, as printed by the previous one
    #[arg(long)]
    pub(crate) cursor: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct AnswerArgs {
    /// Question id or a unique prefix of one, or - to read `QUESTION TEXT` lines from standard input
    #[arg(required_unless_present = "queue", conflicts_with = "queue", add = ArgValueCompleter::new(completion::questions))]
    pub(crate) question: Option<String>,
    /// The answer: one of the options, or any text if the question allows it
    #[arg(conflicts_with = "queue")]
    pub(crate) text: Vec<String>,
    /// Queue this answer for the next question that it fits
    #[arg(long, value_name = "TEXT")]
    pub(crate) queue: Option<String>,
    /// Session whose questions it may answer
    #[arg(long, requires = "queue", default_value = "cli")]
    pub(crate) session: String,
    /// Only for questions of this task
    #[arg(long, requires = "queue", conflicts_with = "session")]
    pub(crate) task: Option<String>,
}

//! `baton questions`, `baton answer`

use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use crate::cli::completion;

#[derive(Debug, Args)]
pub struct QuestionsArgs {
    /// Go on, and print new questions as they come; with --json one object on each line
    #[arg(long, conflicts_with = "cursor")]
    pub follow: bool,
    /// How many at most
    #[arg(long, default_value_t = 200)]
    pub limit: u32,
    /// Go on where the previous page ended
    #[arg(long)]
    pub cursor: Option<String>,
}

#[derive(Debug, Args)]
pub struct AnswerArgs {
    /// The question's id, or - for one `QUESTION TEXT` on each line of standard input
    #[arg(required_unless_present = "queue", conflicts_with = "queue", add = ArgValueCompleter::new(completion::questions))]
    pub question: Option<String>,
    /// The answer: one of the words offered, or any text where the question takes it
    #[arg(conflicts_with = "queue")]
    pub text: Vec<String>,
    /// Lay an answer down for a question still to come; the first it fits gets it
    #[arg(long, value_name = "TEXT")]
    pub queue: Option<String>,
    /// The conversation whose questions it is for
    #[arg(long, requires = "queue", default_value = "cli")]
    pub session: String,
    /// Only for questions of this task
    #[arg(long, requires = "queue", conflicts_with = "session")]
    pub task: Option<String>,
}

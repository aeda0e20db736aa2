//! `baton task …`

use std::path::PathBuf;

use baton_core::priority::Priority;
use baton_core::task_type::TaskType;
use baton_core::text::Label;
use clap::Subcommand;
use clap_complete::engine::ArgValueCompleter;

use crate::cli::completion;
use crate::cli::edit::EditArgs;

#[derive(Debug, Subcommand)]
pub enum TaskCommand {
    /// Put a task into the queue
    // Projects, tokens and much else are created; whoever types that here means the same.
    #[command(
        alias = "create",
        after_help = "Examples:\n  baton task add \"Fix the login\" --description \"It fails on Mondays.\" --priority P1"
    )]
    Add {
        /// What is to be done, in a line
        title: String,
        /// What its machine must have, as `baton worker --label` says; may be given more than once
        #[arg(long = "needs", value_name = "LABEL")]
        needs: Vec<Label>,
        /// The project it belongs to
        #[arg(long, value_name = "PROJECT", add = ArgValueCompleter::new(completion::projects))]
        project: Option<String>,
        /// More of it, for the agent
        #[arg(long, default_value = "")]
        description: String,
        /// What kind of work it is
        #[arg(long = "type", value_name = "TYPE", default_value = "IMPLEMENTATION")]
        task_type: TaskType,
        /// How urgent it is: P0 first, P3 last
        #[arg(long, default_value = "P2")]
        priority: Priority,
        /// A task it has to wait for; may be given more than once
        #[arg(long = "after", value_name = "TASK")]
        depends_on: Vec<String>,
        /// The conversation it belongs to
        /// [default: cli, or the project's own]
        #[arg(long)]
        session: Option<String>,
        /// The recipe it is done by [default: work]
        #[arg(long)]
        recipe: Option<String>,
    },
    /// List tasks, oldest first
    #[command(
        after_help = "Examples:\n  baton task list\n  baton task list --queue done --limit 10\n  baton task list --json"
    )]
    List {
        /// Only this queue: incoming, claimed, provisional, done, …
        #[arg(long)]
        queue: Option<String>,
        /// How many at most
        #[arg(long, default_value_t = 50)]
        limit: u32,
        /// Go on where the previous page ended
        #[arg(long)]
        cursor: Option<String>,
    },
    /// Show everything about one task
    #[command(
        after_help = "Examples:\n  baton task show TASK-9a69e916\n  baton task show 9a69            the beginning is enough"
    )]
    Show {
        /// The task, by id or the beginning of it
        #[arg(add = ArgValueCompleter::new(completion::tasks))]
        task: String,
    },
    /// Change what a task says, in your editor or by flags; nobody may be at work on it
    #[command(
        after_help = "What you wrote is never lost: where it cannot be used, it stays in a file that is named, and the \
                      next edit goes on with it.\n\nExamples:\n  baton task edit TASK-9a69e916\n  baton task edit \
                      TASK-9a69e916 --priority P0\n  baton task edit TASK-9a69e916 --description - < goal.md"
    )]
    Edit(EditArgs),
    /// What could be started now, in the order it would be
    #[command(after_help = "Examples:\n  baton task ready\n  baton task ready --limit 1 --json")]
    Ready {
        /// How many at most
        #[arg(long, default_value_t = 20)]
        limit: u32,
    },
    /// Answer the question a task waits on
    #[command(after_help = "Examples:\n  baton task reply TASK-9a69e916 \"Use the second one.\"")]
    Reply {
        /// The task, by id or the beginning of it
        #[arg(add = ArgValueCompleter::new(completion::tasks))]
        task: String,
        /// The answer
        text: String,
    },
    /// Give a task up; what it wrote is kept
    #[command(after_help = "Examples:\n  baton task cancel TASK-9a69e916 --reason \"Not needed any more\"")]
    Cancel {
        /// The task, by id or the beginning of it
        #[arg(add = ArgValueCompleter::new(completion::tasks))]
        task: String,
        /// Why; it is kept in the history
        #[arg(long)]
        reason: Option<String>,
    },
    /// Try a failed task again
    #[command(after_help = "Examples:\n  baton task retry TASK-9a69e916")]
    Retry {
        /// The task, by id or the beginning of it
        #[arg(add = ArgValueCompleter::new(completion::tasks))]
        task: String,
    },
    /// What the agent of a task's last attempt wrote
    #[command(
        after_help = "Examples:\n  baton task log TASK-9a69e916\n  baton task log TASK-9a69e916 | tail"
    )]
    Log {
        /// The task, by id or the beginning of it
        #[arg(add = ArgValueCompleter::new(completion::tasks))]
        task: String,
    },
    /// What a task changed
    #[command(
        after_help = "Examples:\n  baton task diff TASK-9a69e916\n  baton task diff TASK-9a69e916 | git apply --stat"
    )]
    Diff {
        /// The task, by id or the beginning of it
        #[arg(add = ArgValueCompleter::new(completion::tasks))]
        task: String,
    },
    /// Bring back everything an attempt had in its worktree
    #[command(after_help = "Examples:\n  baton task restore ATT-0123456789abcdef ./found")]
    Restore {
        /// The attempt, as `baton task show --json` names it
        attempt: String,
        /// A folder that does not exist yet
        into: PathBuf,
    },
}

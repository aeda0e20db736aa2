//! `baton task …`

use std::path::PathBuf;

use baton_core::base::accept_policy::AcceptPolicy;
use baton_core::base::priority::Priority;
use baton_core::base::task_type::TaskType;
use baton_core::base::text::Label;
use clap::Subcommand;
use clap_complete::engine::ArgValueCompleter;

use crate::cli::completion;
use crate::cli::edit::EditArgs;

#[derive(Debug, Subcommand)]
pub(crate) enum TaskCommand {
    /// Add a task to the queue
    // Other nouns have `create`; accept it here too.
    #[command(
        alias = "create",
        after_help = "Examples:\n  baton task add \"Fix the login\" --description \"It fails on Mondays.\" --priority P1\n  baton task add \"Publish the release\" --at 06:00 --time-zone Europe/Berlin"
    )]
    Add {
        /// Title, one line
        title: String,
        /// Label the machine must have (see `baton worker --label`); repeatable
        #[arg(long = "needs", value_name = "LABEL")]
        needs: Vec<Label>,
        /// Project the task belongs to
        #[arg(long, value_name = "PROJECT", add = ArgValueCompleter::new(completion::projects))]
        project: Option<String>,
        /// Description, for the agent; - reads it from standard input
        #[arg(long, default_value = "")]
        description: String,
        /// Task type
        #[arg(long = "type", value_name = "TYPE", default_value = "IMPLEMENTATION")]
        task_type: TaskType,
        /// Priority: P0 is the most urgent, P3 the least
        #[arg(long, default_value = "P2")]
        priority: Priority,
        /// Task that must be done first; repeatable
        #[arg(long = "after", alias = "depends-on", value_name = "TASK")]
        depends_on: Vec<String>,
        /// Session the task belongs to [default: cli, or the project's own]
        #[arg(long)]
        session: Option<String>,
        /// Recipe to run [default: work]
        #[arg(long)]
        recipe: Option<String>,
        /// Shell command that must pass before the work lands, and should fail without it; repeatable
        #[arg(long, value_name = "COMMAND")]
        verify: Vec<String>,
        /// Who accepts the work: person, green or reviewed [default: from the settings]
        #[arg(long, value_name = "POLICY")]
        accept_when: Option<AcceptPolicy>,
        /// Start it then: 2026-11-18T06:00, or 06:00 for the next time it is that late
        #[arg(long, value_name = "TIME", conflicts_with = "within")]
        at: Option<String>,
        /// Start it after this time: 2h30m, 3d
        #[arg(long = "in", value_name = "DURATION")]
        within: Option<String>,
        /// Time zone of --at, such as Europe/Berlin [default: that of this machine]
        #[arg(long, value_name = "ZONE", requires = "at")]
        time_zone: Option<String>,
        /// Agent for it [default: that of its role]
        #[arg(long, value_name = "AGENT")]
        agent: Option<String>,
        /// Model for it, for agents that let it be chosen
        #[arg(long, value_name = "MODEL")]
        model: Option<String>,
        /// Wait for its agent instead of giving it to a fallback
        #[arg(long)]
        no_fallback: bool,
    },
    /// List tasks, oldest first
    #[command(
        after_help = "Examples:\n  baton task list\n  baton task list --queue done --limit 10\n  baton task list --json"
    )]
    List {
        /// Only this queue: incoming, claimed, provisional, done, …
        #[arg(long)]
        queue: Option<String>,
        /// Most tasks to list
        #[arg(long, default_value_t = 50)]
        limit: u32,
        /// Cursor of the next page, as printed by the previous one
        #[arg(long)]
        cursor: Option<String>,
    },
    /// Show everything about one task
    #[command(
        after_help = "Examples:\n  baton task show TASK-9a69e916\n  baton task show 9a69            a unique prefix is enough\n  baton task show 9a69 --checks   with what the checks printed"
    )]
    Show {
        /// Task id, or a unique prefix of it
        #[arg(add = ArgValueCompleter::new(completion::tasks))]
        task: String,
        /// Show what the checks printed, those that passed included
        #[arg(long)]
        checks: bool,
    },
    /// Edit a task in your editor or by flags; it must not be running
    #[command(
        after_help = "If the edit cannot be applied, your text stays in a file that is named, and the next edit continues \
                      from there.\n\nExamples:\n  baton task edit TASK-9a69e916\n  baton task edit \
                      TASK-9a69e916 --priority P0\n  baton task edit TASK-9a69e916 --description - < goal.md"
    )]
    Edit(EditArgs),
    /// List the tasks that can start now, in order
    #[command(after_help = "Examples:\n  baton task ready\n  baton task ready --limit 1 --json")]
    Ready {
        /// Most tasks to list
        #[arg(long, default_value_t = 20)]
        limit: u32,
    },
    /// Answer the question a task waits for
    #[command(after_help = "Examples:\n  baton task reply TASK-9a69e916 \"Use the second one.\"")]
    Reply {
        /// Task id, or a unique prefix of it
        #[arg(add = ArgValueCompleter::new(completion::tasks))]
        task: String,
        /// The answer
        text: String,
    },
    /// Cancel a task; its work is kept
    #[command(after_help = "Examples:\n  baton task cancel TASK-9a69e916 --reason \"Not needed any more\"")]
    Cancel {
        /// Task id, or a unique prefix of it
        #[arg(add = ArgValueCompleter::new(completion::tasks))]
        task: String,
        /// Reason, recorded in the history
        #[arg(long)]
        reason: Option<String>,
    },
    /// Retry a failed task, or bring a cancelled one back
    #[command(after_help = "Examples:\n  baton task retry TASK-9a69e916")]
    Retry {
        /// Task id, or a unique prefix of it
        #[arg(add = ArgValueCompleter::new(completion::tasks))]
        task: String,
    },
    /// Keep agents from a task until you release it; a running one is stopped and its work is kept
    #[command(after_help = "Examples:\n  baton task hold TASK-9a69e916 --reason \"Not this week\"")]
    Hold {
        /// Task id, or a unique prefix of it
        #[arg(add = ArgValueCompleter::new(completion::tasks))]
        task: String,
        /// Reason, shown with the task
        #[arg(long)]
        reason: Option<String>,
    },
    /// Let agents start a held task: one you stopped, held or left open in a loop
    #[command(after_help = "Examples:\n  baton task release TASK-9a69e916")]
    Release {
        /// Task id, or a unique prefix of it
        #[arg(add = ArgValueCompleter::new(completion::tasks))]
        task: String,
    },
    /// Print the agent's log of the last attempt
    #[command(after_help = "Examples:\n  baton task log TASK-9a69e916\n  baton task log -f TASK-9a69e916")]
    Log {
        /// Task id, or a unique prefix of it
        #[arg(add = ArgValueCompleter::new(completion::tasks))]
        task: String,
        /// Keep printing what the agent writes, until it ends
        #[arg(short, long)]
        follow: bool,
    },
    /// Print the changes a task made
    #[command(
        after_help = "Examples:\n  baton task diff TASK-9a69e916\n  baton task diff TASK-9a69e916 | git apply --stat"
    )]
    Diff {
        /// Task id, or a unique prefix of it
        #[arg(add = ArgValueCompleter::new(completion::tasks))]
        task: String,
    },
    /// Restore the files of an attempt's worktree
    #[command(after_help = "Examples:\n  baton task restore ATT-0123456789abcdef ./found")]
    Restore {
        /// Attempt id, as printed by `baton task show --json`
        attempt: String,
        /// New directory to restore into
        into: PathBuf,
    },
}

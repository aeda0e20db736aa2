//! `baton routine …`

use baton_core::base::priority::Priority;
use baton_core::routine::{CatchUp, Overlap};
use clap::{Args, Subcommand};
use clap_complete::engine::ArgValueCompleter;

use crate::cli::completion;

#[derive(Debug, Subcommand)]
pub(crate) enum RoutineCommand {
    /// Add a routine: work that starts by time or by event
    #[command(
        after_help = "Examples:\n  baton routine add \"Update dependencies\" --every \"Mon 06:00\" --time-zone Europe/Berlin\n  baton routine add \"Look for flaky tests\" --cron \"0 3 * * *\" --overlap queue\n  baton routine add \"Review what was merged\" --on ref:main\n  baton routine add \"Update the changelog\" --on task:done\n  baton routine add \"Look at the alert\" --on webhook"
    )]
    Add(Box<RoutineArgs>),
    /// List routines, with their next and last runs
    #[command(after_help = "Examples:\n  baton routine list")]
    List,
    /// Stop a routine until it is resumed
    #[command(after_help = "Examples:\n  baton routine pause RTN-0badcafe")]
    Pause {
        /// Routine id, or a unique prefix of it
        routine: String,
    },
    /// Let a paused routine run again from now on
    #[command(after_help = "Examples:\n  baton routine resume RTN-0badcafe")]
    Resume {
        /// Routine id, or a unique prefix of it
        routine: String,
    },
    /// Remove a routine; its tasks stay
    #[command(after_help = "Examples:\n  baton routine remove RTN-0badcafe")]
    Remove {
        /// Routine id, or a unique prefix of it
        routine: String,
    },
    /// Run a routine now
    #[command(after_help = "Examples:\n  baton routine run RTN-0badcafe \"The nightly build failed\"")]
    Run {
        /// Routine id, or a unique prefix of it
        routine: String,
        /// For the agent: why it runs now
        #[arg(default_value = "")]
        content: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct RoutineArgs {
    /// Title of each task
    pub(crate) title: String,
    /// What each task is to do
    #[arg(long, default_value = "")]
    pub(crate) description: String,
    /// When, in words: "Mon 06:00", "weekday 07:00", "06:00", "hour", "15 minutes"
    #[arg(long, value_name = "TIME", required_unless_present_any = ["cron", "on"], conflicts_with_all = ["cron", "on"])]
    pub(crate) every: Option<String>,
    /// When, as in crontab: minute, hour, day of the month, month, day of the week
    #[arg(long, value_name = "FIELDS", conflicts_with = "on")]
    pub(crate) cron: Option<String>,
    /// After an event: ref:BRANCH, webhook or task:done
    #[arg(long, value_name = "EVENT")]
    pub(crate) on: Option<String>,
    /// Time zone, such as Europe/Berlin [default: that of this machine]
    #[arg(long, value_name = "ZONE")]
    pub(crate) time_zone: Option<String>,
    /// What happens when the last run is not over: skip, queue or replace
    #[arg(long, default_value_t = Overlap::default())]
    pub(crate) overlap: Overlap,
    /// What happens to runs that were missed: none, one or all
    #[arg(long, default_value_t = CatchUp::default())]
    pub(crate) catch_up: CatchUp,
    /// Project of the tasks [default: none]
    #[arg(long, value_name = "PROJECT", add = ArgValueCompleter::new(completion::projects))]
    pub(crate) project: Option<String>,
    /// Type of the tasks [default: found out from the words]
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) task_type: Option<String>,
    /// Priority of the tasks
    #[arg(long, default_value_t = Priority::default())]
    pub(crate) priority: Priority,
    /// Recipe of the tasks [default: work]
    #[arg(long)]
    pub(crate) recipe: Option<String>,
}

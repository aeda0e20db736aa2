//! Why an attempt could not run. None of these is the task's fault.

use baton_core::base::explanation::Explanation;
use baton_core::base::text::{AgentName, Role};
use baton_core::base::time::Timestamp;
use baton_core::explained;

use crate::base::error::ErrorKind;
use crate::base::refusals::failure;

#[derive(Debug, thiserror::Error)]
pub enum AttemptError {
    #[error("no agent is set up for the role {role}")]
    NoAgent { role: Role },
    #[error("an attempt stopped unexpectedly: {detail}")]
    Panicked { detail: String },
    #[error("cannot set up the worktree. {output}")]
    SetupFailed { output: String },
    #[error("cannot clean up the worktree, so it stays. {output}")]
    CleanupFailed { output: String },
    #[error("{account} gets no work until {until}")]
    AccountClosed { account: AgentName, until: Timestamp },
    #[error("the account {account} needs the variable {variable}, which is not set where Baton runs")]
    NoVariable { account: AgentName, variable: String },
    #[error("cannot put the file {name} into the worktree: {detail}")]
    NotAttached { name: String, detail: String },
}

failure! {
    AttemptError { |it|
        kind: match it {
            Self::NoAgent { .. }
            | Self::Panicked { .. }
            | Self::SetupFailed { .. }
            | Self::CleanupFailed { .. }
            | Self::AccountClosed { .. }
            | Self::NoVariable { .. }
            | Self::NotAttached { .. } => ErrorKind::Internal
        },
        hint: match it {
            Self::NoAgent { role } => format!(
                "add an agent to .agent/baton.toml and name it under [roles.{role}] or as default_agent"
            ),
            Self::Panicked { .. } => "its task goes back to the queue; the log has more".to_owned(),
            Self::SetupFailed { .. } => {
                "fix the task that [worktree] setup names; it runs in a fresh worktree, before the agent".to_owned()
            }
            Self::CleanupFailed { .. } => {
                "fix the task that [worktree] cleanup names; it runs in the worktree, before that is removed".to_owned()
            }
            Self::AccountClosed { .. } => "its task goes back to the queue and starts when it opens".to_owned(),
            Self::NoVariable { variable, .. } => {
                format!("set {variable} and start Baton again, or correct env of the account in the settings")
            }
            Self::NotAttached { .. } => "check the disk of the machine that runs the agent".to_owned(),
        },
        explained: it.explained(),
    }
}

explained! { AttemptError {
    Self::NoAgent { .. } => Explanation {
        code: "no_agent",
        means: "No agent is set up for this work.",
        cause: "Neither the role nor default_agent names an agent that exists.",
        next: "`baton init` writes the settings with the agents it finds; `baton doctor` says what is wrong with them.",
    },
    Self::Panicked { .. } => Explanation {
        code: "runner",
        means: "The part of Baton that supervises one agent stopped unexpectedly.",
        cause: "A bug in Baton, or no memory left.",
        next: "The task goes back to the queue by itself. Please report it with the message.",
    },
    Self::SetupFailed { .. } => Explanation {
        code: "set_up",
        means: "The command that prepares a fresh worktree failed, so no agent was started in it.",
        cause: "`[worktree] setup` names a task of .agent/Taskfile.yml that failed; its output is in the message. \
                Neither the task nor the agent is blamed; no task of the project starts until you have answered.",
        next: "Run it by hand in a fresh clone (`baton do NAME`), fix it, and answer the question in the inbox.",
    },
    Self::CleanupFailed { .. } => Explanation {
        code: "clean_up",
        means: "The command that runs before a worktree is removed failed, so the worktree was not removed.",
        cause: "`[worktree] cleanup` names a task of .agent/Taskfile.yml that failed; its output is in the message.",
        next: "Fix it; it is tried again by itself.",
    },
    Self::AccountClosed { .. } => Explanation {
        code: "account_closed",
        means: "Between the claim of a task and the start of its agent, the account was put on hold.",
        cause: "Another agent on the same account met a limit just then, or its quiet hours began.",
        next: "Nothing: the task goes back to the queue without blame. `baton accounts` shows when the account opens.",
    },
    Self::NoVariable { .. } => Explanation {
        code: "no_variable",
        means: "An account takes a variable of its agent from one that is not set.",
        cause: "`[accounts.NAME] env` names a variable that the process of Baton does not have.",
        next: "Set it in the environment of `baton up` or `baton worker`, or correct its name in the settings.",
    },
    Self::NotAttached { .. } => Explanation {
        code: "not_attached",
        means: "A file that came with a message could not be written where the agent reads it.",
        cause: "The disk is full, or an earlier agent of the task put something else in the place of the folder.",
        next: "Check the disk. `baton task retry` starts in a fresh worktree.",
    },
} }

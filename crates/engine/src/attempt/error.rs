//! Why an attempt could not run. None of these is the task's fault.

use baton_core::base::explanation::Explanation;
use baton_core::base::text::Role;
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
}

failure! {
    AttemptError { |it|
        kind: match it {
            Self::NoAgent { .. } | Self::Panicked { .. } | Self::SetupFailed { .. } => ErrorKind::Internal,
        },
        hint: match it {
            Self::NoAgent { role } => format!(
                "add an agent to .agent/baton.toml and name it under [roles.{role}] or as default_agent"
            ),
            Self::Panicked { .. } => "its task goes back to the queue; the log has more".to_owned(),
            Self::SetupFailed { .. } => {
                "fix the task that [worktree] setup names; it runs in a fresh worktree, before the agent".to_owned()
            }
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
        cause: "`[worktree] setup` names a task of .agent/Taskfile.yml that failed; its output is in the message. The \
                task is not blamed; after two failures in a row the agent is put on hold.",
        next: "Run it by hand in a fresh clone (`baton do NAME`) and fix it; `baton hold list` shows the holds.",
    },
} }

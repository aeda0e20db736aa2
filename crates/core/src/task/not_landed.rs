//! Why accepted work did not land.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

use crate::base::git_name::{BranchName, CommitId};
use crate::base::id::TaskId;
use crate::base::text::NonBlank;
use crate::task::attempt::CheckResult;

/// A task whose work met another's on the way into the branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MetTask {
    pub task_id: TaskId,
    pub title: NonBlank,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum NotLanded {
    /// The checks pass on the branch and fail on it together with this work.
    ChecksFailed {
        into: BranchName,
        /// What was checked, and what it was built on.
        commit: CommitId,
        base: CommitId,
        /// Those that failed.
        checks: Vec<CheckResult>,
        met: Vec<MetTask>,
        /// Digest of the checks.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        suite: Option<String>,
        /// The protected files that the work changes. The checks also ran with those of the branch in their place.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        protected: Vec<String>,
    },
    Conflict {
        into: BranchName,
        files: Vec<String>,
        met: Vec<MetTask>,
    },
    /// The task's branch does not lead to the commit that was verified.
    Moved {
        verified: CommitId,
        tip: CommitId,
    },
    /// The commands that verify the task pass without it too, and no person has accepted it.
    ProvesNothing {
        /// What the task started from.
        base: CommitId,
        commands: Vec<NonBlank>,
    },
    /// It was started on the work of a task that has been cancelled since, and contains it.
    RestsOnCancelled {
        task_id: TaskId,
    },
    /// The checks fail on the branch even without this work.
    BranchFails {
        into: BranchName,
        base: CommitId,
        checks: Vec<CheckResult>,
    },
    /// The checks fail on the branch together with the person's own commits that the work started from, even without it.
    StartFails {
        into: BranchName,
        /// The person's commit.
        base: CommitId,
        checks: Vec<CheckResult>,
    },
}

impl NotLanded {
    /// Whether the task's agent can do anything about it.
    pub const fn is_fault_of_task(&self) -> bool {
        match self {
            // Whether the files that judge it may change is a person's decision.
            Self::ChecksFailed { protected, .. } => protected.is_empty(),
            Self::Conflict { .. } | Self::Moved { .. } => true,
            Self::BranchFails { .. }
            | Self::StartFails { .. }
            | Self::ProvesNothing { .. }
            | Self::RestsOnCancelled { .. } => false,
        }
    }

    /// Whether the work keeps its place in the lane because of it: the checks fail without the work.
    pub const fn is_delay(&self) -> bool {
        match self {
            Self::BranchFails { .. } | Self::StartFails { .. } => true,
            Self::ChecksFailed { .. }
            | Self::Conflict { .. }
            | Self::Moved { .. }
            | Self::ProvesNothing { .. }
            | Self::RestsOnCancelled { .. } => false,
        }
    }

    pub fn met(&self) -> &[MetTask] {
        match self {
            Self::ChecksFailed { met, .. } | Self::Conflict { met, .. } => met,
            Self::Moved { .. }
            | Self::BranchFails { .. }
            | Self::StartFails { .. }
            | Self::ProvesNothing { .. }
            | Self::RestsOnCancelled { .. } => &[],
        }
    }

    /// Whether it is the same reason as far as people are concerned: the output of a check differs from run to run.
    pub fn says_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::BranchFails { base, .. }, Self::BranchFails { base: other_base, .. })
            | (Self::StartFails { base, .. }, Self::StartFails { base: other_base, .. }) => {
                base == other_base && self.headline() == other.headline()
            }
            (one, other) => one == other,
        }
    }

    /// In one line, for lists.
    pub fn headline(&self) -> String {
        match self {
            Self::ChecksFailed { into, checks, met, .. } => {
                let names: Vec<&str> = checks.iter().map(|check| check.name.as_str()).collect();
                let verb = if names.len() == 1 { "check fails" } else { "checks fail" };
                format!("{verb} on {into}{}: {}", together_with(met), names.join(", "))
            }
            Self::Conflict { into, files, met } => {
                format!("conflicts with {into}{} in {}", together_with(met), files.join(", "))
            }
            Self::Moved { .. } => "its branch has moved since it was verified".to_owned(),
            Self::ProvesNothing { commands, .. } => {
                format!(
                    "what verifies it passes without the work too, so a person decides: {}",
                    list(commands)
                )
            }
            Self::RestsOnCancelled { task_id } => {
                format!("it contains the work of {task_id}, which was cancelled")
            }
            Self::BranchFails { into, checks, .. } => {
                let names: Vec<&str> = checks.iter().map(|check| check.name.as_str()).collect();
                format!("{into} itself fails its checks ({}), without this task", names.join(", "))
            }
            Self::StartFails { into, base, checks } => {
                let names: Vec<&str> = checks.iter().map(|check| check.name.as_str()).collect();
                format!(
                    "your commit {}, which it started from, fails the checks of {into} ({}), without this task",
                    base.short(),
                    names.join(", ")
                )
            }
        }
    }

    /// Everything that is known, for an agent or a person who has to deal with it.
    pub fn describe(&self) -> String {
        let mut text = String::new();
        match self {
            Self::ChecksFailed { into, base, checks, met, protected, .. } => {
                let _ = writeln!(
                    text,
                    "The checks pass on the branch {into} (at {base}) and fail on it together with this work."
                );
                if !protected.is_empty() {
                    let _ = writeln!(
                        text,
                        "The work changes protected files, which the checks take from the branch: {}. A person decides: forced once \
                         more it is merged past the checks.",
                        protected.join(", ")
                    );
                }
                list_met(&mut text, met);
                print_checks(&mut text, checks);
            }
            Self::Conflict { into, files, met } => {
                let _ = writeln!(
                    text,
                    "These files conflict with the branch {into}, which it is to be merged into:"
                );
                for file in files {
                    let _ = writeln!(text, "- {file}");
                }
                list_met(&mut text, met);
            }
            Self::Moved { verified, tip } => {
                let _ = writeln!(
                    text,
                    "The branch of the task has moved since it was verified: it was at {verified} and is at {tip}."
                );
            }
            Self::ProvesNothing { base, commands } => {
                let _ = writeln!(
                    text,
                    "The commands that are to verify this task pass on {base}, where it started, so they do not show that it is \
                     done: {}. Look at the work, and accept or reject it.",
                    list(commands)
                );
            }
            Self::RestsOnCancelled { task_id } => {
                let _ = writeln!(
                    text,
                    "It was started on the work of {task_id} and contains it, and {task_id} was cancelled before it landed. Bring \
                     that one back (baton task retry {task_id}), or cancel this one and add it anew."
                );
            }
            Self::BranchFails { into, base, checks } => {
                let _ = writeln!(
                    text,
                    "The checks fail on the branch {into} (at {base}) even without this work. It waits and lands when the branch \
                     passes again."
                );
                print_checks(&mut text, checks);
            }
            Self::StartFails { into, base, checks } => {
                let _ = writeln!(
                    text,
                    "The work started from the commit {base} of your own branch, and the checks fail on the branch {into} together \
                     with that commit, even without this work. Repair your branch and merge {into} into it; the work then lands by itself."
                );
                print_checks(&mut text, checks);
            }
        }
        text
    }
}

fn list(commands: &[NonBlank]) -> String {
    commands.iter().map(|command| format!("`{command}`")).collect::<Vec<_>>().join(", ")
}

fn together_with(met: &[MetTask]) -> String {
    match met {
        [] => String::new(),
        [only] => format!(" together with {}", only.task_id),
        [.., last] => format!(" together with {} and {} more", last.task_id, met.len() - 1),
    }
}

fn list_met(text: &mut String, met: &[MetTask]) {
    if met.is_empty() {
        return;
    }
    text.push_str("\nWork of other tasks that it met there, newest last:\n");
    for MetTask { task_id, title } in met {
        let _ = writeln!(text, "- {task_id}: {title}");
    }
}

fn print_checks(text: &mut String, checks: &[CheckResult]) {
    for CheckResult { name, exit_code, output_tail, .. } in checks {
        let _ = write!(
            text,
            "\nThe check \"{name}\" ended with exit code {exit_code}:\n{}\n",
            output_tail.trim_end()
        );
    }
}

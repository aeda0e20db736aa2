//! Why accepted work did not land, in words for people and agents.

use std::fmt::Write;

use crate::base::git_name::BranchName;
use crate::base::text::NonBlank;
use crate::task::attempt::CheckResult;
use crate::task::met_commits::MetCommits;
use crate::task::not_landed::{MetTask, NotLanded};

impl NotLanded {
    /// In one line, for lists.
    pub fn headline(&self) -> String {
        match self {
            Self::ChecksFailed { into, checks, met_commits, .. } => {
                let names: Vec<&str> = checks.iter().map(|check| check.name.as_str()).collect();
                let verb = if names.len() == 1 { "check fails" } else { "checks fail" };
                format!("{verb} on {into}{}: {}", together_with(self, met_commits, into), names.join(", "))
            }
            Self::Conflict { into, files, met_commits, .. } => {
                let with = together_with(self, met_commits, into);
                format!("conflicts with {into}{with} in {}", files.join(", "))
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
            Self::StartFails { into, base, conflicts, .. } if !conflicts.is_empty() => {
                format!(
                    "your commit {}, which it started from, conflicts with {into} in {}",
                    base.short(),
                    conflicts.join(", ")
                )
            }
            Self::StartFails { into, base, checks, .. } => {
                let names: Vec<&str> = checks.iter().map(|check| check.name.as_str()).collect();
                format!(
                    "your commit {}, which it started from, fails the checks of {into} ({}), without this task",
                    base.short(),
                    names.join(", ")
                )
            }
            Self::StartWithdrawn { commits } => {
                let newest = commits.first().and_then(|commit| commit.split(' ').next()).unwrap_or("one");
                if commits.len() > 1 {
                    format!(
                        "it contains commits that were withdrawn or replaced since, the newest of them {newest}"
                    )
                } else {
                    format!("it contains the commit {newest}, which was withdrawn or replaced since")
                }
            }
        }
    }

    /// Everything that is known, for an agent or a person who has to deal with it.
    pub fn describe(&self) -> String {
        let mut text = String::new();
        match self {
            Self::ChecksFailed { into, base, checks, met_commits, protected, .. } => {
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
                list_met(&mut text, self.met(), self.met_more());
                list_commits(&mut text, met_commits);
                print_checks(&mut text, checks);
            }
            Self::Conflict { into, files, met_commits, .. } => {
                let _ = writeln!(
                    text,
                    "These files conflict with the branch {into}, which it is to be merged into:"
                );
                for file in files {
                    let _ = writeln!(text, "- {file}");
                }
                list_met(&mut text, self.met(), self.met_more());
                list_commits(&mut text, met_commits);
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
            Self::StartFails { into, base, checks, conflicts } => {
                let what = if conflicts.is_empty() {
                    format!(
                        "the checks fail on the branch {into} together with that commit, even without this work"
                    )
                } else {
                    format!("that commit conflicts with the branch {into} in {}", conflicts.join(", "))
                };
                let _ = writeln!(
                    text,
                    "The work started from the commit {base} of your own branch, and {what}. Repair your branch with another commit and merge {into} into it; the work then \
                     lands by itself. If you replace that commit instead, the task goes back to its agent, which puts the work on your branch."
                );
                print_checks(&mut text, checks);
            }
            Self::StartWithdrawn { commits } => {
                text.push_str("The work contains commits that were withdrawn or replaced since:\n");
                for commit in commits {
                    let _ = writeln!(text, "- {commit}");
                }
            }
        }
        text
    }
}

fn list(commands: &[NonBlank]) -> String {
    commands.iter().map(|command| format!("`{command}`")).collect::<Vec<_>>().join(", ")
}

/// The person's commits on the branch itself are the branch, unless other work is named beside it.
fn together_with(reason: &NotLanded, commits: &[MetCommits], into: &BranchName) -> String {
    let others = reason.met().len().saturating_sub(1) + reason.met_more() as usize;
    let tasks = reason.met().last().map(|likeliest| match others {
        0 => likeliest.task_id.to_string(),
        _ => format!("{} and {others} more", likeliest.task_id),
    });
    let is_named = |commits: &&MetCommits| tasks.is_some() || commits.branch != *into;
    let commits: Vec<String> = commits.iter().filter(is_named).map(ToString::to_string).collect();
    let all: Vec<String> = tasks.into_iter().chain(commits).collect();
    if all.is_empty() { String::new() } else { format!(" together with {}", all.join(" and ")) }
}

fn list_commits(text: &mut String, commits: &[MetCommits]) {
    for met in commits {
        let _ = writeln!(text, "\nCommits on {} that it met there, which are no task's:", met.branch);
        for subject in &met.subjects {
            let _ = writeln!(text, "- {subject}");
        }
    }
}

fn list_met(text: &mut String, met: &[MetTask], more: u32) {
    if met.is_empty() {
        return;
    }
    text.push_str("\nWork of other tasks that it met there, the likeliest cause last:\n");
    if more > 0 {
        let _ = writeln!(text, "- {more} more");
    }
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

//! The prompt for breaking down a failed task: what was tried, what exists, and what is needed.
//!
//! A pure function from facts to text. The engine collects the facts (it asks git). Text from outside is bounded and
//! fenced, so that nothing in it can pass for one of our instructions.

use std::fmt::{self, Write};

use crate::base::git_name::BranchName;
use crate::base::id::{ProjectId, TaskId};
use crate::base::text::NonBlank;
use crate::base::words::{pluralize, shell_word};
use crate::recycle::plan::Plan;

/// The most of a task's original text in the prompt; the rest of the context needs room too.
pub const ORIGINAL_CHARS_MAX: usize = 16_000;
/// The most of the git log, of the diff summary and of the remaining work, each.
pub const EVIDENCE_CHARS_MAX: usize = 8_000;
/// The most of one reason an attempt was not accepted.
const REASON_CHARS_MAX: usize = 2_000;
/// Completed tasks listed individually; further ones are only counted.
pub const COMPLETED_SHOWN_MAX: usize = 100;
/// A title fits one line.
const TITLE_CHARS_MAX: usize = 200;
/// How many tasks to ask for. Fewer is no split, more is a project of its own.
const TASKS_WANTED: &str = "2–4";
/// Turns per new task; well under a session's limit, so that it does not burn out again.
const TURNS_WANTED_MAX: u32 = 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RebreakdownContext {
    pub task: TaskId,
    pub title: NonBlank,
    pub description: String,
    pub turns_used: u32,
    pub turns_max: u32,
    /// Counted by Baton over all attempts at the task.
    pub commits: u32,
    pub reason: RebreakdownReason,
    pub project: Option<ProjectContext>,
    /// The branch the planner's worktree stands on: the failed task's own if it has commits, else the project's.
    pub branch: BranchName,
    pub completed: Vec<CompletedTask>,
    /// The project's other tasks: planned, at work, failed, recycled, cancelled.
    pub others: Vec<OtherTask>,
    /// `git log --oneline` of the branch since its base.
    pub log_oneline: String,
    /// `git diff --stat` of the branch against its base.
    pub diff_stat: String,
    pub left_to_do: Option<NonBlank>,
    /// Why its attempts were not accepted, oldest first: rejections, failed checks, conflicts.
    pub not_accepted: Vec<NonBlank>,
    /// What was wrong with earlier plans for it, oldest first.
    pub earlier_plans: Vec<NonBlank>,
    /// The last plan that a person rejected, as they saw it.
    pub rejected_plan: Option<Plan>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RebreakdownReason {
    /// It used up its turns without a commit.
    TooLarge,
    /// A person judged it too large; its turns were not used up.
    Judged,
    /// It was retried and never accepted.
    CumulativeFailures { attempts: u32 },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectContext {
    pub id: ProjectId,
    pub title: NonBlank,
    pub description: String,
    pub branch: BranchName,
    pub base_branch: BranchName,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompletedTask {
    pub id: TaskId,
    pub title: NonBlank,
    pub commits: u32,
}

/// A task of the project that is not completed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherTask {
    pub id: TaskId,
    pub title: NonBlank,
    /// What became of it so far, in a few words.
    pub state: &'static str,
}

impl RebreakdownContext {
    pub fn prompt(&self) -> String {
        let mut text = String::new();
        // Writing to a String cannot fail.
        let _ = self.write(&mut text);
        text
    }

    fn write(&self, out: &mut String) -> fmt::Result {
        writeln!(out, "# Re-Breakdown: {}\n", one_line(&self.title))?;
        self.write_warning(out)?;
        if let Some(project) = &self.project {
            write_project(out, project)?;
            self.write_completed(out, project)?;
            self.write_others(out)?;
        }
        self.write_failed(out)?;
        self.write_not_accepted(out)?;
        self.write_branch(out)?;
        self.write_earlier_plans(out)?;
        if let Some(left) = &self.left_to_do {
            writeln!(out, "## What is left\n")?;
            write_fenced(out, left.as_str(), EVIDENCE_CHARS_MAX)?;
        }
        self.write_instructions(out)
    }

    fn write_warning(&self, out: &mut String) -> fmt::Result {
        match self.reason {
            RebreakdownReason::TooLarge => writeln!(
                out,
                "## ⚠ This task was too large: break it down again\n\n\
                 One agent session spent {} of its {} turns on it and left {}. Retrying it unchanged would \
                 end the same way. Split it into several smaller tasks.\n",
                self.turns_used,
                self.turns_max,
                pluralize(u64::from(self.commits), "commit"),
            ),
            RebreakdownReason::Judged => writeln!(
                out,
                "## ⚠ This task is to be broken down again\n\n\
                 A person decided that it is too large for one task. It has {} by now, and the last session used {} of its \
                 {} turns. Split what is left into several smaller tasks.\n",
                pluralize(u64::from(self.commits), "commit"),
                self.turns_used,
                self.turns_max,
            ),
            RebreakdownReason::CumulativeFailures { attempts } => writeln!(
                out,
                "## ⚠ This task does not converge: break it down again\n\n\
                 It was attempted {} and never accepted. It has {} by now, and the last session used {} of its {} \
                 turns. Retrying the whole task will not fix this. Split it into several smaller \
                 tasks.\n",
                pluralize(u64::from(attempts), "time"),
                pluralize(u64::from(self.commits), "commit"),
                self.turns_used,
                self.turns_max,
            ),
        }
    }

    fn write_completed(&self, out: &mut String, project: &ProjectContext) -> fmt::Result {
        writeln!(out, "## Completed tasks (DO NOT recreate)\n")?;
        if self.completed.is_empty() {
            return writeln!(out, "None of the project's tasks is completed yet.\n");
        }
        writeln!(out, "Their work is already on {}:\n", code(project.branch.as_str()))?;
        for (number, done) in (1..).zip(self.completed.iter().take(COMPLETED_SHOWN_MAX)) {
            let (mark, how) = match done.commits {
                // Accepted all the same; it may have needed none, or nothing may be there.
                0 => ("☑", "accepted without a commit: check what is there".to_owned()),
                commits => ("✅", pluralize(u64::from(commits), "commit")),
            };
            writeln!(out, "{number}. {mark} {}: {} ({how})", done.id, one_line(&done.title))?;
        }
        let unlisted = self.completed.len().saturating_sub(COMPLETED_SHOWN_MAX);
        if unlisted > 0 {
            writeln!(out, "\nAnd {unlisted} more, not listed here.")?;
        }
        writeln!(out)
    }

    fn write_others(&self, out: &mut String) -> fmt::Result {
        if self.others.is_empty() {
            return Ok(());
        }
        writeln!(out, "## Other tasks of the project (DO NOT recreate)\n")?;
        for other in self.others.iter().take(COMPLETED_SHOWN_MAX) {
            writeln!(out, "- {}: {} ({})", other.id, one_line(&other.title), other.state)?;
        }
        let unlisted = self.others.len().saturating_sub(COMPLETED_SHOWN_MAX);
        if unlisted > 0 {
            writeln!(out, "\nAnd {unlisted} more, not listed here.")?;
        }
        writeln!(out)
    }

    fn write_failed(&self, out: &mut String) -> fmt::Result {
        writeln!(out, "## Failed task\n\n**{}:** {}\n", self.task, one_line(&self.title))?;
        writeln!(out, "- {} used, of {}", pluralize(u64::from(self.turns_used), "turn"), self.turns_max)?;
        writeln!(out, "- {}", pluralize(u64::from(self.commits), "commit"))?;
        if let RebreakdownReason::CumulativeFailures { attempts } = self.reason {
            writeln!(out, "- {}", pluralize(u64::from(attempts), "attempt"))?;
        }
        writeln!(out, "\n### Its original text\n")?;
        if self.description.trim().is_empty() {
            return writeln!(out, "It had no text beyond its title.\n");
        }
        writeln!(out, "Quoted as it was; it describes the whole task, done parts included.\n")?;
        write_fenced(out, &self.description, ORIGINAL_CHARS_MAX)
    }

    fn write_not_accepted(&self, out: &mut String) -> fmt::Result {
        if self.not_accepted.is_empty() {
            return Ok(());
        }
        writeln!(out, "### Why its attempts were not accepted\n")?;
        for reason in &self.not_accepted {
            write_fenced(out, reason.as_str(), REASON_CHARS_MAX)?;
        }
        Ok(())
    }

    fn write_earlier_plans(&self, out: &mut String) -> fmt::Result {
        if self.earlier_plans.is_empty() {
            return Ok(());
        }
        writeln!(out, "## What was wrong with earlier plans\n")?;
        writeln!(out, "Do not repeat this in your plan:\n")?;
        for wrong in &self.earlier_plans {
            write_fenced(out, wrong.as_str(), REASON_CHARS_MAX)?;
        }
        if let Some(plan) = &self.rejected_plan {
            writeln!(out, "The plan that was rejected last:\n")?;
            write_fenced(out, &plan.to_string(), EVIDENCE_CHARS_MAX)?;
        }
        Ok(())
    }

    /// Whether the planner stands on the failed task's own branch.
    fn has_partial_work(&self) -> bool {
        let trunk = self.project.as_ref().map(|project| &project.branch);
        trunk.map_or(self.commits > 0, |trunk| *trunk != self.branch)
    }

    fn write_branch(&self, out: &mut String) -> fmt::Result {
        writeln!(out, "## What the branch already has\n")?;
        if self.log_oneline.trim().is_empty() && self.diff_stat.trim().is_empty() {
            return writeln!(out, "No commits and no changes beyond its base.\n");
        }
        for (heading, evidence) in [("Commits", &self.log_oneline), ("Changed files", &self.diff_stat)] {
            if !evidence.trim().is_empty() {
                writeln!(out, "{heading}:\n")?;
                write_fenced(out, evidence, EVIDENCE_CHARS_MAX)?;
            }
        }
        Ok(())
    }

    fn write_instructions(&self, out: &mut String) -> fmt::Result {
        writeln!(out, "## Instructions\n")?;
        let mut steps: Vec<String> = Vec::new();
        if let Some(project) = &self.project {
            writeln!(out, "You split one failed task of a project that is under way.\n")?;
            steps.push(format!(
                "Your worktree already stands on {}. Stay there; spend no turn on checking it out.",
                code(self.branch.as_str())
            ));
            let diff = format!("git diff {}...HEAD", shell_word(project.base_branch.as_str()));
            let stat = code(&format!("{diff} --stat"));
            steps.push(format!("Run {stat} for the whole change, then read what matters in it."));
        } else {
            writeln!(out, "You split one failed task. It belongs to no project.\n")?;
            steps.push(format!(
                "Your worktree already stands on {}, the branch with what there is of its work. Stay there.",
                code(self.branch.as_str())
            ));
            steps.push("Read the branch's log and the code the task is about.".to_owned());
        }
        if self.has_partial_work() {
            steps.push(
                "The failed task's commits are on this branch and are kept: the new tasks start from them."
                    .to_owned(),
            );
        }
        steps.push("Run the tests that exist, to see what passes and what fails now.".to_owned());
        steps.push(
            "Compare what the failed task asked for with what is there, and name exactly what remains."
                .to_owned(),
        );
        steps.push(format!(
            "Break ONLY the remaining work into {TASKS_WANTED} tasks, each done in fewer than \
             {TURNS_WANTED_MAX} turns."
        ));
        steps.push(if self.project.is_some() {
            "Make no task for work that is already committed, nor for any of the completed tasks.".to_owned()
        } else {
            "Make no task for work that is already committed.".to_owned()
        });
        steps.push(
            "Submit the plan with the tool `submit_breakdown` or, if you do not have it, as one line by itself: \
             `{\"baton\":\"plan\",\"items\":[{\"title\":\"…\",\"description\":\"…\"},{\"title\":\"…\",\
             \"description\":\"…\",\"depends_on\":[1]}]}`. A human approves it before anything starts."
                .to_owned(),
        );
        for (number, step) in (1..).zip(steps) {
            writeln!(out, "{number}. {step}")?;
        }
        let guide = if self.project.is_some() { "The lists above are" } else { "This page is" };
        writeln!(out, "\n{guide} a guide. The branch is the source of truth for what is done.")
    }
}

fn write_project(out: &mut String, project: &ProjectContext) -> fmt::Result {
    writeln!(out, "## Project context\n")?;
    writeln!(out, "- Project: {} — {}", project.id, one_line(&project.title))?;
    writeln!(out, "- Branch: {}", code(project.branch.as_str()))?;
    writeln!(out, "- Base branch: {}\n", code(project.base_branch.as_str()))?;
    if project.description.trim().is_empty() {
        return Ok(());
    }
    writeln!(out, "Its description:\n")?;
    write_fenced(out, &project.description, ORIGINAL_CHARS_MAX)
}

/// A fence one backtick longer than any run inside, so that no line of the text can close it.
fn write_fenced(out: &mut String, text: &str, chars_max: usize) -> fmt::Result {
    let whole = text.trim_matches(['\n', '\r']);
    let (shown, cut) = match whole.char_indices().nth(chars_max) {
        Some((end, _)) => (whole.get(..end).unwrap_or(whole), true),
        None => (whole, false),
    };
    let fence = "`".repeat(longest_backtick_run(shown).max(2) + 1);
    writeln!(out, "{fence}text\n{shown}\n{fence}\n")?;
    if cut {
        let chars = whole.chars().count();
        writeln!(out, "(Cut: the first {chars_max} of {chars} characters are shown.)\n")?;
    }
    Ok(())
}

fn longest_backtick_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// Text as inline code, whatever backticks it contains.
fn code(text: &str) -> String {
    let ticks = "`".repeat(longest_backtick_run(text) + 1);
    let pad = if text.contains('`') { " " } else { "" };
    format!("{ticks}{pad}{text}{pad}{ticks}")
}

/// A title on one line: a line break could start a heading.
fn one_line(title: &NonBlank) -> String {
    let line = title.as_str().split(|c: char| c.is_whitespace() || c.is_control());
    let line = line.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(TITLE_CHARS_MAX) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or(&line)),
        None => line,
    }
}

#[cfg(test)]
mod tests;

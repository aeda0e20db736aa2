//! What an agent is told: the work, what went before, what to do now, and how to end.
//!
//! Text that comes from outside (descriptions, answers, check output) is
//! fenced, so that nothing in it can pass for an instruction of Baton's.

use std::fmt::Write;

use baton_core::ask::question_record::{QuestionRecord, QuestionState};
use baton_core::base::git_name::BranchName;
use baton_core::base::text::NonBlank;
use baton_core::recipe::outcome::closing_block;
use baton_core::recipe::run::{Run, RunOrigin, StepHandover};
use baton_core::recipe::{Recipe, RecipeStep};
use baton_core::records::project::Project;
use baton_core::records::session::Message;
use baton_core::recycle::RecycleReason;
use baton_core::recycle::prompt::{CompletedTask, ProjectContext, RebreakdownContext, RebreakdownReason};
use baton_core::task::guard::RequeueReason;
use baton_core::task::ledger::TaskNote;
use baton_core::task::state::QueueName;
use baton_core::task::{Purpose, Task};
use baton_store::model::query::TaskFilter;

use crate::attempt::context::AttemptContext;
use crate::base::error::EngineError;
use crate::base::fenced::fenced;
use crate::git::{Checkout, Worktrees};

/// How a prompt begins that goes on with an earlier one.
const GOING_ON: &str = "You go on where you stopped, in the same session; your changes are still here.\n";

/// Everything the prompt of one step is made of.
pub struct StepPrompt<'a> {
    pub task: &'a Task,
    pub recipe: &'a Recipe,
    pub run: &'a Run,
    pub step: &'a RecipeStep,
    /// What the step's agent session asked the human, oldest first.
    pub questions: &'a [QuestionRecord],
    /// What the human said of their own accord, and the agent has not heard yet.
    pub messages: &'a [Message],
    /// Whether this attempt goes on from an earlier one.
    pub is_resumed: bool,
}

impl StepPrompt<'_> {
    pub fn text(&self) -> String {
        let spec = self.task.spec();
        let mut text = format!("# {}\n\n", spec.title);
        if self.is_resumed {
            text.push_str(
                "You worked on this before and go on where you stopped; your changes are still here.\n\n",
            );
        }
        if !spec.description.trim().is_empty() {
            text.push_str(&fenced(&spec.description));
        }
        self.place(&mut text);
        self.notes(&mut text);
        self.handed_over(&mut text);
        self.conversation(&mut text);
        self.what_to_do(&mut text);
        text
    }

    /// The same for an agent that goes on in the session it had before: only what it does not know yet.
    pub fn going_on(&self) -> String {
        let mut text = format!("# {}\n\n{GOING_ON}", self.task.spec().title);
        self.notes(&mut text);
        self.handed_over(&mut text);
        text.push_str(&last_exchange(self.questions));
        self.what_to_do(&mut text);
        text
    }

    /// The step itself, what was said to it, and how it may end.
    fn what_to_do(&self, text: &mut String) {
        let _ = write!(text, "\n## What to do now\n\n{}\n", self.step.prompt().as_str().trim_end());
        self.messages(text);
        if let Some(told) = self.run.memory().pending_reminder() {
            let _ = write!(text, "\n## Your last answer\n\n{told}");
        }
        let _ = write!(text, "\n{}", closing_block(&self.step.outcomes()));
    }

    fn place(&self, text: &mut String) {
        let id = self.task.id();
        let _ = write!(
            text,
            "\n## Where you are\n\n\
             Task {id}, on branch `{}` in a worktree of its own. Commit your work here. Do not push, merge or switch \
             branches: Baton counts your commits and merges them.\n",
            BranchName::for_task(id)
        );
        if self.run.origin() != RunOrigin::Default {
            let _ = writeln!(
                text,
                "\nThis is the step \"{}\" of the recipe \"{}\" ({}).",
                self.step.name(),
                self.recipe.label(),
                self.run.id()
            );
        }
        if self.recipe.takes_task() && self.task.spec().purpose == Purpose::Run {
            text.push_str(
                "\nThe queue had no task that was ready when this began, so no task is described here. Look for yourself: \
                 `\"$BATON_BIN\" task ready`.\n",
            );
        }
    }

    /// Why earlier attempts did not do, newest last.
    fn notes(&self, text: &mut String) {
        let notes = &self.task.ledger().notes;
        let said: Vec<String> = notes.iter().filter_map(note_text).collect();
        if !said.is_empty() {
            let _ = write!(text, "\n## What was wrong before\n\n{}", said.join("\n"));
        }
    }

    fn handed_over(&self, text: &mut String) {
        let Some(StepHandover { step, outcome, words }) = self.run.memory().handover() else { return };
        let _ = write!(text, "\n## What was handed over\n\nThe step \"{step}\" ended with `{outcome}`");
        match words {
            Some(words) => {
                let _ = write!(text, ":\n\n{}", fenced(words.as_str()));
            }
            None => text.push_str(".\n"),
        }
    }

    /// What was said in this agent session, for agents that do not remember it themselves.
    fn conversation(&self, text: &mut String) {
        let turns = self.run.memory().turns().iter().map(|turn| match &turn.step {
            Some(step) => format!("You said in the step \"{step}\":\n\n{}", fenced(turn.text.as_str())),
            None => format!("The human said:\n\n{}", fenced(turn.text.as_str())),
        });
        let said: Vec<String> = turns.chain(self.questions.iter().filter_map(exchange_text)).collect();
        if !said.is_empty() {
            let _ = write!(text, "\n## The conversation so far\n\n{}", said.join("\n"));
        }
    }

    fn messages(&self, text: &mut String) {
        if self.messages.is_empty() {
            return;
        }
        text.push_str(
            "\n## The human says\n\nThis came in while you were at work. Take it into account before you end the step.\n",
        );
        for message in self.messages {
            let _ = write!(text, "\n{}", fenced(message.text.as_str()));
        }
    }
}

/// The prompt of one attempt at a breakdown: the task that was too large, and what is there of it already.
pub struct BreakdownPrompt<'a> {
    pub context: &'a AttemptContext,
    pub task: &'a Task,
}

/// Siblings looked at for the list of what is done.
const SIBLINGS_MAX: u32 = 500;

impl BreakdownPrompt<'_> {
    /// For an agent that goes on in the session it had before.
    pub fn going_on(&self, questions: &[QuestionRecord]) -> String {
        let title = &self.task.spec().title;
        format!("# {title}\n\n{GOING_ON}{}\nGo on with the plan, and hand it in.\n", last_exchange(questions))
    }

    pub async fn text(&self, worktrees: &Worktrees, checkout: &Checkout) -> Result<String, EngineError> {
        let (replaced, reason) = match self.task.spec().purpose {
            Purpose::Breakdown { replaces_task_id: Some(replaced), reason, .. } => {
                (self.context.tasks.task(replaced).await?.value, reason)
            }
            // A first plan has nothing behind it; the goal is the description.
            Purpose::Breakdown { replaces_task_id: None, .. } | Purpose::Work | Purpose::Run => {
                (self.task.clone(), None)
            }
        };
        let project = self.project().await?;
        let base = match &project {
            Some(project) => worktrees.repository().tip(&project.base_branch).await?,
            None => None,
        }
        .unwrap_or_else(|| checkout.base.clone());
        let head = worktrees.measure(checkout).await?.head;
        let verified =
            replaced.ledger().last_end.as_ref().map(|end| end.verified.clone()).unwrap_or_default();
        let context = RebreakdownContext {
            task: replaced.id(),
            title: replaced.spec().title.clone(),
            description: replaced.spec().description.clone(),
            turns_used: verified.turns,
            turns_max: verified.turns_max,
            commits: verified.commits,
            reason: match reason {
                Some(RecycleReason::CumulativeFailures) => {
                    RebreakdownReason::CumulativeFailures { attempts: replaced.ledger().started }
                }
                Some(RecycleReason::TooLarge) | None => RebreakdownReason::TooLarge,
            },
            completed: self.completed_siblings().await?,
            project: project.map(|project| ProjectContext {
                id: project.id,
                title: project.title.clone(),
                branch: project.branch(),
                base_branch: project.base_branch.clone(),
            }),
            log_oneline: worktrees.repository().log_oneline(&base, &head).await?.text,
            diff_stat: worktrees.repository().diff_stat(&base, &head).await?.text,
            left_to_do: None,
            not_accepted: replaced.ledger().notes.iter().filter_map(reason_of).collect(),
        };
        Ok(context.prompt())
    }

    async fn project(&self) -> Result<Option<Project>, EngineError> {
        let Some(id) = self.task.spec().project_id else { return Ok(None) };
        Ok(self.context.tasks.store.project(id).await?.map(|stored| stored.value))
    }

    async fn completed_siblings(&self) -> Result<Vec<CompletedTask>, EngineError> {
        let Some(project) = self.task.spec().project_id else { return Ok(Vec::new()) };
        let filter =
            TaskFilter { queue: Some(QueueName::Done), project: Some(project), ..TaskFilter::default() };
        let done = self.context.tasks.store.tasks(&filter, None, SIBLINGS_MAX).await?.items;
        let work = done.into_iter().map(|stored| stored.value).filter(|task| !task.is_breakdown());
        Ok(work
            .map(|task| CompletedTask {
                id: task.id(),
                title: task.spec().title.clone(),
                commits: task.ledger().last_end.as_ref().map_or(0, |end| end.verified.commits),
            })
            .collect())
    }
}

/// Why an attempt was not accepted, for the agent that plans its parts.
fn reason_of(note: &TaskNote) -> Option<NonBlank> {
    let text = match note {
        TaskNote::Rejected { reason, .. } => format!("rejected by a person: {reason}"),
        TaskNote::Conflict { detail, .. } => format!("could not be merged: {detail}"),
        TaskNote::Requeued { reason: RequeueReason::CheckFailed { check, output_tail }, .. } => {
            format!("the check {check} failed:\n{output_tail}")
        }
        TaskNote::Requeued { reason: RequeueReason::NoCommits, .. } => "ended without a commit".to_owned(),
        TaskNote::Requeued {
            reason: RequeueReason::NoPlan | RequeueReason::Systemic { .. } | RequeueReason::LeaseExpired,
            ..
        } => return None,
    };
    NonBlank::new(text).ok()
}

fn note_text(note: &TaskNote) -> Option<String> {
    match note {
        TaskNote::Rejected { reason, .. } => {
            Some(format!("The work was rejected:\n\n{}", fenced(reason.as_str())))
        }
        TaskNote::Conflict { detail, .. } => Some(format!(
            "The work could not be merged. Bring this branch up to date with its target and resolve:\n\n{}",
            fenced(detail.as_str())
        )),
        TaskNote::Requeued { reason: RequeueReason::CheckFailed { check, output_tail }, .. } => {
            Some(format!("The check \"{check}\" failed:\n\n{}", fenced(output_tail)))
        }
        TaskNote::Requeued { reason: RequeueReason::NoCommits, .. } => {
            Some("An attempt ended without a single commit.\n".to_owned())
        }
        TaskNote::Requeued { reason: RequeueReason::NoPlan, .. } => {
            Some("An attempt ended without a plan.\n".to_owned())
        }
        // Nobody's fault, so nothing to do differently.
        TaskNote::Requeued {
            reason: RequeueReason::Systemic { .. } | RequeueReason::LeaseExpired, ..
        } => None,
    }
}

/// The human's last answer, which may be news: only one question waits at a time.
fn last_exchange(questions: &[QuestionRecord]) -> String {
    let last = questions.iter().rev().find_map(exchange_text);
    last.map(|exchange| format!("\n## The answer to your question\n\n{exchange}")).unwrap_or_default()
}

fn exchange_text(record: &QuestionRecord) -> Option<String> {
    match &record.state {
        QuestionState::Answered { answer, answered_by, .. } => Some(format!(
            "You asked:\n\n{}\nThe answer ({answered_by}):\n\n{}",
            fenced(record.question.text().as_str()),
            fenced(answer.as_str())
        )),
        QuestionState::Pending | QuestionState::Withdrawn { .. } => None,
    }
}

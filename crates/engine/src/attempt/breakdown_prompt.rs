//! The prompt of a breakdown: the task that was too large, what is there of it already, and the project around it.

use baton_core::ask::question_record::QuestionRecord;
use baton_core::base::git_name::{BranchName, CommitId};
use baton_core::base::id::TaskId;
use baton_core::base::text::NonBlank;
use baton_core::records::project::Project;
use baton_core::records::session::Message;
use baton_core::recycle::RecycleReason;
use baton_core::recycle::plan::Plan;
use baton_core::recycle::prompt::{
    CompletedTask, OtherTask, ProjectContext, RebreakdownContext, RebreakdownReason,
};
use baton_core::task::guard::RequeueReason;
use baton_core::task::ledger::TaskNote;
use baton_core::task::state::{Provisional, QueueName, ReviewMark, TaskState};
use baton_core::task::{Purpose, Task};

use crate::attempt::prompt::{GOING_ON, last_exchange, messages_section};
use crate::base::error::EngineError;
use crate::git::Worktrees;
use crate::projects::Projects;

pub struct BreakdownPrompt<'a> {
    pub projects: &'a Projects,
    pub task: &'a Task,
}

/// What the planner stands on.
pub(crate) struct PlannerGround<'a> {
    pub branch: &'a BranchName,
    pub base: CommitId,
    pub head: CommitId,
}

/// The prompt as a planner would get it now.
pub async fn preview(projects: &Projects, task: &Task) -> Result<String, EngineError> {
    let (worktrees, trunk) = projects.repository(task).await?;
    let place = projects.stand(task, &worktrees, trunk).await?;
    let tip = worktrees.repository().tip_of_existing(place.branch()).await?;
    let ground = PlannerGround { branch: place.branch(), base: tip.clone(), head: tip };
    BreakdownPrompt { projects, task }.text(&worktrees, ground).await
}

impl BreakdownPrompt<'_> {
    /// For an agent that continues in the session it had before.
    pub fn going_on(&self, questions: &[QuestionRecord], messages: &[Message]) -> String {
        let title = &self.task.spec().title;
        let (answer, said) = (last_exchange(questions), messages_section(messages));
        format!("# {title}\n\n{GOING_ON}{answer}{said}\nGo on with the plan, and hand it in.\n")
    }

    pub(crate) async fn text(
        &self,
        worktrees: &Worktrees,
        ground: PlannerGround<'_>,
    ) -> Result<String, EngineError> {
        let (replaced, reason) = match self.task.spec().purpose {
            Purpose::Breakdown { replaces_task_id: Some(replaced), reason, .. } => {
                (self.projects.tasks.task(replaced).await?.value, reason)
            }
            // A first plan has nothing behind it; the goal is the description.
            Purpose::Breakdown { replaces_task_id: None, .. } | Purpose::Work | Purpose::Run => {
                (self.task.clone(), None)
            }
        };
        let project = self.projects.project(self.task).await?;
        let trunk = project.as_ref().map_or_else(BranchName::integration, Project::branch);
        let since = project.as_ref().map_or(&trunk, |project| &project.base_branch);
        let repository = worktrees.repository();
        let base = repository.tip(since).await?.unwrap_or_else(|| ground.base.clone());
        let head = &ground.head;
        let verified =
            replaced.ledger().last_end.as_ref().map(|end| end.verified.clone()).unwrap_or_default();
        let (completed, others) = self.siblings(replaced.id()).await?;
        let context = RebreakdownContext {
            task: replaced.id(),
            title: replaced.spec().title.clone(),
            description: replaced.spec().description.clone(),
            turns_used: verified.turns,
            turns_max: verified.turns_max,
            commits: repository.commits_beyond(ground.branch, &trunk).await?,
            reason: match reason {
                Some(RecycleReason::CumulativeFailures) => {
                    RebreakdownReason::CumulativeFailures { attempts: replaced.ledger().started }
                }
                Some(RecycleReason::TooLarge) if !verified.is_burned_out() => RebreakdownReason::Judged,
                Some(RecycleReason::TooLarge) | None => RebreakdownReason::TooLarge,
            },
            project: project.map(|project| ProjectContext {
                id: project.id,
                branch: project.branch(),
                title: project.title,
                description: project.description,
                base_branch: project.base_branch,
            }),
            branch: ground.branch.clone(),
            completed,
            others,
            log_oneline: repository.log_oneline(&base, head).await?.text,
            diff_stat: repository.diff_stat(&base, head).await?.text,
            left_to_do: None,
            not_accepted: replaced.ledger().notes.iter().filter_map(rejected_work).collect(),
            earlier_plans: self.task.ledger().notes.iter().filter_map(rejected_plan).collect(),
            rejected_plan: self.last_rejected().await?,
        };
        Ok(context.prompt())
    }

    /// The plan that a person rejected last. What they wrote about it says little without it.
    async fn last_rejected(&self) -> Result<Option<Plan>, EngineError> {
        let was_rejected = |note: &TaskNote| matches!(note, TaskNote::Rejected { .. });
        if !self.task.ledger().notes.iter().any(was_rejected) {
            return Ok(None);
        }
        self.projects.tasks.plan(self.task.id()).await
    }

    /// The project's completed tasks, and all others but breakdowns and the replaced one.
    async fn siblings(&self, replaced: TaskId) -> Result<(Vec<CompletedTask>, Vec<OtherTask>), EngineError> {
        let Some(project) = self.task.spec().project_id else { return Ok((Vec::new(), Vec::new())) };
        let (mut completed, mut others) = (Vec::new(), Vec::new());
        let is_sibling = |task: &Task| !task.is_breakdown() && task.id() != replaced;
        for task in self.projects.tasks.project_tasks(project).await?.into_iter().filter(is_sibling) {
            let (id, title) = (task.id(), task.spec().title.clone());
            match describe_state(&task) {
                None => {
                    let last = task.ledger().last_end.as_ref();
                    completed.push(CompletedTask {
                        id,
                        title,
                        commits: last.map_or(0, |end| end.verified.commits),
                    });
                }
                Some(state) => others.push(OtherTask { id, title, state }),
            }
        }
        Ok((completed, others))
    }
}

/// `None` for a completed task.
pub(crate) fn describe_state(task: &Task) -> Option<&'static str> {
    match task.state().queue() {
        QueueName::Done => None,
        QueueName::Incoming if *task.state() == TaskState::Held && task.ledger().held_because.is_some() => {
            let is_begun = task.ledger().started > 0;
            Some(if is_begun {
                "begun, and stopped by a person before it was finished"
            } else {
                "held by a person"
            })
        }
        QueueName::Incoming | QueueName::Breakdown => Some("planned"),
        QueueName::Claimed | QueueName::NeedsContinuation => Some("in progress"),
        QueueName::Escalated => Some("stopped, waits for a person"),
        QueueName::Provisional => Some(match task.state() {
            TaskState::Provisional(Provisional {
                mark: ReviewMark::BurnedOut | ReviewMark::NotConverging,
                ..
            }) => "tried without a result, waits for a person",
            _ => "finished, not accepted yet",
        }),
        QueueName::Landing => Some("accepted, being checked before it is merged"),
        QueueName::Recycled => Some("replaced by smaller tasks"),
        QueueName::Failed => Some("failed"),
        QueueName::Rejected => Some("cancelled"),
    }
}

/// Why an attempt at the replaced task was not accepted.
fn rejected_work(note: &TaskNote) -> Option<NonBlank> {
    let text = match note {
        TaskNote::Rejected { reason, .. } => format!("rejected by a person: {reason}"),
        TaskNote::Conflict { detail, .. } => format!("could not be merged: {detail}"),
        TaskNote::NotLanded { reason, .. } => format!("could not be merged: {}", reason.describe()),
        TaskNote::Requeued { reason: RequeueReason::CheckFailed { check, output_tail, .. }, .. } => {
            format!("the check {check} failed:\n{output_tail}")
        }
        TaskNote::Requeued { reason: RequeueReason::NoCommits, .. } => "ended without a commit".to_owned(),
        TaskNote::Requeued {
            reason:
                RequeueReason::NoPlan { .. } | RequeueReason::Systemic { .. } | RequeueReason::LeaseExpired,
            ..
        } => return None,
    };
    NonBlank::new(text).ok()
}

/// What was wrong with an earlier plan of this breakdown.
fn rejected_plan(note: &TaskNote) -> Option<NonBlank> {
    let text = match note {
        TaskNote::Rejected { reason, .. } => format!("rejected by a person: {reason}"),
        TaskNote::Requeued { reason: RequeueReason::NoPlan { fault: Some(fault) }, .. } => {
            format!("the plan could not be used:\n{fault}")
        }
        TaskNote::Requeued { reason: RequeueReason::NoPlan { fault: None }, .. } => {
            "an attempt ended without submitting a plan".to_owned()
        }
        TaskNote::Conflict { .. }
        | TaskNote::NotLanded { .. }
        | TaskNote::Requeued {
            reason:
                RequeueReason::NoCommits
                | RequeueReason::CheckFailed { .. }
                | RequeueReason::Systemic { .. }
                | RequeueReason::LeaseExpired,
            ..
        } => return None,
    };
    NonBlank::new(text).ok()
}

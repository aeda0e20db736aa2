//! What happens, in one line for each event that a person cares about.

use std::collections::{BTreeMap, BTreeSet};

use baton_core::base::id::TaskId;
use baton_core::records::event::EventBody;
use baton_core::recycle::RecycleReason;
use baton_core::task::not_landed::{MetTask, NotLanded};
use baton_core::task::state::{AcceptedBy, ReviewMark};

/// Other tasks that are named when one was sent back because of them, newest first.
const MET_MAX: usize = 3;

/// Knows the tasks it has told about.
#[derive(Default)]
pub(crate) struct Narration {
    titles: BTreeMap<TaskId, String>,
    /// Names tasks by their ids too, for commands to be typed.
    has_ids: bool,
    /// Tasks that are over.
    pub(crate) done: usize,
    /// Those that a person merged past the checks.
    forced: BTreeSet<TaskId>,
    /// Those claimed to go on where an earlier attempt ended.
    resumed: BTreeSet<TaskId>,
}

impl Narration {
    pub(crate) fn with_ids() -> Self {
        Self { has_ids: true, ..Self::default() }
    }

    pub(crate) fn tasks(&self) -> usize {
        self.titles.len()
    }

    pub(crate) fn knows(&self, task: TaskId) -> bool {
        self.titles.contains_key(&task)
    }

    pub(crate) fn note_title(&mut self, task: TaskId, title: String) {
        self.titles.insert(task, title);
    }

    /// None for what is told by another event, or does not matter to a person.
    pub(crate) fn line(&mut self, body: &EventBody) -> Option<String> {
        match body {
            EventBody::TaskCreated { spec, depends_on } => {
                self.titles.insert(spec.id, spec.title.to_string());
                let waits: Vec<String> = depends_on.iter().map(|on| self.name(*on)).collect();
                let waits =
                    if waits.is_empty() { String::new() } else { format!(", after {}", waits.join(" and ")) };
                Some(format!("+ {}{waits}", self.name(spec.id)))
            }
            // Told when its agent runs: until then, the worktree may turn out to be impossible.
            EventBody::TaskClaimed { task, resumes, .. } => {
                if resumes.is_some() {
                    self.resumed.insert(*task);
                }
                None
            }
            EventBody::AgentStarted { task, .. } => {
                let how = if self.resumed.remove(task) { "resumed" } else { "started" };
                Some(format!("▶ {}: agent {how}", self.name(*task)))
            }
            EventBody::QuestionAsked { task: Some(task), question, .. } if self.has_ids => Some(format!(
                "? {} asks ({}): {}",
                self.name(*task),
                question.id,
                first_line(question.text().as_str())
            )),
            EventBody::QuestionAsked { task: Some(task), question, .. } => {
                Some(format!("? {} asks: {}", self.name(*task), question.text()))
            }
            EventBody::QuestionAnswered { answer, answered_by, .. } => {
                Some(format!("! {answered_by}: {answer}"))
            }
            EventBody::TaskProvisional { task, mark, .. } => Some(match mark {
                ReviewMark::Ready | ReviewMark::NoChanges { .. } => {
                    format!("○ {}: ready for review", self.name(*task))
                }
                ReviewMark::BurnedOut => format!("⚠ {}: all turns used, no commit", self.name(*task)),
                ReviewMark::NotConverging => {
                    format!("⚠ {}: tried too often without being accepted", self.name(*task))
                }
                ReviewMark::NeedsReview { reasons } => {
                    format!("⚠ {}: needs a closer look: {}", self.name(*task), reasons.join("; "))
                }
                ReviewMark::Plan => format!("○ {}: plan ready for approval", self.name(*task)),
            }),
            EventBody::TaskDone { task, accepted_by, .. } => {
                self.done += 1;
                Some(match accepted_by {
                    AcceptedBy::PlanApproved { .. } => {
                        format!("✔ {}: plan approved", self.name(*task))
                    }
                    AcceptedBy::Actor { actor } if self.forced.remove(task) => {
                        format!("✔ {}: landed by force of {actor}, past the checks", self.name(*task))
                    }
                    AcceptedBy::Actor { .. } => format!("✔ {}: accepted and landed", self.name(*task)),
                    AcceptedBy::Output => format!("✔ {}: answered", self.name(*task)),
                })
            }
            EventBody::TaskForced { task, .. } => {
                self.forced.insert(*task);
                None
            }
            EventBody::TaskRecycled { task, reason, .. } => {
                self.done += 1;
                let why = match reason {
                    RecycleReason::TooLarge => "too large",
                    RecycleReason::CumulativeFailures => "tried too often without being accepted",
                };
                Some(format!("↻ {}: {why}, breaking it down", self.name(*task)))
            }
            EventBody::DependentsRewired { from, to } => {
                let to: Vec<String> = to.iter().map(|task| self.name(*task)).collect();
                Some(format!("  dependents of {} now depend on {}", self.name(*from), to.join(" and ")))
            }
            EventBody::TaskRequeued { task, .. } => {
                Some(format!("← {}: back in the queue", self.name(*task)))
            }
            EventBody::TaskLanding { task, .. } if self.has_ids => {
                Some(format!("⇢ {}: accepted; it lands when the checks pass with it", self.name(*task)))
            }
            EventBody::TaskLandingDelayed { task, reason } => {
                Some(format!("‖ {}: waits, because {}", self.name(*task), reason.headline()))
            }
            EventBody::TaskSentBack { task, reason } => {
                Some(format!("↩ {}: {}", self.name(*task), self.not_landed(reason)))
            }
            EventBody::TaskRejected { task, reason } => {
                Some(format!("↩ {}: rejected: {}", self.name(*task), first_line(reason.as_str())))
            }
            EventBody::TaskHeldBack { task, .. } if self.has_ids => {
                Some(format!("‖ {}: held until you release it", self.name(*task)))
            }
            EventBody::TaskCancelled { task, .. } if self.has_ids => {
                Some(format!("✘ {}: cancelled", self.name(*task)))
            }
            EventBody::TaskFailed { task, error } => Some(format!("✘ {}: {error}", self.name(*task))),
            _ => None,
        }
    }

    fn name(&self, task: TaskId) -> String {
        match self.titles.get(&task) {
            Some(title) if self.has_ids => format!("{task} “{title}”"),
            Some(title) => format!("“{title}”"),
            None => task.to_string(),
        }
    }

    /// The title that the record has: this process may not have seen the task.
    fn met_name(&self, met: &MetTask) -> String {
        match self.titles.get(&met.task_id) {
            Some(_) => self.name(met.task_id),
            None if self.has_ids => format!("{} “{}”", met.task_id, met.title),
            None => format!("“{}”", met.title),
        }
    }

    /// Why accepted work did not land.
    fn not_landed(&self, reason: &NotLanded) -> String {
        let tasks = reason.met().iter().rev().take(MET_MAX).map(|met| self.met_name(met));
        let met: Vec<String> = tasks.chain(reason.met_commits().iter().map(ToString::to_string)).collect();
        let others = reason.met().len().saturating_sub(MET_MAX) + reason.met_more() as usize;
        let more = if others == 0 { String::new() } else { format!(" and {others} more") };
        match reason {
            _ if !reason.is_fault_of_task() => format!("not landed: {}", reason.headline()),
            NotLanded::ChecksFailed { failed_before, .. } if !met.is_empty() => {
                let alone = if *failed_before {
                    "fails the checks"
                } else {
                    "passed its checks alone and fails them"
                };
                let met = met.join(if others == 0 { " and " } else { ", " });
                format!("{alone} together with {met}{more}; sent back")
            }
            NotLanded::ChecksFailed { .. }
            | NotLanded::Conflict { .. }
            | NotLanded::Moved { .. }
            | NotLanded::StartWithdrawn { .. } => {
                format!("{}; sent back", reason.headline())
            }
            NotLanded::ProvesNothing { .. }
            | NotLanded::RestsOnCancelled { .. }
            | NotLanded::BranchFails { .. }
            | NotLanded::StartFails { .. } => format!("not landed: {}", reason.headline()),
        }
    }
}

fn first_line(text: &str) -> &str {
    text.trim().lines().next().unwrap_or_default()
}

//! Prints what happens, from the same event log that every client reads.

use std::collections::BTreeMap;

use baton_core::base::id::TaskId;
use baton_core::people::actor::Actor;
use baton_core::records::event::EventBody;
use baton_core::task::state::{AcceptedBy, ReviewMark};
use baton_engine::tasks::service::TaskService;

use crate::error::CliError;
use crate::output;

pub(crate) struct Narrator {
    tasks: TaskService,
    is_headless: bool,
    seen: u64,
    titles: BTreeMap<TaskId, String>,
    done: usize,
    /// Who made the last decision.
    last_decider: Option<Actor>,
}

impl Narrator {
    pub(crate) fn new(tasks: TaskService, is_headless: bool) -> Self {
        Self { tasks, is_headless, seen: 0, titles: BTreeMap::new(), done: 0, last_decider: None }
    }

    /// Prints the events since the last call.
    pub(crate) async fn print_new(&mut self) -> Result<(), CliError> {
        loop {
            let events = self.tasks.events_after(self.seen).await?;
            let Some(last) = events.last() else { return Ok(()) };
            self.seen = last.seq;
            for recorded in &events {
                let is_of_person = matches!(recorded.event.by, Actor::Human { .. });
                if is_of_person && is_decision(&recorded.event.body) {
                    self.last_decider = Some(recorded.event.by.clone());
                }
                if let Some(line) = self.line(&recorded.event.body) {
                    let tally = format!("[{}/{}] ", self.done, self.titles.len());
                    output::line(&if self.is_headless { line } else { tally + &line });
                }
            }
        }
    }

    pub(crate) fn last_decider(&self) -> Option<&Actor> {
        self.last_decider.as_ref()
    }

    fn line(&mut self, body: &EventBody) -> Option<String> {
        match body {
            EventBody::TaskCreated { spec, depends_on } => {
                self.titles.insert(spec.id, spec.title.to_string());
                let waits: Vec<String> = depends_on.iter().map(|on| self.name(*on)).collect();
                let waits =
                    if waits.is_empty() { String::new() } else { format!(", after {}", waits.join(" and ")) };
                Some(format!("+ {}{waits}", self.name(spec.id)))
            }
            EventBody::TaskClaimed { task, resumes: None, .. } => {
                Some(format!("▶ {}: agent started", self.name(*task)))
            }
            EventBody::TaskClaimed { task, resumes: Some(_), .. } => {
                Some(format!("▶ {}: agent resumed", self.name(*task)))
            }
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
                ReviewMark::BurnedOut | ReviewMark::NotConverging => {
                    format!("⚠ {}: all turns used, no commit", self.name(*task))
                }
                ReviewMark::NeedsReview { reasons } => {
                    format!("⚠ {}: needs a closer look: {}", self.name(*task), reasons.join("; "))
                }
                ReviewMark::Plan => format!("○ {}: plan ready for approval", self.name(*task)),
            }),
            EventBody::TaskDone { task, accepted_by } => {
                self.done += 1;
                Some(match accepted_by {
                    AcceptedBy::PlanApproved { .. } => {
                        format!("✔ {}: plan approved", self.name(*task))
                    }
                    AcceptedBy::Actor { .. } | AcceptedBy::Output => {
                        format!("✔ {}: accepted and merged", self.name(*task))
                    }
                })
            }
            EventBody::TaskRecycled { task, .. } => {
                self.done += 1;
                Some(format!("↻ {}: too large, breaking it down", self.name(*task)))
            }
            EventBody::DependentsRewired { from, to } => {
                let to: Vec<String> = to.iter().map(|task| self.name(*task)).collect();
                Some(format!("  dependents of {} now depend on {}", self.name(*from), to.join(" and ")))
            }
            EventBody::TaskRequeued { task, .. } => {
                Some(format!("← {}: back in the queue", self.name(*task)))
            }
            EventBody::TaskSentBack { task, reason } => {
                let met: Vec<String> = reason.met().iter().map(|met| self.name(met.task_id)).collect();
                let with = if met.is_empty() {
                    String::new()
                } else {
                    format!(" together with {}", met.join(" and "))
                };
                Some(format!(
                    "↩ {}: passed its checks alone and fails them{with}; back to its agent",
                    self.name(*task)
                ))
            }
            EventBody::TaskFailed { task, error } => Some(format!("✘ {}: {error}", self.name(*task))),
            _ => None,
        }
    }

    fn name(&self, task: TaskId) -> String {
        self.titles.get(&task).map_or_else(|| task.to_string(), |title| format!("“{title}”"))
    }
}

/// Whether this event is a decision of a person or of the stand-in.
fn is_decision(body: &EventBody) -> bool {
    matches!(
        body,
        EventBody::QuestionAnswered { .. }
            | EventBody::TaskDone { .. }
            | EventBody::TaskLanding { .. }
            | EventBody::TaskRejected { .. }
            | EventBody::BreakdownReleased { .. }
            | EventBody::PlanApproved { .. }
            | EventBody::PlanRejected { .. }
    )
}

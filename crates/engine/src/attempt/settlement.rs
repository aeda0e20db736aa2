//! What the exit of a run means for its task, in the words the guard knows. The guard decides.

use baton_core::ask::question::{QuestionDraft, QuestionKind};
use baton_core::base::task_type::{Deliverable, TaskType};
use baton_core::base::text::{NonBlank, StepName};
use baton_core::recipe::exit_reason::{ExitCategory, ExitReason};
use baton_core::recipe::outcome::Outcome;
use baton_core::recipe::run::RunOrigin;
use baton_core::task::attempt::{AttemptReport, AttemptResult, BlockReason, ErrorCause};
use baton_core::task::{Purpose, Task};

use crate::runs::STOPPED_BY_PERSON;

/// The exit of a run, and what the agent said last.
pub(crate) struct Exit<'a> {
    pub reason: &'a ExitReason,
    /// The outcome that led there, where one did.
    pub outcome: Option<&'a Outcome>,
    /// The agent's last message.
    pub text: &'a str,
    pub origin: RunOrigin,
    /// What the person who stopped it gave as the reason.
    pub stopped_because: Option<&'a NonBlank>,
    /// What the step before the last one said.
    pub before: Option<StepWords>,
}

/// What a step said at its end.
pub(crate) struct StepWords {
    pub step: StepName,
    pub words: NonBlank,
}

impl Exit<'_> {
    /// What the attempt reports. `shows_work` is what git says.
    pub(crate) fn reported(&self, task: &Task, shows_work: bool) -> AttemptReport {
        AttemptReport::new(self.result(task, shows_work), self.output(task, shows_work))
    }

    fn result(&self, task: &Task, shows_work: bool) -> AttemptResult {
        match self.reason.category() {
            ExitCategory::Error => {
                AttemptResult::Error { cause: ErrorCause::Own, message: self.error_message() }
            }
            ExitCategory::Guardrail => Self::asks_person(&format!(
                "{}. How should the work go on?\n\nWhat was done so far is kept. What you write is given to the agent, and the \
                 recipe begins again with it. NO holds the task until you release it. To give it up instead, cancel it: baton \
                 task cancel {}.{}{}",
                self.reason.message(),
                task.id(),
                self.words_before(),
                self.last_words(),
            )),
            ExitCategory::Completed => self.completed(task, shows_work),
        }
    }

    /// An agent's own error says more than that there was one.
    fn error_message(&self) -> String {
        if *self.reason == ExitReason::error() && !self.text.trim().is_empty() {
            return self.text.trim().to_owned();
        }
        format!("{}\n\n{}", self.reason.message(), self.text).trim_end().to_owned()
    }

    fn completed(&self, task: &Task, shows_work: bool) -> AttemptResult {
        match self.reason.as_str() {
            // Only a person can go on from here, with the agent's own words as the question.
            "implementation-blocked" | "clarification-needed" | "rebase-conflict" | "merge-conflict" => {
                match self.words() {
                    Some(words) if task.spec().task_type != TaskType::DangerousOp => Self::asks(words),
                    Some(words) => AttemptResult::Blocked { reason: BlockReason::Other(words.to_owned()) },
                    None => AttemptResult::Blocked { reason: BlockReason::Unstated },
                }
            }
            "no-changes-needed" | "no-changes-to-commit" => AttemptResult::NoChanges {
                reason: self.words().map_or_else(|| self.reason.message(), str::to_owned),
            },
            // It was told that this is a task, and says again that there is none.
            "no-tasks-available" if task.spec().purpose == Purpose::Work && !shows_work => {
                Self::asks_person(&self.decide_about(
                    task,
                    "The agent says that there is no task to work on, and has done nothing for this one",
                ))
            }
            "no-tasks-available" => AttemptResult::NoChanges {
                reason: self.words().map_or_else(|| self.reason.message(), str::to_owned),
            },
            // I22: nobody continues it but a person.
            "user-requested" => AttemptResult::Stopped {
                reason: self.stopped_because.map_or(STOPPED_BY_PERSON, NonBlank::as_str).to_owned(),
            },
            "user-provided-other" if shows_work => {
                AttemptResult::Stopped { reason: self.words().unwrap_or(self.text).trim().to_owned() }
            }
            "user-provided-other" => {
                Self::asks_person(&self.decide_about(task, "The agent stopped before it was finished"))
            }
            // An exit is an end: the same recipe would only end the same way again.
            _ if !shows_work && self.origin != RunOrigin::Default && needs_commits(task) => {
                let ended = format!("The recipe ended without a commit ({})", self.reason.message());
                Self::asks_person(&self.decide_about(task, &ended))
            }
            _ => AttemptResult::Complete,
        }
    }

    /// A question about what to do next, with the agent's words.
    fn decide_about(&self, task: &Task, ended: &str) -> String {
        let said = self.last_words();
        format!(
            "What should become of this task? {ended}.{said}\n\nWhat you write is given to the agent, and the recipe \
             begins again with it. NO holds the task until you release it. To give it up instead, cancel it: baton task \
             cancel {}.",
            task.id()
        )
    }

    /// What the agent said about its outcome, or all it said, as the end of a question.
    fn last_words(&self) -> String {
        let words = self.words().unwrap_or(self.text).trim();
        let is_report = words.lines().count() == 1 && words.starts_with('{') && words.contains("\"outcome\"");
        if words.is_empty() || is_report { String::new() } else { format!("\n\nThe agent said:\n{words}") }
    }

    /// A question of Baton's own: NO to it starts nothing (I22).
    fn asks_person(text: &str) -> AttemptResult {
        match Self::asks(text) {
            AttemptResult::Asked { question } => AttemptResult::Asked { question: question.holding_on_no() },
            other => other,
        }
    }

    fn asks(text: &str) -> AttemptResult {
        match NonBlank::new(text) {
            Ok(text) => {
                AttemptResult::Asked { question: QuestionDraft::new(QuestionKind::Clarification, text) }
            }
            Err(_) => AttemptResult::Blocked { reason: BlockReason::Unstated },
        }
    }

    /// What the step before said, such as what a reviewer found: that is what does not come to an end.
    fn words_before(&self) -> String {
        self.before.as_ref().map_or_else(String::new, |before| {
            format!("\n\nThe step \"{}\" said before:\n{}", before.step, before.words)
        })
    }

    fn words(&self) -> Option<&str> {
        self.outcome.and_then(|outcome| outcome.description.as_ref()).map(NonBlank::as_str)
    }

    /// The agent's message; for a task that was made for the run, how the run ended before it.
    fn output(&self, task: &Task, shows_work: bool) -> String {
        let text = match self.words() {
            Some(words) if !self.text.contains(words) => format!("{}\n\n{words}", self.text.trim_end()),
            Some(_) | None => self.text.trim_end().to_owned(),
        };
        let message = self.reason.message();
        match task.spec().purpose {
            Purpose::Run if shows_work => text,
            Purpose::Run => format!("{message}\n\n{}", text.trim_start()).trim_end().to_owned(),
            Purpose::Work | Purpose::Breakdown { .. } => text.trim_start().to_owned(),
        }
    }
}

/// Whether the task was queued to change code; one made for a run may end without.
fn needs_commits(task: &Task) -> bool {
    task.spec().purpose == Purpose::Work && wants_code(task)
}

/// Whether commits are what the task is to deliver.
pub(crate) fn wants_code(task: &Task) -> bool {
    match task.spec().task_type.deliverable() {
        Deliverable::Output => false,
        Deliverable::Code | Deliverable::Danger => true,
    }
}

#[cfg(test)]
pub(crate) mod tests {

    use baton_core::base::id::{SessionId, TaskId};

    use baton_core::task::TaskSpec;

    use baton_core::base::time::Timestamp;

    use super::*;

    /// One that is to be implemented, and no more.
    pub(crate) fn task() -> Task {
        Task::create(TaskSpec::new(
            TaskId::from_bits(1),
            "sess_1".parse::<SessionId>().unwrap(),
            TaskType::Implementation,
            NonBlank::new("Parse the dates").unwrap(),
            Timestamp::from_ms(0),
        ))
    }

    /// What an agent says of being blocked is its own words; these are ours.
    #[test]
    fn every_question_baton_puts_at_the_end_of_a_run_stands_alone() {
        for reason in ["max-total-steps", "max-step-visits-exceeded:fix", "user-provided-other", "published"]
        {
            let reason: ExitReason = reason.parse().unwrap();
            let exit = Exit {
                reason: &reason,
                outcome: None,
                text: "I was at it.",
                origin: RunOrigin::Task,
                stopped_because: None,
                before: None,
            };
            let AttemptResult::Asked { question } = exit.reported(&task(), false).result else {
                panic!("{reason} asks nothing")
            };
            assert_eq!(question.missing_context(), [], "{}", question.text);
        }
    }
}

//! A limit for failures that are nobody's fault: a task that meets them again and again becomes a question to the person.
//!
//! Failures of the agent itself (a rate limit, a missing program) hold the agent and are not counted here: they would meet any
//! other task too.

use baton_core::ask::question::{QuestionDraft, QuestionKind};
use baton_core::base::text::NonBlank;
use baton_core::task::Task;
use baton_core::task::attempt::{AttemptReport, AttemptResult, ErrorCause};
use baton_core::task::attempt_record::{AttemptClosing, AttemptRecord};

use crate::base::error::EngineError;
use crate::limits::Limits;

/// Systemic failures of one task in a row, of which the last asks.
const SYSTEMIC_MAX: usize = 3;

impl Limits {
    /// Turns the last of too many systemic failures into a question. To be called after the failure was noted.
    pub(crate) async fn limit_systemic(
        &self,
        task: &Task,
        reported: AttemptReport,
    ) -> Result<AttemptReport, EngineError> {
        let AttemptResult::Error { cause: ErrorCause::Systemic, message } = &reported.result else {
            return Ok(reported);
        };
        let Some(live) = task.state().live_attempt() else { return Ok(reported) };
        let is_held = self.intakes.is_excused(task.id()) || self.is_closed(&live.agent).await?;
        let attempts = self.tasks.store.attempts(task.id()).await?;
        if is_held || failures_in_a_row(&attempts) + 1 < SYSTEMIC_MAX {
            return Ok(reported);
        }
        let text = format!(
            "What should become of the task \"{}\"? It could not be run {SYSTEMIC_MAX} times in a row: {message}\n\nYES tries \
             again, and so does anything you write for the agent; NO holds the task until you release it. To give it up: baton \
             task cancel {}.",
            task.spec().title,
            task.id()
        );
        let question =
            QuestionDraft::new(QuestionKind::Clarification, NonBlank::or(&text, task.spec().title.clone()))
                .holding_on_no();
        Ok(AttemptReport { result: AttemptResult::Asked { question }, ..reported })
    }
}

/// How many of the latest attempts that ended were systemic failures.
fn failures_in_a_row(attempts: &[AttemptRecord]) -> usize {
    let ended = attempts.iter().rev().filter_map(|record| match &record.closing {
        Some(AttemptClosing::Ended { end, .. }) => Some(end),
        Some(AttemptClosing::Lost { .. } | AttemptClosing::Stopped { .. }) | None => None,
    });
    let is_systemic =
        |result: &AttemptResult| matches!(result, AttemptResult::Error { cause: ErrorCause::Systemic, .. });
    ended.take_while(|end| is_systemic(&end.reported.result)).count()
}

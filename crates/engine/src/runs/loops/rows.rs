//! The rows of a loop: where it is read from, and the one change each of its steps is written as.

use std::sync::Arc;

use baton_core::ask::question::Question;
use baton_core::ask::question_record::{QuestionRecord, QuestionState};
use baton_core::base::id::SessionId;
use baton_core::base::text::NonBlank;
use baton_core::base::time::Timestamp;
use baton_core::people::actor::Actor;
use baton_core::phase::phase_loop::{LoopHandoff, PhaseLoop};
use baton_core::recipe::Recipe;
use baton_core::recipe::exit_reason::ExitReason;
use baton_core::recipe::run::Run;
use baton_core::records::change::{Change, Record, Versioned, WriteGuard};
use baton_core::records::effect::{Effect, Notification, Timer};
use baton_core::records::event::EventBody;

use crate::base::error::Result;
use crate::runs::loops::Loops;
use crate::runs::loops::commands::loop_recipe;
use crate::runs::{exited, is_loop, stamp};

impl Loops {
    pub async fn phase_loop(&self, session: &SessionId) -> Result<Option<Versioned<PhaseLoop>>> {
        Ok(self.tasks.store.phase_loop(session).await?)
    }

    /// The runs that stand for a loop: of its recipe, and bound to no task.
    pub(crate) async fn open_loops(&self) -> Result<Vec<Versioned<Run>>> {
        let mut open = self.tasks.store.open_runs().await?;
        open.retain(|stored| is_loop(&stored.value));
        Ok(open)
    }

    pub(crate) async fn run_of_loop(&self, session: &SessionId) -> Result<Option<Versioned<Run>>> {
        Ok(self.open_loops().await?.into_iter().find(|stored| stored.value.session() == session))
    }

    /// The recipe of the session's loop: as it was when the loop began, or as it is now where none is open.
    pub(crate) async fn recipe_of_loop(&self, session: &SessionId) -> Result<Arc<Recipe>> {
        match self.run_of_loop(session).await? {
            Some(open) => self.runs.recipe_of(&open.value),
            None => self.tasks.recipes.find(&loop_recipe()?),
        }
    }

    /// Writes it; false when a row moved meanwhile and all is to be read again.
    pub(crate) async fn try_write(&self, change: Change) -> Result<bool> {
        Ok(self.tasks.decision("the loop").try_commit(change).await?.is_none())
    }
}

pub(crate) fn put(next: &PhaseLoop, version: Option<u64>) -> Change {
    let guard = version.map_or(WriteGuard::New, WriteGuard::Version);
    Change::new().put(Record::Loop(Box::new(next.clone())), guard)
}

/// The hand-off, as the history tells it.
pub(crate) fn handed_off(handed: &LoopHandoff) -> EventBody {
    EventBody::PhaseHandedOff {
        session: handed.next.session().clone(),
        handoff: Box::new(handed.handoff.clone()),
    }
}

/// The end of the run that stood for the loop, which is in the hub now.
pub(crate) fn over(
    run: Option<Versioned<Run>>,
    ended: &PhaseLoop,
    reason: ExitReason,
    error: Option<NonBlank>,
    now: Timestamp,
) -> Result<(Change, Vec<EventBody>)> {
    let Some(open) = run else { return Ok((Change::new(), Vec::new())) };
    let run = open.value.exit(reason)?.0.end_at(now, error).with_summary(ended.summary());
    let mut change = Change::new().put(Record::Run(Box::new(run.clone())), WriteGuard::Version(open.version));
    change.effects.push(Effect::Notify { about: Notification::RunExited(run.id()) });
    Ok((change, exited(&run)))
}

/// A question of the loop's, in the inbox.
pub(crate) fn asked(session: &SessionId, question: &Question, now: Timestamp, actor: &Actor) -> Change {
    let record = QuestionRecord {
        question: question.clone(),
        session_id: session.clone(),
        task_id: None,
        asked_at: now,
        state: QuestionState::Pending,
    };
    let mut change = Change::new().put(Record::Question(record), WriteGuard::New);
    let body = EventBody::QuestionAsked {
        session: session.clone(),
        task: None,
        question: Box::new(question.clone()),
    };
    stamp(&mut change, vec![body], now, actor);
    change.effects.push(Effect::Notify { about: Notification::Question(question.id) });
    if let Some(at) = question.draft.expires_at {
        change.effects.push(Effect::ScheduleTimer { timer: Timer::QuestionExpires(question.id), at });
    }
    change
}

/// The question was settled, one way or the other.
pub(crate) fn closed(record: &QuestionRecord, state: QuestionState, actor: &Actor, now: Timestamp) -> Change {
    let (session, question) = (record.session_id.clone(), record.question.id);
    let body = match &state {
        QuestionState::Answered { answer, answered_by, .. } => Some(EventBody::QuestionAnswered {
            session,
            task: None,
            question,
            answer: answer.clone(),
            answered_by: answered_by.clone(),
        }),
        QuestionState::Withdrawn { reason, .. } => {
            Some(EventBody::QuestionWithdrawn { session, task: None, question, reason: reason.clone() })
        }
        QuestionState::Pending => None,
    };
    let record = QuestionRecord { state, ..record.clone() };
    let mut change = Change::new().put(Record::Question(record), WriteGuard::Owned);
    stamp(&mut change, body.into_iter().collect(), now, actor);
    if let Some(timer) = change.puts.first().and_then(|put| match &put.record {
        Record::Question(record) => record.question.draft.expires_at.map(|_| record.question.id),
        _ => None,
    }) {
        change.effects.push(Effect::CancelTimer { timer: Timer::QuestionExpires(timer) });
    }
    change
}

//! The rows of a loop: where it is read from, and the one change each of its steps is written as.

use baton_core::actor::Actor;
use baton_core::change::{Change, Guard, Record, Stored};
use baton_core::effect::{Effect, Notice, Timer};
use baton_core::event::EventBody;
use baton_core::exit_reason::ExitReason;
use baton_core::id::SessionId;
use baton_core::phase_loop::{HandedOff, PhaseLoop};
use baton_core::question::Question;
use baton_core::question_record::{QuestionRecord, QuestionState};
use baton_core::run::Run;
use baton_core::text::NonBlank;
use baton_core::time::Timestamp;
use baton_store::model::commit::{Commit, Conflict};

use crate::desk::{Answer, Desk};
use crate::error::EngineError;
use crate::runs::{exited, is_loop, stamp};

impl Desk {
    pub async fn phase_loop(&self, session: &SessionId) -> Answer<Option<Stored<PhaseLoop>>> {
        Ok(self.store.phase_loop(session).await?)
    }

    /// The runs that stand for a loop: of its recipe, and bound to no task.
    pub(super) async fn open_loops(&self) -> Answer<Vec<Stored<Run>>> {
        let mut open = self.store.open_runs().await?;
        open.retain(|stored| is_loop(&stored.value));
        Ok(open)
    }

    pub(super) async fn run_of_loop(&self, session: &SessionId) -> Answer<Option<Stored<Run>>> {
        Ok(self.open_loops().await?.into_iter().find(|stored| stored.value.session() == session))
    }

    /// Writes it; false when a row moved meanwhile and all is to be read again.
    pub(super) async fn try_write(&self, change: Change) -> Answer<bool> {
        match self.store.commit(change).await? {
            Commit::Written { .. } => Ok(true),
            Commit::Conflict(Conflict::Moved { .. }) => Ok(false),
            Commit::Conflict(conflict) => Err(EngineError::Dependency(conflict)),
        }
    }
}

pub(super) fn put(next: &PhaseLoop, version: Option<u64>) -> Change {
    let guard = version.map_or(Guard::New, Guard::Version);
    Change::new().put(Record::Loop(Box::new(next.clone())), guard)
}

/// The hand-off, as the history tells it.
pub(super) fn handed_off(handed: &HandedOff) -> EventBody {
    EventBody::PhaseHandedOff {
        session: handed.next.session().clone(),
        handoff: Box::new(handed.handoff.clone()),
    }
}

/// The end of the run that stood for the loop.
pub(super) fn over(
    run: Option<Stored<Run>>,
    reason: ExitReason,
    error: Option<NonBlank>,
) -> Answer<(Change, Vec<EventBody>)> {
    let Some(open) = run else { return Ok((Change::new(), Vec::new())) };
    let (run, _) = open.value.exit(reason)?;
    let mut change = Change::new().put(Record::Run(Box::new(run.clone())), Guard::Version(open.version));
    change.effects.push(Effect::Notify { about: Notice::RunExited(run.id()) });
    Ok((change, exited(&run, error)))
}

/// A question of the loop's, in the inbox.
pub(super) fn asked(session: &SessionId, question: &Question, now: Timestamp, actor: &Actor) -> Change {
    let record = QuestionRecord {
        question: question.clone(),
        session_id: session.clone(),
        task_id: None,
        asked_at: now,
        state: QuestionState::Pending,
    };
    let mut change = Change::new().put(Record::Question(record), Guard::New);
    let body = EventBody::QuestionAsked {
        session: session.clone(),
        task: None,
        question: Box::new(question.clone()),
    };
    stamp(&mut change, vec![body], now, actor);
    change.effects.push(Effect::Notify { about: Notice::Question(question.id) });
    if let Some(at) = question.draft.expires_at {
        change.effects.push(Effect::ScheduleTimer { timer: Timer::QuestionExpires(question.id), at });
    }
    change
}

/// The question was settled, one way or the other.
pub(super) fn closed(record: &QuestionRecord, state: QuestionState, actor: &Actor, now: Timestamp) -> Change {
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
    let mut change = Change::new().put(Record::Question(record), Guard::Owned);
    stamp(&mut change, body.into_iter().collect(), now, actor);
    if let Some(timer) = change.puts.first().and_then(|put| match &put.record {
        Record::Question(record) => record.question.draft.expires_at.map(|_| record.question.id),
        _ => None,
    }) {
        change.effects.push(Effect::CancelTimer { timer: Timer::QuestionExpires(timer) });
    }
    change
}

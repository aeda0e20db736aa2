//! Decisions on a subtask that a person takes on its task instead of at the loop's question. One decision has one
//! place: whichever is used first decides, and the other is closed.

use baton_core::ask::answer_source::AnsweredBy;
use baton_core::ask::question_record::QuestionState;
use baton_core::base::text::{NonBlank, Role};
use baton_core::people::actor::Actor;
use baton_core::phase::phase_loop::PhaseLoop;
use baton_core::phase::work::{PhaseWork, QuestionTopic};
use baton_core::records::change::{Change, Versioned};
use baton_core::task::Task;
use baton_core::task::state::TaskState;

use crate::base::error::{ErrorKind, Result};
use crate::runs::loops::Loops;
use crate::runs::loops::answers::LoopAnswer;
use crate::runs::loops::rows::{closed, put};

/// Events of a task read at once.
const EVENTS_PAGE: u32 = 500;

impl Loops {
    /// Whether the task's loop asks right now if it is done, so that this question is where to decide about it.
    pub async fn asks_about(&self, task: &Task) -> Result<bool> {
        let [_, execute, _] = Role::loop_phases();
        if task.spec().role != execute {
            return Ok(false);
        }
        let stored = self.phase_loop(&task.spec().session_id).await?;
        let asks = |current: &PhaseLoop| {
            current.topic() == Some(QuestionTopic::IsDone) && asked_about(current) == Some(task.id())
        };
        Ok(stored.is_some_and(|stored| asks(&stored.value)))
    }

    /// Takes up subtasks that failed or were skipped, and that somebody lets run after all, by a retry or a release. A gate
    /// that counted them is closed and asked anew. False where there are none.
    pub(crate) async fn take_up_again(&self, stored: &Versioned<PhaseLoop>) -> Result<bool> {
        let current = &stored.value;
        let PhaseWork::Execute(before) = current.work() else { return Ok(false) };
        let mut work = before.clone();
        let mut taken_up = None;
        for id in before.given_up() {
            let task = self.tasks.task(id).await?.value;
            if is_under_way(task.state()) {
                work.take_up(id);
                taken_up = Some(task);
            }
        }
        let Some(task) = taken_up else { return Ok(false) };
        let work = PhaseWork::Execute(work);
        let pending = current.pending().filter(|_| before.current().is_none());
        let Some(pending) = pending else {
            self.try_write(put(&current.at_work(work, current.topic()), Some(stored.version))).await?;
            return Ok(true);
        };
        let Some(record) = self.tasks.question(pending.id).await? else { return Ok(false) };
        let (now, actor) = (self.tasks.store.now().await?, self.last_person(&task).await?);
        let answer = NonBlank::new(format!("{} was started again", task.id()))?;
        let answered_by = answered_by(&actor);
        let next = current.answer_freely(pending.id, &answer, answered_by.clone())?;
        let settled = QuestionState::Answered { at: now, answer, answered_by };
        let change = put(&next.at_work(work, None), Some(stored.version));
        self.try_write(change.and(closed(&record, settled, &actor, now))).await?;
        Ok(true)
    }

    /// Answers the pending question by what was decided on the task meanwhile. False where it is still to be decided.
    pub(crate) async fn take_decision_elsewhere(&self, stored: &Versioned<PhaseLoop>) -> Result<bool> {
        let (Some(task), Some(pending)) = (asked_about(&stored.value), stored.value.pending()) else {
            return Ok(false);
        };
        let task = self.tasks.task(task).await?.value;
        let is_about_end = stored.value.topic() == Some(QuestionTopic::IsDone);
        let decided = if is_about_end { decision_on(&task) } else { leave_on(&task) };
        let Some(answer) = decided else { return Ok(false) };
        let Some(record) = self.tasks.question(pending.id).await? else { return Ok(false) };
        let (answer, actor) = (NonBlank::new(answer)?, self.last_person(&task).await?);
        let answered_by = answered_by(&actor);
        let given = LoopAnswer { record: &record, answer: &answer, answered_by: &answered_by, actor: &actor };
        match self.answer_in_loop(&given, Change::new()).await {
            Ok(_) => Ok(true),
            // Somebody answered it at the same moment.
            Err(error) if error.kind() == ErrorKind::AlreadyAnswered => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// The person who acted on the task last.
    async fn last_person(&self, task: &Task) -> Result<Actor> {
        let (mut last, mut after) = (Actor::policy("the loop"), 0);
        loop {
            let events = self.tasks.store.task_events(task.id(), after, EVENTS_PAGE).await?;
            let Some(newest) = events.last() else { return Ok(last) };
            after = newest.seq;
            let mut people = events.into_iter().map(|recorded| recorded.event.by).filter(Actor::is_human);
            last = people.next_back().unwrap_or(last);
        }
    }
}

fn answered_by(actor: &Actor) -> AnsweredBy {
    match actor {
        Actor::Human { name } => AnsweredBy::human(name.clone()),
        Actor::Policy { .. } | Actor::Agent { .. } | Actor::Baton => {
            AnsweredBy::Policy { name: "the task's own decision".to_owned() }
        }
    }
}

/// The subtask that the loop asks about.
fn asked_about(current: &PhaseLoop) -> Option<baton_core::base::id::TaskId> {
    match (current.work(), current.topic()) {
        (PhaseWork::Execute(work), Some(QuestionTopic::IsDone | QuestionTopic::MayRun)) => {
            work.current().map(|subtask| subtask.task.id)
        }
        _ => None,
    }
}

/// Whether somebody has let the subtask run, or it has run: nobody is to be asked whether it may.
pub(super) fn is_under_way(state: &TaskState) -> bool {
    match state {
        TaskState::Incoming
        | TaskState::Claimed { .. }
        | TaskState::NeedsContinuation { .. }
        | TaskState::AwaitingResponse { .. }
        | TaskState::Blocked { .. }
        | TaskState::Provisional(_)
        | TaskState::Landing(_)
        | TaskState::Done { .. } => true,
        TaskState::Held
        | TaskState::Failed { .. }
        | TaskState::Cancelled { .. }
        | TaskState::Recycled { .. }
        | TaskState::Breakdown { .. } => false,
    }
}

/// The answer to "may it run?" that the task's state stands for.
fn leave_on(task: &Task) -> Option<&'static str> {
    is_under_way(task.state()).then_some("YES")
}

/// The answer to "is it done?" that the task's state stands for. A subtask that has run is provisional, failed, or held because
/// somebody stopped it; any other state is a decision.
fn decision_on(task: &Task) -> Option<&'static str> {
    match task.state() {
        TaskState::Done { .. } | TaskState::Landing(_) => Some("YES"),
        TaskState::Incoming
        | TaskState::Claimed { .. }
        | TaskState::NeedsContinuation { .. }
        | TaskState::AwaitingResponse { .. }
        | TaskState::Blocked { .. } => Some("NO: rejected on the task itself"),
        TaskState::Cancelled { .. } | TaskState::Recycled { .. } => Some("FAILED"),
        TaskState::Provisional(_)
        | TaskState::Failed { .. }
        | TaskState::Held
        | TaskState::Breakdown { .. } => None,
    }
}

//! An answer to a question of the loop's: applied once, with everything that follows from it in the same transaction.

use crate::base::error::{Entity, NotFound};
use baton_core::ask::answer_source::AnsweredBy;
use baton_core::ask::choice::YesNo;
use baton_core::ask::question_record::{QuestionRecord, QuestionState};
use baton_core::base::id::TaskId;
use baton_core::base::text::NonBlank;
use baton_core::base::time::Timestamp;
use baton_core::people::actor::Actor;
use baton_core::phase::Phase;
use baton_core::phase::handoff::PhaseResults;
use baton_core::phase::phase_loop::{GateOutcome, PhaseLoop};
use baton_core::phase::work::{FollowUp, PhaseWork, QuestionTopic};
use baton_core::recipe::Recipe;
use baton_core::recipe::exit_reason::ExitReason;
use baton_core::recipe::run::{GateAnswer, Run, RunState};
use baton_core::records::change::{Change, Record, Versioned, WriteGuard};
use baton_core::transition::command::Command;

use crate::base::error::Result;
use crate::runs::loops::Loops;
use crate::runs::loops::commands::{loop_recipe, passed_gate};
use crate::runs::loops::planning::Planned;
use crate::runs::loops::rows::{closed, handed_off, over, put};
use crate::runs::stamp;

/// An answer, and who gives it.
pub(crate) struct LoopAnswer<'a> {
    pub record: &'a QuestionRecord,
    pub answer: &'a NonBlank,
    pub answered_by: &'a AnsweredBy,
    pub actor: &'a Actor,
}

impl Loops {
    /// Answers a question of a loop's. `extra` is written with it.
    pub(crate) async fn answer_in_loop(&self, given: &LoopAnswer<'_>, extra: Change) -> Result<PhaseLoop> {
        let session = &given.record.session_id;
        let mut decision = self.tasks.decision(format_args!("the loop of {session}"));
        loop {
            let missing = || NotFound::new(Entity::Loop, session);
            let stored = self.phase_loop(session).await?.ok_or_else(missing)?;
            let now = self.tasks.store.now().await?;
            let (next, change) = match stored.value.topic() {
                Some(QuestionTopic::Gate) => self.pass_gate(&stored, given, now).await?,
                topic => self.take_answer_in(&stored, topic, given, now).await?,
            };
            if decision.commit(change.and(extra.clone())).await? {
                return Ok(next);
            }
        }
    }

    /// I7: the answer, the closed cycle, the hand-off, the run and the tasks of a plan are one change.
    async fn pass_gate(
        &self,
        stored: &Versioned<PhaseLoop>,
        given: &LoopAnswer<'_>,
        now: Timestamp,
    ) -> Result<(PhaseLoop, Change)> {
        let (current, id) = (&stored.value, given.record.question.id);
        let (results, created, execute) = match current.work() {
            PhaseWork::Plan(work) => {
                let Planned { results, change, work } = self.planned(current, work, given.actor, now).await?;
                (results, change, Some(work))
            }
            work => (work.results().unwrap_or(PhaseResults::Started), Change::new(), None),
        };
        let by = given.answered_by.clone();
        let answered = current.answer_gate(id, given.answer, by, results, self.fresh_cycle())?;
        // A gate was read as YES or NO, and is recorded as that.
        let read = YesNo::read(given.answer.as_str()).map_or(given.answer.clone(), said);
        let settled =
            QuestionState::Answered { at: now, answer: read, answered_by: given.answered_by.clone() };
        let answer = closed(given.record, settled, given.actor, now);
        let session = current.session();
        match answered {
            GateOutcome::Stayed { next } => {
                let mut work = next.work().clone();
                work.apply_answer(QuestionTopic::Gate, given.answer)?;
                let next = next.at_work(work, None);
                Ok((next.clone(), put(&next, Some(stored.version)).and(answer)))
            }
            GateOutcome::HandedOff(handed) => {
                let mut next = handed.next.clone();
                if let (Some(execute), Phase::Execute) = (execute, next.phase()) {
                    next = next.at_work(PhaseWork::Execute(execute), None);
                }
                let mut change = put(&next, Some(stored.version)).and(answer);
                let mut events = vec![handed_off(&handed)];
                let run = self.run_of_loop(session).await?;
                let recipe = self.tasks.recipes.find(&loop_recipe()?)?;
                if next.phase() == Phase::Hub {
                    let reason = run.as_ref().map(|open| end_of(&open.value, &recipe)).transpose()?;
                    let (ended, told) = over(run, reason.unwrap_or_else(ExitReason::user_requested), None)?;
                    change = change.and(ended);
                    events.extend(told);
                } else if let Some(open) = run {
                    let (run, told) = passed_gate(&open.value, &recipe, GateAnswer::Yes)?;
                    change = change.put(Record::Run(Box::new(run)), WriteGuard::Version(open.version));
                    events.extend(told);
                }
                change = change.and(created);
                stamp(&mut change, events, now, given.actor);
                Ok((next, change))
            }
        }
    }

    /// Any answer but a gate's.
    async fn take_answer_in(
        &self,
        stored: &Versioned<PhaseLoop>,
        topic: Option<QuestionTopic>,
        given: &LoopAnswer<'_>,
        now: Timestamp,
    ) -> Result<(PhaseLoop, Change)> {
        let id = given.record.question.id;
        let (next, answered) = stored.value.answer(id, given.answer, given.answered_by.clone())?;
        let mut work = next.work().clone();
        let wanted = match topic {
            Some(topic) => work.apply_answer(topic, &answered.answer)?,
            None => FollowUp::Nothing,
        };
        let mut change = Change::new();
        match wanted {
            FollowUp::Nothing => {}
            // The work is merged by whoever has the repository at hand; see the conductor.
            FollowUp::Accept { task } => {
                if let PhaseWork::Execute(execute) = &mut work {
                    execute.done_by.insert(task, given.actor.clone());
                }
            }
            FollowUp::Fail { task } => change = change.and(self.marked_failed(task).await?),
            FollowUp::Create(approved) => {
                let (created, counts) = self.discovered(&stored.value, approved, given.actor, now).await?;
                change = change.and(created);
                if let PhaseWork::Review(review) = &mut work {
                    review.count(counts.created, counts.skipped);
                }
            }
        }
        let next = next.at_work(work, None);
        let settled = QuestionState::Answered {
            at: now,
            answer: answered.answer,
            answered_by: given.answered_by.clone(),
        };
        let change =
            put(&next, Some(stored.version)).and(closed(given.record, settled, given.actor, now)).and(change);
        Ok((next, change))
    }

    async fn marked_failed(&self, task: TaskId) -> Result<Change> {
        let stored = self.tasks.task(task).await?;
        let context = self.tasks.context(Actor::policy("the loop")).await?;
        let reason = NonBlank::new("The human says that it failed.")?;
        match stored.value.apply(Command::MarkFailed { reason }, &context) {
            Ok(transition) => Ok(Change::transition(stored.version, transition)),
            // It failed or was cancelled by itself; the loop counts it all the same.
            Err(_) => Ok(Change::new()),
        }
    }
}

/// Where NO at the last gate leads, as the recipe has it.
fn end_of(run: &Run, recipe: &Recipe) -> Result<ExitReason> {
    let (ended, _) = passed_gate(run, recipe, GateAnswer::No)?;
    Ok(match ended.state() {
        RunState::Exited { reason } => reason.clone(),
        // The check of the recipe saw to it that this gate's NO leads out.
        RunState::Working | RunState::AtGate { .. } | RunState::Leaving { .. } => {
            ExitReason::user_requested()
        }
    })
}

fn said(answer: YesNo) -> NonBlank {
    // One of our own words is never blank; the other arm is not reached.
    NonBlank::new(answer.as_str())
        .unwrap_or_else(|_| baton_core::ask::fallback::Fallback::Default.question().text)
}

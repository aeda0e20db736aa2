//! What a person does to a loop that is under way: breaks it off, and speaks to it.

use crate::base::error::{Entity, NotFound};
use crate::runs::error::RunError;
use baton_core::ask::question_record::QuestionState;
use baton_core::base::id::{SessionId, TaskId};
use baton_core::base::text::{NonBlank, RecipeId};
use baton_core::base::time::Timestamp;
use baton_core::people::actor::Actor;
use baton_core::phase::handoff::{HandoffDecision, NamedTask};
use baton_core::phase::phase_loop::{FreshCycle, PhaseLoop};
use baton_core::phase::subtask::{Subtask, SubtaskState};
use baton_core::phase::work::PhaseWork;
use baton_core::recipe::exit_reason::ExitReason;
use baton_core::recipe::outcome::Outcome;
use baton_core::recipe::run::{GateAnswer, Run, RunObservation, RunRefusal, StepReport};
use baton_core::recipe::{LOOP_RECIPE, Recipe};
use baton_core::records::change::{Change, Record, Versioned, WriteGuard};
use baton_core::records::session::Message;
use baton_core::task::Task;
use baton_core::transition::command::Command;
use baton_core::transition::refusal::CommandRefusal;

use crate::base::attempt_secret::AttemptSecret;
use crate::base::error::Result;
use crate::runs::loops::Loops;
use crate::runs::loops::rows::{closed, handed_off, over, put};
use crate::runs::{STOPPED_BY_PERSON, goes_on, message, moved, posted, stamp};
use crate::tasks::BesideMessage;

impl Loops {
    /// Back to the hub, from wherever the loop is. What was done so far counts; nothing of it is lost.
    pub async fn break_off_loop(&self, session: &SessionId, actor: Actor) -> Result<PhaseLoop> {
        self.leave_loop(session, ExitReason::user_requested(), None, actor).await
    }

    /// Back to the hub for `reason`; `error` says what went wrong, where something did. I22: the loop's agents are
    /// stopped, and what it planned or worked on is held until somebody releases it.
    pub(crate) async fn leave_loop(
        &self,
        session: &SessionId,
        reason: ExitReason,
        error: Option<NonBlank>,
        actor: Actor,
    ) -> Result<PhaseLoop> {
        let mut decision = self.tasks.decision(format_args!("the loop of {session}"));
        loop {
            let now = self.tasks.store.now().await?;
            let missing = || NotFound::new(Entity::Loop, session);
            let stored = self.phase_loop(session).await?.ok_or_else(missing)?;
            let (next, change) = self.left(&stored, reason.clone(), error.clone(), &actor, None, now).await?;
            if decision.commit(change).await? {
                self.dismiss(&stored.value, actor).await?;
                return Ok(next);
            }
        }
    }

    /// The loop in the hub, and the change that brings it there. `answer` closes the pending question where a person
    /// left with it; otherwise it is withdrawn.
    pub(crate) async fn left(
        &self,
        stored: &Versioned<PhaseLoop>,
        reason: ExitReason,
        error: Option<NonBlank>,
        actor: &Actor,
        answer: Option<Change>,
        now: Timestamp,
    ) -> Result<(PhaseLoop, Change)> {
        let session = stored.value.session();
        let so_far = stored.value.work().results();
        let handed = stored.value.leave(so_far.as_ref(), decision_for(&reason))?;
        let run = self.run_of_loop(session).await?;
        // I22: the rest of the queue does not start because somebody stops, or does not answer.
        let is_stopped = reason == ExitReason::user_requested() || reason == ExitReason::unanswered();
        let queue = match run.as_ref().filter(|_| is_stopped) {
            Some(open) => self.runs.held_queue(&open.value, actor).await?,
            None => Change::new(),
        };
        let (mut change, mut events) = over(run, &handed.next, reason.clone(), error.clone(), now)?;
        change = put(&handed.next, Some(stored.version)).and(change);
        match (answer, stored.value.pending()) {
            (Some(answer), _) => change = change.and(answer),
            (None, Some(pending)) => {
                if let Some(record) = self.tasks.question(pending.id).await? {
                    let reason = NonBlank::new("the loop was stopped")?;
                    let withdrawn = QuestionState::Withdrawn { at: now, reason };
                    change = change.and(closed(&record, withdrawn, actor, now));
                }
            }
            (None, None) => {}
        }
        let why = hold_reason(&reason, error.as_ref())?;
        change = change.and(self.hold_work(&stored.value, &why, actor).await?).and(queue);
        events.push(handed_off(&handed));
        stamp(&mut change, events, now, actor);
        Ok((handed.next, change))
    }

    /// The task that was being planned, or the subtasks that were running or still to run.
    async fn hold_work(&self, left: &PhaseLoop, why: &NonBlank, actor: &Actor) -> Result<Change> {
        let tasks: Vec<TaskId> = match left.work() {
            PhaseWork::Plan(work) => work.subject().map(|subject| subject.id).into_iter().collect(),
            PhaseWork::Execute(work) => work
                .subtasks
                .iter()
                .filter(|subtask| is_open(subtask))
                .map(|subtask| subtask.task.id)
                .collect(),
            PhaseWork::Hub | PhaseWork::Review(_) => Vec::new(),
        };
        let is_planning = matches!(left.work(), PhaseWork::Plan(_));
        let mut change = Change::new();
        for task in tasks {
            // A subtask that a person holds keeps the reason they gave.
            let has_reason = self.tasks.task(task).await?.value.ledger().held_because.is_some();
            if is_planning || !has_reason {
                change = change.and(self.runs.stopped(task, why, actor).await?);
            }
        }
        Ok(change)
    }

    /// The agent of a plan or review that is over has nothing more to do.
    pub(crate) async fn dismiss(&self, left: &PhaseLoop, actor: Actor) -> Result<()> {
        let agent = match left.work() {
            PhaseWork::Plan(_) | PhaseWork::Review(_) => left.work().at_work(),
            PhaseWork::Hub | PhaseWork::Execute(_) => None,
        };
        let Some(task) = agent else { return Ok(()) };
        let reason = NonBlank::new("the loop was stopped").ok();
        match self.tasks.apply(task, Command::Cancel { reason }, actor).await {
            // It is over by itself.
            Ok(_) => Ok(()),
            Err(error) if error.is::<CommandRefusal>() => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Says something to the loop: the agent at work hears it before it ends, or else the next one of the phase.
    pub(crate) async fn say_to_loop(
        &self,
        session: &SessionId,
        text: &NonBlank,
        actor: &Actor,
        beside: &BesideMessage<'_>,
    ) -> Result<Message> {
        let mut decision = self.tasks.decision(format_args!("the session {session}"));
        loop {
            let no_run = || RunError::NoRun { session: session.clone() };
            let stored = self.phase_loop(session).await?.ok_or_else(no_run)?;
            if let Some(pending) = stored.value.pending() {
                // Nobody is at work, and what follows depends on the answer: that comes first.
                return Err(RunRefusal::AwaitsGate { question: first_line(pending.text()) }.into());
            }
            let (listener, heard) = self.listener(&stored, text).await?;
            let (message, change) = match listener {
                Some(task) => self.tasks.said_to(&self.tasks.task(task).await?, text, actor).await?,
                None => self.remarked(session, text, actor).await?,
            };
            let change = heard.and(change);
            if decision.commit(change.and(beside(&message))).await? {
                return Ok(message);
            }
        }
    }

    /// A message that no agent is there to read.
    async fn remarked(
        &self,
        session: &SessionId,
        text: &NonBlank,
        actor: &Actor,
    ) -> Result<(Message, Change)> {
        let now = self.tasks.store.now().await?;
        let (mut of, guard, mut events) = self.runs.opened(session, None, now).await?;
        of.message_count += 1;
        let message = message(&of, text, actor, None, now);
        events.push(posted(session, text, None));
        let mut change = Change::new()
            .put(Record::Session(of), guard)
            .put(Record::Message(message.clone()), WriteGuard::New);
        stamp(&mut change, events, now, actor);
        Ok((message, change))
    }

    /// The task whose agent is told, or the change that keeps it for the phase's next agent.
    async fn listener(
        &self,
        stored: &Versioned<PhaseLoop>,
        text: &NonBlank,
    ) -> Result<(Option<TaskId>, Change)> {
        if let Some(task) = stored.value.work().at_work()
            && goes_on(self.tasks.task(task).await?.value.state())
        {
            return Ok((Some(task), Change::new()));
        }
        let mut work = stored.value.work().clone();
        if !work.add_remark(text) {
            return Err(RunError::NoListener { session: stored.value.session().clone() }.into());
        }
        let next = stored.value.at_work(work, stored.value.topic());
        Ok((None, put(&next, Some(stored.version))))
    }

    pub(crate) fn fresh_cycle(&self) -> FreshCycle {
        FreshCycle {
            id: self.tasks.ids.cycle(),
            owner: AttemptSecret::draw(self.tasks.ids.attempt()).owner(),
        }
    }
}

fn decision_for(reason: &ExitReason) -> HandoffDecision {
    if *reason == ExitReason::user_requested() {
        HandoffDecision::BrokenOff
    } else if *reason == ExitReason::unanswered() {
        HandoffDecision::Unanswered
    } else if *reason == ExitReason::no_tasks_available() {
        HandoffDecision::NoTasks
    } else {
        HandoffDecision::GaveUp
    }
}

/// How the reason begins of what a loop could not finish, as against what a person stopped.
pub(crate) const LEFT_BY_LOOP: &str = "the loop ended: ";

/// Why the loop's task is held from now on, for people.
fn hold_reason(reason: &ExitReason, error: Option<&NonBlank>) -> Result<NonBlank> {
    if *reason == ExitReason::user_requested() {
        return Ok(NonBlank::new(STOPPED_BY_PERSON)?);
    }
    let what = error.map_or_else(|| reason.message(), ToString::to_string);
    Ok(NonBlank::new(format!("{LEFT_BY_LOOP}{what}"))?)
}

/// Whether the loop would still have run the subtask, or runs it.
fn is_open(subtask: &Subtask) -> bool {
    match subtask.state() {
        SubtaskState::AskingToRun | SubtaskState::AskingWithHelp | SubtaskState::Running => true,
        SubtaskState::AskingWhetherDone | SubtaskState::Finished(_) => false,
    }
}

fn first_line(text: &NonBlank) -> NonBlank {
    let line = text.as_str().trim().lines().next().unwrap_or_default();
    NonBlank::or(line, text.clone())
}

pub(crate) fn loop_recipe() -> Result<RecipeId> {
    Ok(LOOP_RECIPE.parse().map_err(|_| NotFound::new(Entity::Recipe, LOOP_RECIPE))?)
}

pub(crate) fn named(task: &Task) -> NamedTask {
    NamedTask { id: task.id(), title: task.spec().title.clone() }
}

/// The run beyond the gate of its step, and what is told of it. The outcome is the one the gate stands for: what its
/// agents brought is in the loop.
pub(crate) fn passed_gate(
    run: &Run,
    recipe: &Recipe,
    answer: GateAnswer,
) -> Result<(Run, Vec<baton_core::records::event::EventBody>)> {
    let gate = recipe.step(run.step()).and_then(|step| step.gate());
    let Some(gate) = gate else { return Ok((run.clone(), Vec::new())) };
    let name = match answer {
        GateAnswer::Yes => gate.yes(),
        GateAnswer::No => gate.no().unwrap_or(gate.yes()),
    };
    let outcome = Outcome { name: name.clone(), description: None };
    let (at_gate, _) = run.advance(recipe, &StepReport::Outcome(outcome), &RunObservation::default())?;
    let (beyond, advance) = at_gate.answer_gate(recipe, answer)?;
    let events = moved(&beyond, &advance, Some(name));
    Ok((beyond, events))
}

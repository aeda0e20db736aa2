//! What is told of runs: their events, and the messages people send them.

use baton_core::base::id::{SessionId, TaskId};
use baton_core::base::text::{NonBlank, OutcomeName};
use baton_core::base::time::Timestamp;
use baton_core::people::actor::Actor;
use baton_core::recipe::Recipe;
use baton_core::recipe::run::{Advance, Run, RunOrigin, RunState};
use baton_core::records::change::Change;
use baton_core::records::event::{Event, EventBody};
use baton_core::records::session::{Message, Session};

pub(crate) fn message(
    session: &Session,
    text: &NonBlank,
    author: &Actor,
    task: Option<TaskId>,
    at: Timestamp,
) -> Message {
    Message {
        session_id: session.id.clone(),
        number: session.message_count,
        author: author.clone(),
        text: text.clone(),
        at,
        task_id: task,
    }
}

pub(crate) fn posted(session: &SessionId, text: &NonBlank, task: Option<TaskId>) -> EventBody {
    EventBody::MessagePosted { session: session.clone(), text: text.clone(), task }
}

pub(crate) fn stamp(change: &mut Change, bodies: Vec<EventBody>, at: Timestamp, by: &Actor) {
    change.events.extend(bodies.into_iter().map(|body| Event { at, by: by.clone(), body }));
}

/// What is told of a new run. A run nobody asked for says nothing, here and below.
pub(crate) fn started(run: &Run, recipe: &Recipe) -> Vec<EventBody> {
    if run.origin() == RunOrigin::Default {
        return Vec::new();
    }
    let begun = EventBody::RunStarted {
        run: run.id(),
        recipe: run.recipe().clone(),
        label: recipe.label().clone(),
        session: run.session().clone(),
        task: run.task(),
        step: run.step().clone(),
        step_count: run.step_count(),
        iteration: run.iteration(),
    };
    vec![begun, step_started(run)]
}

/// What is told of a move of a run. `run` is the run after it.
pub(crate) fn moved(run: &Run, advance: &Advance, outcome: Option<&OutcomeName>) -> Vec<EventBody> {
    if run.origin() == RunOrigin::Default {
        return Vec::new();
    }
    match (advance, outcome) {
        (Advance::EnterStep { from, to, .. } | Advance::Restart { from, to }, Some(outcome)) => {
            let left = EventBody::StepLeft {
                run: run.id(),
                session: run.session().clone(),
                from: from.clone(),
                to: to.clone(),
                outcome: outcome.clone(),
            };
            vec![left, step_started(run)]
        }
        (Advance::EnterStep { .. } | Advance::Restart { .. } | Advance::StayInPhase, _) => {
            vec![step_started(run)]
        }
        (Advance::Remind { error, .. }, _) => NonBlank::new(error.clone())
            .map(|error| EventBody::OutcomeRefused {
                run: run.id(),
                session: run.session().clone(),
                step: run.step().clone(),
                error,
            })
            .into_iter()
            .collect(),
        // The question tells of the gate, and the exit of itself.
        (Advance::AskGate { .. } | Advance::Exit { .. }, _) => Vec::new(),
    }
}

/// What is told of a run that has exited; nothing of one that has not.
pub(crate) fn exited(run: &Run) -> Vec<EventBody> {
    let error = run.error().cloned();
    match run.state() {
        RunState::Exited { reason } if run.origin() != RunOrigin::Default => vec![EventBody::RunExited {
            run: run.id(),
            session: run.session().clone(),
            reason: reason.clone(),
            error,
        }],
        RunState::Exited { .. } | RunState::Working | RunState::AtGate { .. } | RunState::Leaving { .. } => {
            Vec::new()
        }
    }
}

fn step_started(run: &Run) -> EventBody {
    EventBody::StepStarted {
        run: run.id(),
        session: run.session().clone(),
        step: run.step().clone(),
        step_count: run.step_count(),
        iteration: run.iteration(),
    }
}

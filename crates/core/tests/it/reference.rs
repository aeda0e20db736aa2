//! `docs/reference/events.md`: every event, its meaning, and an example.

use std::collections::BTreeMap;
use std::fmt::Write;

use baton_core::base::time::Timestamp;
use baton_core::people::actor::Actor;
use baton_core::records::event::{Event, EventBody};

use crate::forms::{examples, other_events};
use crate::kept_page::holds;

const INTRO: &str = "# Events\n\n\
<!-- Written by `scripts/reference` from crates/core/src/records/event.rs. Do not edit. -->\n\n\
Everything that changes is one line of an append-only history, and what every client reads. `GET /api/events?after=SEQ`\n\
streams it, `baton export --events` takes it out, `GET /api/tasks/{id}/events` has the part that is about one task.\n\n\
Each event has `at` (RFC 3339, UTC), `by` (a human or a policy with its name, an agent with its attempt, or Baton), `event` (its\n\
kind) and the fields below; where it is read it also has `seq`, its number. Numbers only grow; whoever comes back with the last\n\
one they saw misses nothing.\n\n\
The examples have `at` and `by` left out.\n";

/// The meaning of each event. A new event does not compile until it is described here.
fn tells(body: &EventBody) -> (&'static str, &'static str) {
    match body {
        EventBody::ProjectCreated { .. } => ("Projects and sessions", "A project was made."),
        EventBody::ProjectCompleted { .. } => {
            ("Projects and sessions", "A person called a project complete.")
        }
        EventBody::ProjectLimited { .. } => (
            "Projects and sessions",
            "A person said how many of a project's tasks may run at once; `null` for what the settings say.",
        ),
        EventBody::SessionOpened { .. } => ("Projects and sessions", "A conversation began."),
        EventBody::MessagePosted { .. } => {
            ("Projects and sessions", "Somebody said something; `task` is what it became.")
        }
        EventBody::TaskCreated { .. } => {
            ("Tasks", "A task came into being, with everything it was made of and what it waits on.")
        }
        EventBody::TaskClaimed { .. } => {
            ("Tasks", "An agent was set on a task; `resumes` names the attempt it goes on from.")
        }
        EventBody::AgentStarted { .. } => ("Tasks", "The agent's process runs."),
        EventBody::AttemptEnded { .. } => {
            ("Tasks", "An attempt ended: `reported` is what the agent said, `verified` what Baton measured.")
        }
        EventBody::TaskProvisional { .. } => {
            ("Tasks", "There is work, or a plan, to look at; `mark` says of which sort.")
        }
        EventBody::TaskDone { .. } => ("Tasks", "The task is done, and who accepted it. Nothing follows."),
        EventBody::TaskContinues { .. } => {
            ("Tasks", "The turns were used up with commits to show; another attempt goes on.")
        }
        EventBody::TaskRequeued { .. } => ("Tasks", "The task is back in the queue, and why."),
        EventBody::TaskRejected { .. } => {
            ("Tasks", "A person sent the work back; the next attempt is told the reason.")
        }
        EventBody::TaskConflicted { .. } => {
            ("Tasks", "The work could not be merged with what was merged meanwhile.")
        }
        EventBody::TaskRecycled { .. } => {
            ("Tasks", "The task was too large; `breakdown` is the task that plans smaller ones.")
        }
        EventBody::TaskReplaced { .. } => ("Tasks", "Other tasks stand in for this one."),
        EventBody::TaskHeldBack { .. } => {
            ("Tasks", "The task is kept from agents while it is being planned.")
        }
        EventBody::TaskLetGo { .. } => ("Tasks", "Agents may have it again."),
        EventBody::TaskFailed { .. } => {
            ("Tasks", "The task failed in a way that trying again does not mend.")
        }
        EventBody::TaskRetried { .. } => ("Tasks", "A person wants a failed task tried again."),
        EventBody::TaskCancelled { .. } => ("Tasks", "The task was given up; what it wrote is kept."),
        EventBody::TaskRevised { .. } => ("Tasks", "What the task says was changed."),
        EventBody::DependentsRewired { .. } => ("Tasks", "What waited on `from` now waits on `to`."),
        EventBody::BreakdownReleased { .. } => ("Plans", "A breakdown may be given to an agent."),
        EventBody::PlanSubmitted { .. } => ("Plans", "A plan was handed in and waits for approval."),
        EventBody::PlanApproved { .. } => {
            ("Plans", "A plan was approved; `subtasks` are the tasks it became.")
        }
        EventBody::PlanRejected { .. } => ("Plans", "A plan was sent back, and why."),
        EventBody::QuestionAsked { .. } => ("Questions", "A question waits for an answer."),
        EventBody::QuestionAnswered { .. } => ("Questions", "A question was answered, and by whom."),
        EventBody::QuestionWithdrawn { .. } => ("Questions", "No answer is needed any more, and why."),
        EventBody::AnswerQueued { .. } => {
            ("Questions", "An answer was laid down for a question still to come.")
        }
        EventBody::RunStarted { .. } => ("Runs and loops", "A recipe began."),
        EventBody::RunBound { .. } => ("Runs and loops", "The run goes on with another task."),
        EventBody::StepStarted { .. } => {
            ("Runs and loops", "A step was entered; `step_count` counts all steps of the run.")
        }
        EventBody::StepLeft { .. } => ("Runs and loops", "A step was left with this outcome, for another."),
        EventBody::OutcomeRefused { .. } => {
            ("Runs and loops", "What the agent reported could not be taken; it is asked once more.")
        }
        EventBody::RunStopping { .. } => {
            ("Runs and loops", "A person wants the run to end; its agent is being stopped.")
        }
        EventBody::RunExited { .. } => {
            ("Runs and loops", "The run came to its end; see `baton explain exits`.")
        }
        EventBody::PhaseHandedOff { .. } => {
            ("Runs and loops", "A phase of the loop handed its results to the next.")
        }
        EventBody::TokenCreated { .. } => ("People", "A person may come in with a token of their own."),
        EventBody::TokenRevoked { .. } => ("People", "A person's token was taken back."),
        EventBody::EffectGivenUp { .. } => {
            ("Baton itself", "Something Baton had to do could not be done, however often it was tried.")
        }
        EventBody::ItemFailed { .. } => (
            "Baton itself",
            "A background service could not do its work for one item. It is retried; the same error is told once.",
        ),
        EventBody::IntakePaused { .. } => {
            ("Baton itself", "An agent is given no work, until this time or until a person releases it.")
        }
        EventBody::IntakeResumed { .. } => ("Baton itself", "An agent is given work again."),
    }
}

fn page() -> String {
    let mut events: BTreeMap<String, Event> = BTreeMap::new();
    for form in examples().0.into_values() {
        let event: Event = serde_json::from_value(form).unwrap();
        events.insert(serde_json::to_value(&event).unwrap()["event"].to_string(), event);
    }
    for body in other_events() {
        let event = Event { at: Timestamp::from_ms(1_000), by: Actor::Baton, body };
        events.entry(serde_json::to_value(&event).unwrap()["event"].to_string()).or_insert(event);
    }
    let mut page = INTRO.to_owned();
    for section in
        ["Projects and sessions", "Tasks", "Plans", "Questions", "Runs and loops", "People", "Baton itself"]
    {
        let _ = writeln!(page, "\n## {section}");
        for event in events.values() {
            let (of, told) = tells(&event.body);
            if of == section {
                let mut form = serde_json::to_value(event).unwrap();
                let fields = form.as_object_mut().unwrap();
                fields.remove("at");
                fields.remove("by");
                let name = fields["event"].as_str().unwrap().to_owned();
                let _ = write!(page, "\n### `{name}`\n\n{told}\n\n```json\n{form}\n```\n");
            }
        }
    }
    page
}

#[test]
fn reference_of_events_is_what_the_code_says() {
    holds("reference/events.md", &page());
}

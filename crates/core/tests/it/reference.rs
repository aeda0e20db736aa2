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
The event log is an append-only history of every change, and the source for all clients. `GET /api/events?after=SEQ`\n\
streams it, `baton export --events` exports it, and `GET /api/tasks/{id}/events` returns the events of one task.\n\n\
Each event has `at` (RFC 3339, UTC), `by` (a human or a policy with its name, an agent with its attempt, or Baton), `event` (its\n\
kind) and the fields below. Stored events also have `seq`, a number that only grows: a client that reconnects with the last\n\
`seq` it saw misses nothing.\n\n\
The examples omit `at` and `by`.\n";

/// The meaning of each event. A new event does not compile until it is described here.
#[expect(clippy::too_many_lines, reason = "one row for each event")]
fn describe(body: &EventBody) -> (&'static str, &'static str) {
    match body {
        EventBody::ProjectCreated { .. } => ("Projects and sessions", "A project was created."),
        EventBody::ProjectCompleted { .. } => ("Projects and sessions", "A person completed a project."),
        EventBody::ProjectReopened { .. } => {
            ("Projects and sessions", "A completed project got open work, and is open again.")
        }
        EventBody::ProjectLimited { .. } => (
            "Projects and sessions",
            "A person limited how many tasks of a project may run at once; `null` is the limit of the settings.",
        ),
        EventBody::SessionOpened { .. } => ("Projects and sessions", "A session was opened."),
        EventBody::MessagePosted { .. } => (
            "Projects and sessions",
            "A message was posted; `task` is the task it created, or whose agent reads it.",
        ),
        EventBody::MessagesDelivered { .. } => (
            "Tasks",
            "The attempt's agent got the messages of people to the task, up to this number of the session.",
        ),
        EventBody::TaskCreated { .. } => {
            ("Tasks", "A task was created, with its whole specification and its dependencies.")
        }
        EventBody::TaskClaimed { .. } => {
            ("Tasks", "A task was claimed for an attempt; `resumes` is the attempt it continues from.")
        }
        EventBody::AgentStarted { .. } => ("Tasks", "The agent's process was started."),
        EventBody::AttemptEnded { .. } => {
            ("Tasks", "An attempt ended: `reported` comes from the agent, `verified` is what Baton measured.")
        }
        EventBody::TaskProvisional { .. } => {
            ("Tasks", "Work or a plan is ready for review; `mark` is its kind.")
        }
        EventBody::TaskDone { .. } => {
            ("Tasks", "The task is done, and who accepted it. This state is final.")
        }
        EventBody::TaskContinues { .. } => {
            ("Tasks", "An attempt used all its turns and has commits; another attempt continues.")
        }
        EventBody::TaskRequeued { .. } => ("Tasks", "The task is in the queue again, with the reason."),
        EventBody::TaskRejected { .. } => {
            ("Tasks", "A person rejected the work; the next attempt gets the reason.")
        }
        EventBody::TaskConflicted { .. } => ("Tasks", "The work conflicts with what was merged meanwhile."),
        EventBody::TaskLanding { .. } => (
            "Tasks",
            "The work was accepted and waits in the lane of its branch until the checks pass with it.",
        ),
        EventBody::TaskLanded { .. } => {
            ("Tasks", "The branch moved to `commit`, whose files passed the checks, and has the work.")
        }
        EventBody::TaskLandingDelayed { .. } => (
            "Tasks",
            "The branch fails its checks without the task, which stays in its lane until the branch passes again.",
        ),
        EventBody::TaskSentBack { .. } => {
            ("Tasks", "Accepted work could not be merged; `reason` says why and which tasks it met.")
        }
        EventBody::TaskForced { .. } => (
            "Tasks",
            "A person merged the work although the checks had not passed, or with commits that were withdrawn, which `withdrawn` names.",
        ),
        EventBody::TaskRecycled { .. } => {
            ("Tasks", "The task was too large; `breakdown` is the task that plans its parts.")
        }
        EventBody::TaskReplaced { .. } => ("Tasks", "Other tasks replace this one."),
        EventBody::TaskHeldBack { .. } => ("Tasks", "No agent may claim the task until it is released."),
        EventBody::TaskLetGo { .. } => ("Tasks", "The task may be claimed again."),
        EventBody::TaskFailed { .. } => ("Tasks", "The task failed, and retrying it would not help."),
        EventBody::TaskRetried { .. } => ("Tasks", "A person retries a failed task."),
        EventBody::TaskCancelled { .. } => ("Tasks", "The task was cancelled; its work is kept."),
        EventBody::TaskRevised { .. } => {
            ("Tasks", "The text, priority or dependencies of the task were changed.")
        }
        EventBody::DependentsRewired { .. } => ("Tasks", "Tasks that depended on `from` now depend on `to`."),
        EventBody::BreakdownReleased { .. } => ("Plans", "A breakdown was released for an agent."),
        EventBody::PlanSubmitted { .. } => ("Plans", "A plan was submitted and waits for approval."),
        EventBody::PlanApproved { .. } => {
            ("Plans", "A plan was approved; `subtasks` are the tasks it created.")
        }
        EventBody::PlanRejected { .. } => ("Plans", "A plan was rejected, with the reason."),
        EventBody::QuestionAsked { .. } => ("Questions", "A question was asked and is pending."),
        EventBody::QuestionAnswered { .. } => ("Questions", "A question was answered."),
        EventBody::QuestionWithdrawn { .. } => ("Questions", "A question was withdrawn, with the reason."),
        EventBody::AnswerQueued { .. } => ("Questions", "An answer was queued for a later question."),
        EventBody::RunStarted { .. } => ("Runs and loops", "A run of a recipe started."),
        EventBody::RunBound { .. } => ("Runs and loops", "The run continues with another task."),
        EventBody::StepStarted { .. } => (
            "Runs and loops",
            "A step started; `step_count` counts all steps of the run, `iteration` how often a person sent it round.",
        ),
        EventBody::StepLeft { .. } => {
            ("Runs and loops", "A step ended with this outcome, and another one follows.")
        }
        EventBody::OutcomeRefused { .. } => {
            ("Runs and loops", "The agent's report was not usable; the agent is asked once more.")
        }
        EventBody::RunStopping { .. } => {
            ("Runs and loops", "A person stops the run; its agent is being stopped.")
        }
        EventBody::RunExited { .. } => ("Runs and loops", "The run ended; see `baton explain exits`."),
        EventBody::PhaseHandedOff { .. } => {
            ("Runs and loops", "A phase of the loop handed its results to the next phase.")
        }
        EventBody::TokenCreated { .. } => ("People", "An access token was created for a person."),
        EventBody::TokenRevoked { .. } => ("People", "An access token was revoked."),
        EventBody::AttemptFenced { .. } => {
            ("Tasks", "What confines the attempt's processes, and what does not.")
        }
        EventBody::EnvironmentChanged { .. } => (
            "Tasks",
            "What the attempt works with beside its code: folders brought in, leased values, services, pauses.",
        ),
        EventBody::AttemptRefused { .. } => {
            ("Tasks", "A process of the attempt tried what only a person may do, or acted without its token.")
        }
        EventBody::AgentMoved { .. } => {
            ("Tasks", "A limit of one account moved the task to another account, or to a fallback agent.")
        }
        EventBody::NetworkRefused { .. } => {
            ("Tasks", "The proxy of the attempt's fence did not let a connection through.")
        }
        EventBody::RoutineChanged { .. } => {
            ("Routines", "A person added, paused, resumed or removed a routine.")
        }
        EventBody::RoutineRan { .. } => (
            "Routines",
            "A routine created a task; `cause` is the moment, commit, task or call that started it.",
        ),
        EventBody::RoutineSkipped { .. } => (
            "Routines",
            "A routine should have run `count` times and did not: the last run was not over, or nobody catches up.",
        ),
        EventBody::EffectGivenUp { .. } => {
            ("Baton itself", "An effect failed repeatedly and is not retried any more.")
        }
        EventBody::ItemFailed { .. } => (
            "Baton itself",
            "A background service failed at one item. It is retried; each distinct error is recorded once.",
        ),
        EventBody::IntakePaused { .. } => {
            ("Baton itself", "An agent is on hold until this time or until a person releases it.")
        }
        EventBody::IntakeResumed { .. } => ("Baton itself", "A hold on an agent ended."),
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
    for section in [
        "Projects and sessions",
        "Tasks",
        "Plans",
        "Questions",
        "Runs and loops",
        "Routines",
        "People",
        "Baton itself",
    ] {
        let _ = writeln!(page, "\n## {section}");
        for event in events.values() {
            let (of, meaning) = describe(&event.body);
            if of == section {
                let mut form = serde_json::to_value(event).unwrap();
                let fields = form.as_object_mut().unwrap();
                fields.remove("at");
                fields.remove("by");
                let name = fields["event"].as_str().unwrap().to_owned();
                let _ = write!(page, "\n### `{name}`\n\n{meaning}\n\n```json\n{form}\n```\n");
            }
        }
    }
    page
}

#[test]
fn the_reference_of_events_matches_the_code() {
    holds("reference/events.md", &page());
}

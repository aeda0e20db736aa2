//! The exact JSON of the messages.

use baton_core::ask::question::{QuestionDraft, QuestionKind};
use baton_core::base::git_name::{BranchName, CommitId};
use baton_core::base::id::{QuestionId, RunId, SessionId, TaskId};
use baton_core::base::text::NonBlank;
use baton_core::base::time::Timestamp;
use baton_core::people::actor::Actor;
use baton_core::recipe::exit_reason::ExitReason;
use baton_core::records::event::{Event, EventBody};
use baton_core::task::not_landed::NotLanded;
use baton_engine::StoredEvent;
use serde_json::{Value, json};

use crate::live::wire::message;

fn sent(body: EventBody) -> Option<Value> {
    let event = Event { at: Timestamp::from_ms(1_000), by: Actor::Baton, body };
    message(&StoredEvent { seq: 7, event }).map(|message| serde_json::to_value(message).unwrap())
}

fn session() -> SessionId {
    "abc123".parse().unwrap()
}

fn text(text: &str) -> NonBlank {
    NonBlank::new(text).unwrap()
}

const RUN: RunId = RunId::from_bits(1);
const TASK: TaskId = TaskId::from_bits(2);

#[test]
fn no_tasks_exits_with_exactly_the_documented_object() {
    let reason = ExitReason::new("no-tasks-available").unwrap();
    let mut object =
        sent(EventBody::RunExited { run: RUN, session: session(), reason, error: None }).unwrap();
    assert_eq!(object.as_object_mut().unwrap().remove("seq"), Some(json!(7)));
    assert_eq!(
        object,
        json!({
            "type": "recipe_exited",
            "session_id": "abc123",
            "reason": "no-tasks-available",
            "category": "completed",
            "message": "No tasks available to implement"
        })
    );
}

#[test]
fn an_exit_with_an_error_contains_it() {
    let error = Some(text("your message has no JSON object with an \"outcome\" key"));
    let reason = ExitReason::orchestration_error();
    let object = sent(EventBody::RunExited { run: RUN, session: session(), reason, error }).unwrap();
    assert_eq!((&object["category"], &object["reason"]), (&json!("error"), &json!("orchestration-error")));
    assert!(object["error"].as_str().unwrap().contains("no JSON object"));
}

#[test]
fn the_messages_of_a_run_have_their_documented_fields() {
    let step = |name: &str| name.parse().unwrap();
    let run = [
        EventBody::RunStarted {
            run: RUN,
            recipe: "implement-and-review".parse().unwrap(),
            label: text("Implement & Review"),
            session: session(),
            task: Some(TASK),
            step: step("implement"),
            step_count: 1,
            iteration: 1,
        },
        EventBody::StepStarted {
            run: RUN,
            session: session(),
            step: step("code-review"),
            step_count: 2,
            iteration: 1,
        },
        EventBody::StepLeft {
            run: RUN,
            session: session(),
            from: step("implement"),
            to: step("code-review"),
            outcome: "complete".parse().unwrap(),
        },
        EventBody::OutcomeRefused {
            run: RUN,
            session: session(),
            step: step("fix"),
            error: text("no outcome"),
        },
    ];
    let lines: Vec<String> = run.into_iter().map(|body| sent(body).unwrap().to_string()).collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    {"current_step":"implement","iteration":1,"recipe_id":"implement-and-review","recipe_label":"Implement & Review","run_id":"RUN-00000001","seq":7,"session_id":"abc123","step_count":1,"task_id":"TASK-00000002","type":"recipe_started"}
    {"iteration":1,"run_id":"RUN-00000001","seq":7,"session_id":"abc123","step":"code-review","step_count":2,"type":"recipe_step_started"}
    {"from_step":"implement","outcome":"complete","run_id":"RUN-00000001","seq":7,"session_id":"abc123","to_step":"code-review","type":"recipe_step_transition"}
    {"error":"no outcome","run_id":"RUN-00000001","seq":7,"session_id":"abc123","step":"fix","type":"orchestration_retry"}
    "#);
}

#[test]
fn questions_and_tasks_have_messages_and_other_events_have_none() {
    let question = QuestionDraft::new(QuestionKind::Gate, text("Ready to execute? [YES/NO]"));
    let asked = EventBody::QuestionAsked {
        session: session(),
        task: Some(TASK),
        question: Box::new(question.with_id(QuestionId::from_bits(3))),
    };
    let lines = [asked, EventBody::TaskRetried { task: TASK }].map(|body| sent(body).unwrap().to_string());
    insta::assert_snapshot!(lines.join("\n"), @r#"
    {"question":{"id":"Q-00000003","kind":"gate","text":"Ready to execute? [YES/NO]"},"seq":7,"session_id":"abc123","task_id":"TASK-00000002","type":"question_asked"}
    {"change":"retried","seq":7,"task_id":"TASK-00000002","type":"task_changed"}
    "#);
    assert_eq!(sent(EventBody::RunBound { run: RUN, session: session(), task: TASK }), None);
}

#[test]
fn a_change_of_a_task_says_where_its_accepted_work_stands() {
    let commit: CommitId = "0123456789abcdef0123456789abcdef01234567".parse().unwrap();
    let into: BranchName = "baton/next".parse().unwrap();
    let red = NotLanded::BranchFails { into, base: commit.clone(), checks: Vec::new() };
    let landed =
        EventBody::TaskLanded { task: TASK, commit: commit.clone(), verified: Vec::new(), evidence: None };
    let cases = [
        (
            EventBody::TaskLandingDelayed { task: TASK, reason: Box::new(red) },
            "landing_delayed",
            json!({ "state": "waiting", "delayed": "baton/next itself fails its checks (), without this task" }),
        ),
        (landed, "landed", json!({ "state": "landed", "commit": commit })),
        (
            EventBody::TaskForced { task: TASK, commit: None, withdrawn: Vec::new() },
            "forced",
            json!({ "state": "forced" }),
        ),
        (EventBody::TaskRetried { task: TASK }, "retried", Value::Null),
    ];
    for (event, change, landing) in cases {
        let object = sent(event).unwrap();
        assert_eq!((&object["type"], &object["change"]), (&json!("task_changed"), &json!(change)));
        assert_eq!(object["landing"], landing, "{object:#}");
    }
}

//! The work of each phase: what comes next in every stage, and the stored form every stage has always had.

use baton_core::base::id::TaskId;
use baton_core::base::text::NonBlank;
use baton_core::phase::discovered::{DISCOVERED_MAX, DiscoveredTask};
use baton_core::phase::work::{FollowUp, NextAction, PhaseWork, QuestionTopic, SKIP};
use serde_json::{Value, json};

use crate::samples::text;

const AGENT: &str = "TASK-00000008";

fn subject() -> Value {
    json!({ "id": "TASK-00000007", "title": "Parse the dates" })
}

fn rubric(clarity: &str) -> Value {
    let point = json!({ "clarity": clarity, "reason": "as it is written" });
    json!({ "goal": point, "scope": point, "acceptance": point, "constraints": point })
}

fn plan() -> Value {
    json!({ "items": [{ "title": "Read the format" }] })
}

fn plan_row(fields: Value) -> Value {
    row("plan", json!({ "tries": 0, "may_be_vague": false, "is_declined": false }), fields)
}

fn review_row(fields: Value) -> Value {
    let rest = json!({ "tries": 0, "is_editing": false, "discovered": 0, "duplicates_skipped": 0 });
    row("review", rest, fields)
}

fn row(phase: &str, mut rest: Value, fields: Value) -> Value {
    rest["phase"] = json!(phase);
    let Value::Object(fields) = fields else { panic!("{fields}") };
    for (name, value) in fields {
        rest[name] = value;
    }
    rest
}

fn ask(topic: QuestionTopic) -> NextAction {
    NextAction::Ask { topic }
}

fn watch() -> NextAction {
    NextAction::WatchFor { task: TaskId::from_bits(8) }
}

#[test]
fn every_stage_is_read_from_its_row_and_written_as_it_was() {
    let proposal = json!([{ "title": "Dates before 1970" }]);
    let subtask = json!({ "task": subject(), "state": "asking_to_run" });
    let rows = [
        (plan_row(json!({})), NextAction::Choose),
        (plan_row(json!({ "subject": subject() })), NextAction::StartAgent),
        (plan_row(json!({ "subject": subject(), "agent": AGENT, "tries": 2, "plan": plan() })), watch()),
        (
            plan_row(json!({ "subject": subject(), "rubric": rubric("clear"), "plan": plan() })),
            ask(QuestionTopic::Gate),
        ),
        (
            plan_row(json!({ "subject": subject(), "rubric": rubric("missing"), "plan": plan() })),
            ask(QuestionTopic::Vagueness),
        ),
        (
            plan_row(json!({
                "subject": subject(), "rubric": rubric("missing"), "plan": plan(), "may_be_vague": true
            })),
            ask(QuestionTopic::Gate),
        ),
        (
            plan_row(json!({
                "subject": subject(), "rubric": rubric("clear"), "plan": plan(), "is_declined": true
            })),
            ask(QuestionTopic::Revision),
        ),
        (
            row("execute", json!({}), json!({ "subtasks": [subtask], "wants_help": false })),
            ask(QuestionTopic::MayRun),
        ),
        (
            row("execute", json!({}), json!({ "subtasks": [subtask], "wants_help": true })),
            ask(QuestionTopic::MayRun),
        ),
        (review_row(json!({})), NextAction::StartAgent),
        (review_row(json!({ "agent": AGENT, "tries": 1, "proposal": proposal })), watch()),
        (review_row(json!({ "findings": "all is well" })), ask(QuestionTopic::Gate)),
        (review_row(json!({ "findings": "one more", "proposal": proposal })), ask(QuestionTopic::Discovered)),
        (
            review_row(json!({ "findings": "one more", "proposal": proposal, "is_editing": true })),
            ask(QuestionTopic::List),
        ),
    ];
    for (row, next) in rows {
        let work: PhaseWork = serde_json::from_value(row.clone()).unwrap();
        assert_eq!(work.next(), next, "{row}");
        assert_eq!(serde_json::to_value(&work).unwrap(), row);
    }
}

#[test]
fn three_agents_without_a_plan_end_the_phase_and_without_findings_the_human_is_asked() {
    let faults = "item 2 depends on itself";
    let row = plan_row(json!({ "subject": subject(), "tries": 3, "faults": faults }));
    let work: PhaseWork = serde_json::from_value(row).unwrap();
    let NextAction::GiveUp { why } = work.next() else { panic!("{work:?}") };
    assert!(why.ends_with(faults), "{why}");
    let row = review_row(json!({ "tries": 3, "failure": "it ended with exit code 7" }));
    let mut work: PhaseWork = serde_json::from_value(row).unwrap();
    assert_eq!(work.next(), ask(QuestionTopic::ReviewFailed));
    let mut again = work.clone();
    again.apply_answer(QuestionTopic::ReviewFailed, &text("YES")).unwrap();
    assert_eq!(again.next(), NextAction::StartAgent);
    work.apply_answer(QuestionTopic::ReviewFailed, &text("NO")).unwrap();
    assert_eq!(work.next(), ask(QuestionTopic::Gate));
    let PhaseWork::Review(work) = work else { panic!() };
    assert_eq!(work.findings(), "No review was made: it ended with exit code 7");
}

#[test]
fn a_planner_is_told_what_the_last_one_left_out() {
    let row = plan_row(json!({ "subject": subject(), "agent": AGENT, "tries": 1, "plan": plan() }));
    for (failure, told) in [(None, "vagueness"), (Some("exit code 7"), "exit code 7")] {
        let PhaseWork::Plan(mut work) = serde_json::from_value(row.clone()).unwrap() else { panic!() };
        work.end_agent(failure);
        assert!(work.faults().contains(told), "{}", work.faults());
    }
}

#[test]
fn no_at_the_execute_gate_asks_about_all_that_is_open_or_else_for_more_work() {
    let subtask = |result: &str| json!({ "task": subject(), "state": "finished", "result": result });
    for result in ["skipped", "left_open", "failed"] {
        let row = row("execute", json!({}), json!({ "subtasks": [subtask(result)], "wants_help": false }));
        let mut work: PhaseWork = serde_json::from_value(row).unwrap();
        work.apply_answer(QuestionTopic::Gate, &text("NO")).unwrap();
        assert_eq!(work.next(), ask(QuestionTopic::MayRun), "{result}");
    }
    let row = row("execute", json!({}), json!({ "subtasks": [subtask("completed")], "wants_help": false }));
    let mut work: PhaseWork = serde_json::from_value(row).unwrap();
    work.apply_answer(QuestionTopic::Gate, &text("NO")).unwrap();
    assert_eq!(work.next(), ask(QuestionTopic::MoreWork));
    let mut wants = work.clone();
    let follow_up = wants.apply_answer(QuestionTopic::MoreWork, &text("Add a test")).unwrap();
    assert_eq!(follow_up, FollowUp::AddSubtask { text: text("Add a test") });
    work.apply_answer(QuestionTopic::MoreWork, &text("nothing")).unwrap();
    assert_eq!(work.next(), ask(QuestionTopic::Gate));
}

#[test]
fn a_list_of_discovered_tasks_is_never_lost() {
    let PhaseWork::Review(mut work) =
        serde_json::from_value(review_row(json!({ "agent": AGENT, "tries": 1 }))).unwrap()
    else {
        panic!()
    };
    let task =
        |number: usize| DiscoveredTask { title: text(&format!("Task {number}")), description: String::new() };
    work.submit((1..=DISCOVERED_MAX + 2).map(task).collect());
    work.end_agent("Much to do.", "");
    assert_eq!(work.proposal().unwrap().tasks().len(), DISCOVERED_MAX);
    assert!(work.findings().ends_with("Task 51; Task 52"), "{}", work.findings());
    let mut work = PhaseWork::Review(work);
    work.apply_answer(QuestionTopic::Discovered, &text("EDIT")).unwrap();
    assert!(work.apply_answer(QuestionTopic::List, &text(":")).is_err());
    assert_eq!(work.next(), ask(QuestionTopic::List));
    work.apply_answer(QuestionTopic::List, &text("One: first; Two")).unwrap();
    let PhaseWork::Review(review) = &work else { panic!() };
    assert_eq!(review.proposal().unwrap().tasks().len(), 2);
}

#[test]
fn a_plan_can_be_declined_and_planned_again_with_the_remark() {
    let row = plan_row(json!({ "subject": subject(), "rubric": rubric("missing"), "plan": plan() }));
    let mut work: PhaseWork = serde_json::from_value(row).unwrap();
    let mut answer = |topic, words: &str| -> NextAction {
        work.apply_answer(topic, &text(words)).unwrap();
        work.next()
    };
    assert_eq!(answer(QuestionTopic::Vagueness, SKIP), ask(QuestionTopic::Gate));
    assert_eq!(answer(QuestionTopic::Gate, "NO"), ask(QuestionTopic::Revision));
    assert_eq!(answer(QuestionTopic::Revision, "Time zones too"), NextAction::StartAgent);
    let PhaseWork::Plan(work) = work else { panic!() };
    assert_eq!(work.said().iter().map(NonBlank::as_str).collect::<Vec<_>>(), ["Time zones too"]);
    assert!(work.plan().is_none() && work.rubric().is_none());
}

#[test]
fn help_is_given_with_the_same_question() {
    let subtask = json!({ "task": subject(), "state": "asking_to_run" });
    let row = row("execute", json!({}), json!({ "subtasks": [subtask], "wants_help": false }));
    let mut work: PhaseWork = serde_json::from_value(row).unwrap();
    work.apply_answer(QuestionTopic::MayRun, &text("HELP")).unwrap();
    assert_eq!(work.next(), ask(QuestionTopic::MayRun));
    assert_eq!(serde_json::to_value(&work).unwrap()["wants_help"], true);
    work.apply_answer(QuestionTopic::MayRun, &text("YES")).unwrap();
    assert_eq!(work.next(), NextAction::WatchFor { task: TaskId::from_bits(7) });
}

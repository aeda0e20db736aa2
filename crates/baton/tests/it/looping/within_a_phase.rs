//! Within a phase: NO at a gate, vague tasks, discovered tasks and an empty queue.

use serde_json::{Value, json};

use super::fixture::{LoopFixture, ONE_ROUND, script, stderr};

#[test]
fn no_at_a_gate_stays_in_the_phase_and_nothing_is_created() {
    let fixture = LoopFixture::new();
    fixture.add("Build it");
    let output = fixture.run_with_answers(&[], &["NO", "Make it three parts."]);
    assert_eq!(output.status.code(), Some(10), "{}", stderr(&output));
    let printed = stderr(&output);
    assert!(printed.contains("What should be different about the plan"), "{printed}");
    assert_eq!(printed.matches("Ready to execute? [YES/NO]").count(), 2, "{printed}");
    assert!(!printed.contains("execute —"), "{printed}");
    assert!(fixture.tasks().iter().all(|task| task["title"] != "First part"));
    // The answer reaches the agent that plans again in the same phase.
    assert!(fixture.prompts("Plan:").last().unwrap().contains("Make it three parts."));
}

#[test]
fn a_vague_task_is_clarified_before_a_plan_is_accepted() {
    let fixture = LoopFixture::new();
    fixture.add("Vague");
    let output = fixture.run_with_answers(&[], &["It is about the login."]);
    assert_eq!(output.status.code(), Some(10), "{}", stderr(&output));
    let printed = stderr(&output);
    assert!(printed.contains("Vagueness 0.40: clarify before planning (the limit is 0.30)"), "{printed}");
    assert!(
        printed.contains("goal is missing: as the task says") && !printed.contains("Ready to execute?"),
        "{printed}"
    );
    assert!(fixture.prompts("Plan:")[1].contains("It is about the login."));
    // SKIP accepts the plan as it is.
    let output = fixture.run_with_answers(&[], &["SKIP"]);
    assert!(stderr(&output).contains("Ready to execute? [YES/NO]"), "{}", stderr(&output));
}

#[test]
fn discovered_tasks_are_edited_and_none_is_created_without_yes() {
    let fixture = LoopFixture::new();
    fixture.add("Build it");
    let mut answers = ONE_ROUND[..6].to_vec();
    answers.extend(["EDIT", "Paint the fence: green, twice", "NO", "NO"]);
    let output = fixture.run_with_answers(&[], &answers);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let printed = stderr(&output);
    assert!(
        printed.contains("Which tasks should be proposed instead?") && printed.contains("- Paint the fence"),
        "{printed}"
    );
    let titles: Vec<Value> = fixture.tasks().iter().map(|task| task["title"].clone()).collect();
    assert!(
        !titles.contains(&json!("Paint the fence")) && !titles.contains(&json!("Add docs")),
        "{titles:?}"
    );
}

#[test]
fn an_empty_queue_ends_the_loop_without_failure() {
    let fixture = LoopFixture::new();
    let output = fixture.run_with_answers(&[], &[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("No tasks available"), "{}", stderr(&output));
}

#[test]
fn a_subtask_without_work_asks_whether_its_words_are_enough() {
    let mut script = script();
    script["otherwise"] = json!([{ "result": { "status": "COMPLETE", "output": "Trust me." } }]);
    let fixture = LoopFixture::with(&script, "");
    fixture.add("Build it");
    let output = fixture.run_with_answers(&[], &["YES", "YES"]);
    assert_eq!(output.status.code(), Some(10), "{}", stderr(&output));
    let printed = stderr(&output);
    assert!(printed.contains("Is this answer enough, or should it change code?"), "{printed}");
    assert!(printed.contains("It has committed nothing."), "{printed}");
    let first = fixture.task_titled("First part");
    assert_eq!(first["status"], "AWAITING_RESPONSE", "neither merged nor recycled: {first}");
}

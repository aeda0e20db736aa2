//! What happens within a phase: nothing is planned vaguely, created unasked, or asked twice.

use serde_json::{Value, json};

use super::round::{ONE_ROUND, Round, script, talk};

#[test]
fn no_at_a_gate_stays_in_the_phase_and_nothing_is_created() {
    let round = Round::new();
    round.add("Build it");
    let output = round.answered(&[], &["NO", "Make it three parts."]);
    assert_eq!(output.status.code(), Some(10), "{}", talk(&output));
    let said = talk(&output);
    assert!(said.contains("What should be different about the plan"), "{said}");
    assert_eq!(said.matches("Ready to execute? [YES/NO]").count(), 2, "{said}");
    assert!(!said.contains("execute —"), "{said}");
    assert!(round.tasks().iter().all(|task| task["title"] != "First part"));
    // What was said in this phase reaches the agent that plans again in it.
    assert!(round.prompts("Plan:").last().unwrap().contains("Make it three parts."));
}

#[test]
fn a_vague_task_is_clarified_before_a_plan_is_taken() {
    let round = Round::new();
    round.add("Vague");
    let output = round.answered(&[], &["It is about the login."]);
    assert_eq!(output.status.code(), Some(10), "{}", talk(&output));
    let said = talk(&output);
    assert!(said.contains("Vagueness 0.40: clarify before planning (the limit is 0.30)"), "{said}");
    assert!(
        said.contains("goal is missing: as the task says") && !said.contains("Ready to execute?"),
        "{said}"
    );
    assert!(round.prompts("Plan:")[1].contains("It is about the login."));
    // SKIP takes the plan as it is.
    let output = round.answered(&[], &["SKIP"]);
    assert!(talk(&output).contains("Ready to execute? [YES/NO]"), "{}", talk(&output));
}

#[test]
fn discovered_tasks_are_edited_and_none_is_created_without_yes() {
    let round = Round::new();
    round.add("Build it");
    let mut answers = ONE_ROUND[..6].to_vec();
    answers.extend(["EDIT", "Paint the fence: green, twice", "NO", "NO"]);
    let output = round.answered(&[], &answers);
    assert_eq!(output.status.code(), Some(0), "{}", talk(&output));
    let said = talk(&output);
    assert!(
        said.contains("Which tasks should be proposed instead?") && said.contains("- Paint the fence"),
        "{said}"
    );
    let titles: Vec<Value> = round.tasks().iter().map(|task| task["title"].clone()).collect();
    assert!(
        !titles.contains(&json!("Paint the fence")) && !titles.contains(&json!("Add docs")),
        "{titles:?}"
    );
}

#[test]
fn an_empty_queue_ends_the_loop_and_is_no_failure() {
    let round = Round::new();
    let output = round.answered(&[], &[]);
    assert_eq!(output.status.code(), Some(0), "{}", talk(&output));
    assert!(talk(&output).contains("No tasks available"), "{}", talk(&output));
}

#[test]
fn a_subtask_with_nothing_to_show_is_told_as_that_and_not_merged_silently() {
    let mut script = script();
    script["otherwise"] = json!([{ "result": { "status": "COMPLETE", "output": "Trust me." } }]);
    let round = Round::with(&script, "");
    round.add("Build it");
    let output = round.answered(&[], &["YES", "YES", "YES", "NO"]);
    assert_eq!(output.status.code(), Some(10), "{}", talk(&output));
    let said = talk(&output);
    assert!(said.contains("Baton counted 0 commits in 0 files"), "{said}");
    assert!(said.contains("It was tried too often without a result."), "{said}");
    let first = round.titled("First part");
    assert_eq!(first["queue"], "provisional", "neither merged nor recycled: {first}");
    let id = first["task_id"].as_str().unwrap();
    assert!(said.contains(&format!("{id} is not merged: it is in provisional.")), "{said}");
}

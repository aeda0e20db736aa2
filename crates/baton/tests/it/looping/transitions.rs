//! From phase to phase: the four ways a phase hands off.

use super::round::{Round, one_round, talk};

#[test]
fn test_1_plan_hands_off_to_execute() {
    let round = Round::new();
    let subject = round.add("Ask first");
    let output = round.answered(&[], &["Teal", "YES"]);
    assert_eq!(output.status.code(), Some(10), "{}", talk(&output));
    let said = talk(&output);
    assert!(said.contains("Ready to execute? [YES/NO]") && said.contains("1. First part"), "{said}");
    assert!(said.contains("— iteration 1: execute —"), "{said}");
    // No more questions from the plan phase, and the execute phase asks for each subtask.
    assert!(said.contains("Execute: First part? [YES/NO/HELP]"), "{said}");
    // The subtasks were created after YES and stand in for what was planned.
    assert_eq!(round.shop.json(&["task", "show", &subject])["queue"], "recycled");
    round.titled("First part");
    // Going on: the agents of the next phase know nothing of what was asked in this one.
    round.answered(&[], &["YES"]);
    let prompts = round.prompts("First part");
    assert!(!prompts.is_empty());
    for prompt in prompts {
        assert!(
            !prompt.contains("colour") && !prompt.contains("Teal") && !prompt.contains("Ready to execute")
        );
    }
}

#[test]
fn test_2_execute_hands_off_to_review() {
    let round = Round::new();
    round.add("Build it");
    let output = round.answered(&[], &["YES", "HELP", "YES", "YES", "YES", "FAILED", "YES"]);
    assert_eq!(output.status.code(), Some(10), "{}", talk(&output));
    let said = talk(&output);
    // HELP shows help and asks the same again.
    assert_eq!(said.matches("Execute: First part? [YES/NO/HELP]").count(), 2, "{said}");
    assert!(said.contains("Write the first file."), "{said}");
    assert!(said.contains("Ready for review? [YES/NO]"), "{said}");
    assert!(said.contains("— iteration 1: review —"), "{said}");
    assert!(said.contains("Add discovered tasks? [YES/NO/EDIT]") && said.contains("Two parts, one pattern."));
    assert_eq!(round.titled("First part")["queue"], "done");
    assert_eq!(round.titled("Second part")["queue"], "failed");
    for prompt in round.prompts("Review:") {
        assert!(prompt.contains("Completed: 1") && prompt.contains("Failed: 1"), "{prompt}");
        for asked in ["Execute: ", "Done: ", "Ready for review", "HELP"] {
            assert!(!prompt.split("You are in the review phase").next().unwrap().contains(asked), "{prompt}");
        }
    }
}

#[test]
fn test_3_review_goes_round_to_plan() {
    let round = Round::new();
    round.add("Build it");
    round.add("Wash the dishes");
    let output = round.answered(&[], &one_round("YES"));
    assert_eq!(output.status.code(), Some(10), "{}", talk(&output));
    let said = talk(&output);
    assert!(said.contains("New: 1. Duplicates skipped: 2."), "{said}");
    assert!(said.contains("— iteration 2: plan —"), "{said}");
    // Another task than before, from the queue.
    assert!(said.contains("The plan for") && said.contains("Wash the dishes has 2 subtasks"), "{said}");
    round.titled("Add docs");
    let second = &round.prompts("Plan: Wash")[0];
    assert!(
        second.contains("Iteration 2, plan phase.") && second.contains("Discovered tasks added: 1"),
        "{second}"
    );
    assert!(!second.contains("Continue loop?") && !second.contains("Two parts, one pattern"), "{second}");
}

#[test]
fn test_4_review_breaks_to_the_hub_with_a_summary() {
    let round = Round::new();
    round.add("Build it");
    let output = round.answered(&[], &one_round("NO"));
    assert_eq!(output.status.code(), Some(0), "{}", talk(&output));
    let summary = String::from_utf8(output.stdout).unwrap();
    assert_eq!(
        summary,
        "The loop is back in the hub.\nIterations: 1\nTasks completed: 2\nTasks failed: 0\nTasks discovered: 2\n\
         Duplicates skipped: 1\n\nNew loop:     baton loop\nView results: baton task list\nEdit tasks:   baton task \
         add|cancel\n"
    );
    assert!(round.questions().is_empty());
}

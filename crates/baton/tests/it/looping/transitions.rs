//! The four transitions between phases.

use super::fixture::{LoopFixture, one_round, stderr};

#[test]
fn test_1_plan_hands_off_to_execute() {
    let fixture = LoopFixture::new();
    let subject = fixture.add("Ask first");
    let output = fixture.run_with_answers(&[], &["Teal", "YES"]);
    assert_eq!(output.status.code(), Some(10), "{}", stderr(&output));
    let printed = stderr(&output);
    assert!(printed.contains("Ready to execute? [YES/NO]") && printed.contains("1. First part"), "{printed}");
    assert!(printed.contains("— iteration 1: execute —"), "{printed}");
    // No more questions from the plan phase, and the execute phase asks for each subtask.
    assert!(printed.contains("Execute: First part? [YES/NO/HELP]"), "{printed}");
    // The subtasks were created after YES and replace the task.
    assert_eq!(fixture.repo.json(&["task", "show", &subject])["queue"], "recycled");
    fixture.task_titled("First part");
    // The agents of the next phase get nothing of this phase's questions.
    fixture.run_with_answers(&[], &["YES"]);
    let prompts = fixture.prompts("First part");
    assert!(!prompts.is_empty());
    for prompt in prompts {
        assert!(
            !prompt.contains("colour") && !prompt.contains("Teal") && !prompt.contains("Ready to execute")
        );
    }
}

#[test]
fn test_2_execute_hands_off_to_review() {
    let fixture = LoopFixture::new();
    fixture.add("Build it");
    let output = fixture.run_with_answers(&[], &["YES", "HELP", "YES", "YES", "YES", "FAILED", "YES"]);
    assert_eq!(output.status.code(), Some(10), "{}", stderr(&output));
    let printed = stderr(&output);
    // HELP shows help and repeats the question.
    assert_eq!(printed.matches("Execute: First part? [YES/NO/HELP]").count(), 2, "{printed}");
    assert!(printed.contains("Write the first file."), "{printed}");
    assert!(printed.contains("Ready for review? [YES/NO]"), "{printed}");
    assert!(printed.contains("— iteration 1: review —"), "{printed}");
    assert!(
        printed.contains("Add discovered tasks? [YES/NO/EDIT]")
            && printed.contains("Two parts, one pattern.")
    );
    assert_eq!(fixture.task_titled("First part")["queue"], "done");
    assert_eq!(fixture.task_titled("Second part")["queue"], "failed");
    for prompt in fixture.prompts("Review:") {
        assert!(prompt.contains("Completed: 1") && prompt.contains("Failed: 1"), "{prompt}");
        for asked in ["Execute: ", "Done: ", "Ready for review", "HELP"] {
            assert!(!prompt.split("This is the review phase").next().unwrap().contains(asked), "{prompt}");
        }
    }
}

#[test]
fn test_3_review_continues_with_plan() {
    let fixture = LoopFixture::new();
    fixture.add("Build it");
    fixture.add("Wash the dishes");
    let output = fixture.run_with_answers(&[], &one_round("YES"));
    assert_eq!(output.status.code(), Some(10), "{}", stderr(&output));
    let printed = stderr(&output);
    assert!(printed.contains("New: 1. Duplicates skipped: 2."), "{printed}");
    assert!(printed.contains("— iteration 2: plan —"), "{printed}");
    // The next task of the queue.
    assert!(
        printed.contains("The plan for") && printed.contains("Wash the dishes has 2 subtasks"),
        "{printed}"
    );
    fixture.task_titled("Add docs");
    let second = &fixture.prompts("Plan: Wash")[0];
    assert!(
        second.contains("Iteration 2, plan phase.") && second.contains("Discovered tasks added: 1"),
        "{second}"
    );
    assert!(!second.contains("Continue loop?") && !second.contains("Two parts, one pattern"), "{second}");
}

#[test]
fn test_4_review_returns_to_the_hub_with_a_summary() {
    let fixture = LoopFixture::new();
    fixture.add("Build it");
    let output = fixture.run_with_answers(&[], &one_round("NO"));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let summary = String::from_utf8(output.stdout).unwrap();
    assert_eq!(
        summary,
        "The loop is back in the hub.\nIterations: 1\nTasks completed: 2\nTasks failed: 0\nTasks discovered: 2\n\
         Duplicates skipped: 1\n\nNew loop:     baton loop\nView results: baton task list\nEdit tasks:   baton task \
         add|cancel\n"
    );
    assert!(fixture.questions().is_empty());
}

//! The binary as a person meets it: whole outputs, exit codes, and what goes where.

use std::process::{Command, Output};

fn baton(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_baton")).args(arguments).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn explain_phases_draws_the_loop() {
    let output = baton(&["explain", "phases"]);
    assert_eq!(output.status.code(), Some(0));
    insta::assert_snapshot!(stdout(&output), @r"
    A loop starts and ends at the hub. Each phase ends with one question, its gate.

    hub
      start plan       → plan
      start execute    → execute
      start review     → review

    plan: Ready to execute? [YES/NO]
      YES at the gate  → execute
      NO at the gate   → goes on
      break off        → hub

    execute: Ready for review? [YES/NO]
      YES at the gate  → review
      NO at the gate   → goes on
      break off        → hub

    review: Continue loop? [YES/NO]
      YES at the gate  → plan, iteration + 1
      NO at the gate   → hub
      break off        → hub
    ");
}

#[test]
fn explain_exits_says_how_to_take_each() {
    let output = baton(&["explain", "exits"]);
    assert_eq!(output.status.code(), Some(0));
    insta::assert_snapshot!(stdout(&output), @r#"
    A recipe ends with a reason. Its category says how to take it.

    completed  task-committed                 Task implementation committed successfully
    completed  design-committed               Design document committed successfully
    completed  tasks-committed                Implementation tasks created and committed
    completed  no-changes-to-commit           No changes to commit
    completed  clarification-needed           Needs clarification before continuing
    completed  implementation-blocked         Implementation blocked - cannot proceed
    completed  no-design-document-found       Design document not found
    completed  no-tasks-available             No tasks available to implement
    completed  user-provided-other            Recipe exited by user choice
    guardrail  max-total-steps                Stopped: the run took too many steps
    guardrail  max-step-visits-exceeded:fix   Stopped: step "fix" was entered too many times
    error      orchestration-error            The agent did not report a usable outcome
    error      error                          The run ended with an error
    error      internal-error                 Baton ran into an internal error
    error      no-prompt                      The step has no prompt to send
    completed  one-of-your-own                Completed: one-of-your-own
    "#);
}

#[test]
fn explain_states_has_every_state_and_no_way_out_of_done() {
    let text = stdout(&baton(&["explain", "states"]));
    assert_eq!(text.matches("nothing leads out of it").count(), 2, "{text}");
    assert!(text.contains("\nDone\n  nothing leads out of it\n"), "{text}");
    assert!(text.contains("  claim            → Claimed\n"), "{text}");
}

#[test]
fn wrong_usage_is_exit_code_2_and_names_what_there_is() {
    let output = baton(&["explain", "state"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("states") && said.contains("phases"), "{said}");
}

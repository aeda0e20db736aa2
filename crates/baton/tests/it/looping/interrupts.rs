//! The loop loses nothing when it is interrupted or killed at any question.

use serde_json::json;

use super::fixture::{LoopFixture, ONE_ROUND, one_round, script, stderr};

/// Where a loop can be interrupted: the answers before, the pending question, and how the next loop continues.
const PLACES: [(usize, &str, &[&str], &str); 7] = [
    (0, "Ready to execute? [YES/NO]", &[], "Ready to execute? [YES/NO]"),
    (1, "Execute: First part?", &["--from", "execute"], "Execute: First part?"),
    (2, "Done: First part?", &["--from", "execute"], "Execute: Second part?"),
    (3, "Execute: Second part?", &["--from", "execute"], "Execute: Second part?"),
    (5, "Ready for review? [YES/NO]", &["--from", "review"], "Add discovered tasks? [YES/NO/EDIT]"),
    (6, "Add discovered tasks? [YES/NO/EDIT]", &["--from", "review"], "Add discovered tasks? [YES/NO/EDIT]"),
    (7, "Continue loop? [YES/NO]", &["--from", "review"], "Continue loop? [YES/NO]"),
];

#[test]
fn ctrl_c_at_any_question_returns_to_the_hub_and_loses_nothing() {
    for (before, question, arguments, continues_with) in PLACES {
        let fixture = LoopFixture::new();
        let subject = fixture.add("Build it");
        assert_eq!(fixture.run_with_answers(&[], &ONE_ROUND[..before]).status.code(), Some(10), "{question}");
        // The question survived the first command and is shown again.
        let mut loop_again = fixture.interactive(&[]);
        loop_again.wait_for_line(question);
        let (code, rest) = loop_again.interrupt();
        assert_eq!(code, Some(130), "{question}: {rest}");
        assert!(rest.contains("no work is lost") && rest.contains("Iterations: 1"), "{question}: {rest}");
        assert!(fixture.questions().is_empty(), "{question}: it is withdrawn");
        // A task that was being planned is held; an approved plan is kept.
        let expected = if before == 0 { "incoming" } else { "recycled" };
        assert_eq!(fixture.repo.queue(&subject), expected, "{question}");
        let mut afterwards = fixture.interactive(arguments);
        afterwards.wait_for_line(continues_with);
        afterwards.kill();
    }
}

#[test]
fn a_loop_killed_at_any_question_continues_there() {
    let fixture = LoopFixture::new();
    fixture.add("Build it");
    // One answer for each run of the command; the rest comes from the store.
    let answers = one_round("NO");
    let (last, before) = answers.split_last().unwrap();
    for answer in before {
        let mut session = fixture.interactive(&[]);
        session.wait_for_line(", asked ");
        session.types(answer);
        session.wait_for_line(" ← ");
        session.kill();
    }
    let output = fixture.run_with_answers(&[], &[last]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(String::from_utf8_lossy(&output.stdout).contains("Tasks completed: 2"), "{output:?}");
}

#[test]
fn a_loop_killed_before_the_answer_asks_the_same_question_again() {
    let fixture = LoopFixture::new();
    fixture.add("Build it");
    for answer in &ONE_ROUND[..6] {
        let mut first = fixture.interactive(&[]);
        let shown = first.wait_for_line(", asked ");
        first.kill();
        let mut again = fixture.interactive(&[]);
        assert_eq!(again.wait_for_line(", asked "), shown);
        again.types(answer);
        again.wait_for_line(" ← ");
        again.kill();
    }
}

#[test]
fn interrupting_the_plan_phase_ends_the_agent_and_keeps_the_task() {
    let script = json!({ "scripts": [{ "when": "# Plan:", "steps": ["hang"] }], "otherwise": [] });
    let fixture = LoopFixture::with(&script, "");
    let subject = fixture.add("Build it");
    let mut planning = fixture.interactive(&[]);
    planning.wait_for_line("— iteration 1: plan —");
    fixture.repo.until("the agent plans", || {
        fixture.tasks().iter().any(|task| task["title"] == "Plan: Build it" && task["queue"] == "claimed")
    });
    // A task that is being planned is not ready for others.
    assert!(fixture.repo.json(&["task", "ready"])["tasks"].as_array().unwrap().is_empty());
    let (code, rest) = planning.interrupt();
    assert_eq!(code, Some(130), "{rest}");
    assert_eq!(fixture.task_titled("Plan: Build it")["queue"], "rejected");
    assert_eq!(fixture.repo.queue(&subject), "incoming");
    // It stays with the person who stopped it (I22).
    assert_eq!(fixture.repo.show(&subject)["held_because"], "stopped by you");
    fixture.repo.json(&["task", "release", &subject]);
    let ready = fixture.repo.json(&["task", "ready"]);
    assert_eq!(ready["tasks"][0]["task_id"], json!(subject), "{ready}");
}

#[test]
fn i6_the_loop_leaves_questions_of_other_tasks_alone() {
    let mut script = script();
    let asks = json!({ "when": "Colour me", "resumed": false, "steps": [{ "ask": { "question": "Which colour?" } }] });
    script["scripts"].as_array_mut().unwrap().insert(0, asks);
    let fixture = LoopFixture::with(&script, "");
    // In the session of the loop, as the command line's tasks are.
    let other = fixture.add("Colour me");
    let up = fixture.repo.up();
    fixture.repo.until("its question", || fixture.questions().len() == 1);
    up.end();
    let answers = one_round("NO");
    let answers: Vec<&str> = answers.iter().map(AsRef::as_ref).collect();
    let output = fixture.run_with_answers(&["Build it"], &answers);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let left = fixture.questions();
    assert_eq!((left.len(), &left[0]["task_id"]), (1, &json!(other)), "{left:?}");
}

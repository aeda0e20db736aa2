//! Breaking off, by hand and by accident, at every question there is: nothing is lost.

use serde_json::json;

use super::round::{ONE_ROUND, Round, one_round, talk};

/// Where a round can be broken off: the answers before, the question it waits at, and how to go on afterwards.
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
fn ctrl_c_at_any_question_goes_to_the_hub_and_loses_nothing() {
    for (before, question, arguments, goes_on_with) in PLACES {
        let round = Round::new();
        let subject = round.add("Build it");
        assert_eq!(round.answered(&[], &ONE_ROUND[..before]).status.code(), Some(10), "{question}");
        // The question survived the first command; it is shown again.
        let mut loop_again = round.talk(&[]);
        loop_again.hears(question);
        let (code, rest) = loop_again.interrupt();
        assert_eq!(code, Some(130), "{question}: {rest}");
        assert!(rest.contains("no work is lost") && rest.contains("Iterations: 1"), "{question}: {rest}");
        assert!(round.questions().is_empty(), "{question}: it is withdrawn");
        // What was being planned is in the queue again; what was planned is still there.
        let expected = if before == 0 { "incoming" } else { "recycled" };
        assert_eq!(round.shop.queue(&subject), expected, "{question}");
        let mut afterwards = round.talk(arguments);
        afterwards.hears(goes_on_with);
        afterwards.kill();
    }
}

#[test]
fn a_loop_killed_at_any_question_goes_on_from_it() {
    let round = Round::new();
    round.add("Build it");
    // One answer for each run of the command: everything else comes from the store.
    let answers = one_round("NO");
    let (last, before) = answers.split_last().unwrap();
    for answer in before {
        let mut answered = round.talk(&[]);
        answered.hears("→ baton answer");
        answered.types(answer);
        answered.hears(" ← ");
        answered.kill();
    }
    let output = round.answered(&[], &[last]);
    assert_eq!(output.status.code(), Some(0), "{}", talk(&output));
    assert!(String::from_utf8_lossy(&output.stdout).contains("Tasks completed: 2"), "{output:?}");
}

#[test]
fn a_loop_killed_before_the_answer_asks_the_very_same_question() {
    let round = Round::new();
    round.add("Build it");
    for answer in &ONE_ROUND[..6] {
        let mut first = round.talk(&[]);
        let shown = first.hears("→ baton answer");
        first.kill();
        let mut again = round.talk(&[]);
        assert_eq!(again.hears("→ baton answer"), shown);
        again.types(answer);
        again.hears(" ← ");
        again.kill();
    }
}

#[test]
fn breaking_off_while_an_agent_plans_ends_the_agent_and_keeps_the_task() {
    let script = json!({ "scripts": [{ "when": "# Plan:", "steps": ["hang"] }], "otherwise": [] });
    let round = Round::with(&script, "");
    let subject = round.add("Build it");
    let mut planning = round.talk(&[]);
    planning.hears("— iteration 1: plan —");
    round.shop.until("the agent plans", || {
        round.tasks().iter().any(|task| task["title"] == "Plan: Build it" && task["queue"] == "claimed")
    });
    // Nobody else may begin with what is being planned.
    assert!(round.shop.json(&["task", "ready"])["tasks"].as_array().unwrap().is_empty());
    let (code, rest) = planning.interrupt();
    assert_eq!(code, Some(130), "{rest}");
    assert_eq!(round.titled("Plan: Build it")["queue"], "rejected");
    assert_eq!(round.shop.queue(&subject), "incoming");
    let ready = round.shop.json(&["task", "ready"]);
    assert_eq!(ready["tasks"][0]["task_id"], json!(subject), "{ready}");
}

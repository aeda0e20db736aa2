//! The checklist for every change of phase, point by point.

use std::fs;

use serde_json::Value;

use super::fixture::{LoopFixture, ONE_ROUND, one_round, stderr};

/// Two iterations, ended by NO.
fn two_rounds() -> (LoopFixture, String) {
    let fixture = LoopFixture::new();
    fixture.add("Ask first");
    fixture.add("Build it");
    let mut answers = vec!["Teal"];
    answers.extend(one_round("YES"));
    // Everything the second review discovers exists already, so there is no question about it.
    answers.extend(&ONE_ROUND[..6]);
    answers.push("NO");
    let output = fixture.run_with_answers(&[], &answers);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    (fixture, stderr(&output))
}

/// The questions, answers and hand-offs of the output.
fn steps(printed: &str) -> Vec<&str> {
    let is_step = |line: &&str| line.contains(" ← ") || line.starts_with("— ") || line.contains("? [YES/NO");
    printed.lines().filter(is_step).map(str::trim).collect()
}

#[test]
fn checklist_01_the_gate_is_the_last_question_before_a_hand_off() {
    let (_fixture, printed) = two_rounds();
    let steps = steps(&printed);
    // The first hand-off is the start, which needs no answer.
    for (index, _) in steps.iter().enumerate().skip(1).filter(|(_, step)| step.starts_with("— ")) {
        let gates = ["Ready to execute? [YES/NO]", "Ready for review? [YES/NO]", "Continue loop? [YES/NO]"];
        assert!(gates.contains(&steps[index - 2]), "{steps:?}");
    }
}

#[test]
fn checklist_02_a_gate_accepts_only_yes_or_no() {
    let fixture = LoopFixture::new();
    fixture.add("Build it");
    let output = fixture.run_with_answers(&[], &["perhaps", "y"]);
    let printed = stderr(&output);
    assert!(printed.contains("\"perhaps\"") && printed.contains("YES, NO"), "{printed}");
    assert!(printed.contains("— iteration 1: execute —"), "{printed}");
}

#[test]
fn checklist_03_a_phase_asks_nothing_after_its_decision() {
    let (_fixture, printed) = two_rounds();
    let steps = steps(&printed);
    // The first hand-off is the start, which needs no answer.
    for (index, _) in steps.iter().enumerate().skip(1).filter(|(_, step)| step.starts_with("— ")) {
        let decision = if steps[index].contains("hub") { "← NO" } else { "← YES" };
        assert!(steps[index - 1].ends_with(decision), "{steps:?}");
    }
}

#[test]
fn checklist_04_the_hand_off_carries_the_decision_and_the_results() {
    let (fixture, _said) = two_rounds();
    let review = &fixture.prompts("Review: iteration 1")[0];
    assert!(review.contains("Execution is done.") && review.contains("Completed: 2"), "{review}");
    assert!(fixture.prompts("Plan: Build it")[0].contains("The review is done."));
}

#[test]
fn checklist_05_the_next_agent_gets_no_question_and_no_answer_of_the_phase_before() {
    let (fixture, _said) = two_rounds();
    let later = ["First part", "Second part", "Review:", "Plan: Build it"];
    for prompt in later.iter().flat_map(|title| fixture.prompts(title)) {
        for kept in ["secret colour", "Teal", "The answer (", "Q-"] {
            assert!(!prompt.contains(kept), "{kept}: {prompt}");
        }
    }
}

#[test]
fn checklist_06_the_next_agent_gets_the_current_context() {
    let (fixture, _said) = two_rounds();
    let prompts = fixture.prompts("Plan: Build it");
    assert!(
        prompts[0].contains("Iteration 2, plan phase.") && prompts[0].contains("Build it"),
        "{prompts:?}"
    );
    assert!(!prompts[0].contains("Ask first"), "{prompts:?}");
}

#[test]
fn checklist_07_each_phase_asks_its_own_questions() {
    let (_fixture, printed) = two_rounds();
    let phases: Vec<&str> = printed.split("— iteration ").skip(1).collect();
    assert_eq!(phases.len(), 7, "{printed}");
    for (phase, asks) in
        phases.iter().zip(["Ready to execute?", "Execute: ", "Add discovered", "Ready to execute?"])
    {
        assert!(phase.contains(asks), "{asks}: {phase}");
    }
    assert!(!phases[1].contains("Ready to execute?") && !phases[2].contains("Execute: "), "{printed}");
}

#[test]
fn checklist_08_never_more_than_one_question_of_a_loop_is_pending() {
    let fixture = LoopFixture::new();
    fixture.add("Build it");
    for answer in ["YES", "YES", "YES", "YES"] {
        assert_eq!(fixture.run_with_answers(&[], &[answer]).status.code(), Some(10));
        assert_eq!(fixture.questions().len(), 1);
    }
}

#[test]
fn checklist_09_continuing_and_stopping_are_distinct() {
    let (_fixture, printed) = two_rounds();
    let steps = steps(&printed);
    let ends: Vec<&&str> = steps.iter().skip_while(|step| **step != "Continue loop? [YES/NO]").collect();
    assert!(ends[1].ends_with("← YES") && *ends[2] == "— iteration 2: plan —", "{ends:?}");
    let last: Vec<&&str> = steps.iter().rev().take(2).collect();
    assert!(last[0].starts_with("— iteration 2: hub") && last[1].ends_with("← NO"), "{steps:?}");
}

#[test]
fn checklist_10_each_iteration_is_counted() {
    let (fixture, printed) = two_rounds();
    assert!(printed.contains("— iteration 2: review —"), "{printed}");
    assert_eq!(fixture.prompts("Review: iteration 2").len(), 1);
}

/// An agent that writes its token to a file and plans one part.
const SHELL_AGENT: &str = r#"
printf '%s' "$BATON_TOKEN" > "$KEEP/token-$BATON_TASK_ID"
echo '{"baton":"vagueness","goal":{"clarity":"clear","reason":"x"},"scope":{"clarity":"clear","reason":"x"},"acceptance":{"clarity":"clear","reason":"x"},"constraints":{"clarity":"clear","reason":"x"}}'
echo '{"baton":"plan","items":[{"title":"Only part"}]}'
echo '{"baton":"result","status":"COMPLETE","output":"Planned."}'
"#;

#[test]
fn checklist_11_an_agent_that_asks_after_its_hand_off_is_refused() {
    let fixture = LoopFixture::new();
    fs::write(fixture.repo.folder.join("agent.sh"), SHELL_AGENT).unwrap();
    let settings = format!(
        "default_agent = \"shell\"\n[agents.shell]\nkind = \"command\"\ncommand = [\"sh\", \"{}\"]\nenv = [\"KEEP\"]\n",
        fixture.repo.folder.join("agent.sh").display()
    );
    fs::write(fixture.repo.folder.join(".agent/baton.toml"), settings).unwrap();
    fixture.add("Build it");
    let answers = fixture.repo.folder.join(".agent/answers.txt");
    fs::write(&answers, "YES\n").unwrap();
    let mut running = fixture.repo.baton(&["loop", "--answers"]);
    let output = running.env("KEEP", &fixture.repo.folder).arg(&answers).output().unwrap();
    assert!(stderr(&output).contains("— iteration 1: execute —"), "{}", stderr(&output));
    let planner = fixture.task_titled("Plan: Build it")["task_id"].as_str().unwrap().to_owned();
    let token = fs::read_to_string(fixture.repo.folder.join(format!("token-{planner}"))).unwrap();
    let (attempt, secret) = token.split_once('.').unwrap();
    let forged = format!("{attempt}.{}", "0".repeat(secret.len()));
    for (token, code) in [(token.clone(), "cycle_closed"), (forged, "not_owner")] {
        let refused =
            fixture.repo.baton(&["ask", "Any final notes?"]).env("BATON_TOKEN", &token).output().unwrap();
        assert_eq!(refused.status.code(), Some(4), "{}", stderr(&refused));
        let printed: Value = serde_json::from_slice(&refused.stdout).unwrap();
        assert_eq!(printed["refused"]["code"], code, "{printed}");
        assert!(printed["refused"]["next"].as_str().unwrap().contains("turn"), "{printed}");
    }
    assert_eq!(fixture.questions().len(), 1);
}

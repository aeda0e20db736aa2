//! Messages of a person to the loop reach the running agent; report lines in an agent's message reach the loop.

use serde_json::json;

use super::fixture::{LoopFixture, discovered, rubric, stderr};
use crate::agents::fake;
use crate::engine::test_repo::TestRepo;
use crate::gate::Gate;

/// Plans after the gate is open; with a message in the prompt, it plans at once and differently.
const AGENT: &str = r#"
touch "$KEEP/started"
case "$prompt" in
*'The human says'*) title='As the person asked' ;;
*) flock --shared "$KEEP/gate" true; title='A guess' ;;
esac
echo '{"baton":"vagueness","goal":{"clarity":"clear","reason":"x"},"scope":{"clarity":"clear","reason":"x"},"acceptance":{"clarity":"clear","reason":"x"},"constraints":{"clarity":"clear","reason":"x"}}'
echo "{\"baton\":\"plan\",\"items\":[{\"title\":\"$title\"}]}"
echo '{"baton":"result","status":"COMPLETE","output":"Planned."}'
"#;

#[test]
fn a_message_during_a_phase_reaches_its_agent_before_the_gate_is_asked() {
    let mut repo = TestRepo::with_agent(AGENT, "");
    let gate = Gate::closed(repo.home.join("gate"));
    let home = repo.home.display().to_string();
    repo.variables.push(("KEEP".to_owned(), home));
    let settings = repo.folder.join(".agent/baton.toml");
    let text = std::fs::read_to_string(&settings).unwrap();
    std::fs::write(&settings, text + "env = [\"KEEP\"]\n").unwrap();
    let fixture = LoopFixture { repo };
    fixture.add("Build it");
    let mut planning = fixture.interactive(&[]);
    fixture.repo.until("the agent is at work", || fixture.repo.home.join("started").exists());
    fixture.repo.json(&["recipe", "say", "Use the other door."]);
    gate.open();
    planning.wait_for_line("Ready to execute? [YES/NO]");
    planning.wait_for_line("1. As the person asked");
    // While a question is pending no agent works: it has to be answered first.
    let refused = fixture.repo.output(&["recipe", "say", "And paint it green."]);
    assert_eq!(refused.status.code(), Some(4), "{refused:?}");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("Ready to execute? [YES/NO]"), "{refused:?}");
    let (code, _) = planning.interrupt();
    assert_eq!(code, Some(130));
    assert!(fixture.prompts("Plan:")[1].contains("Use the other door."));
}

#[test]
fn a_message_before_the_first_agent_reaches_it() {
    let fixture = LoopFixture::new();
    fixture.add("Build it");
    fixture.repo.json(&["recipe", "start", "plan-execute-review"]);
    fixture.repo.json(&["recipe", "say", "Keep it small."]);
    assert_eq!(fixture.run_with_answers(&[], &[]).status.code(), Some(10));
    assert!(fixture.prompts("Plan:")[0].contains("Keep it small."), "{:?}", fixture.prompts("Plan:"));
}

#[test]
fn a_conversational_agent_reports_by_lines_of_its_message() {
    let plan = json!({ "baton": "plan", "items": [{ "title": "The only part" }] });
    let found = discovered(&["Add docs"]);
    let message =
        format!("I looked around.\n{}\n{plan}\n\nAnd beside it:\n{found}\nThat is all.", rubric("clear"));
    // The agent says all of it in every phase; each phase takes what is meant for it.
    let script = json!({ "turns": [[{ "commit": "a part" }, { "text": message }]] });
    let fixture = LoopFixture { repo: fake::repo(&script, "", "") };
    fixture.add("Build it");
    // Plan's gate; may run, done; Execute's gate; discovered; Review's gate.
    let output = fixture.run_with_answers(&[], &["YES", "YES", "YES", "YES", "YES", "NO"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(fixture.task_titled("The only part")["queue"], "done", "{}", stderr(&output));
    assert_eq!(fixture.task_titled("Add docs")["queue"], "incoming", "{}", stderr(&output));
}

//! What a person says to a loop of their own accord reaches the agent that is at work; what an agent says in its
//! message reaches the loop.

use serde_json::json;

use super::round::{Round, discovered, rubric, talk};
use crate::agents::fake;
use crate::engine::shop::Shop;
use crate::gate::Gate;

/// Plans, but not before it is let go, and tells what it was told. The first shift is the one that waits.
const AGENT: &str = r#"
touch "$KEEP/started"
case "$prompt" in
*'The human says'*) title='As the human said' ;;
*) flock --shared "$KEEP/gate" true; title='A guess' ;;
esac
echo '{"baton":"vagueness","goal":{"clarity":"clear","reason":"x"},"scope":{"clarity":"clear","reason":"x"},"acceptance":{"clarity":"clear","reason":"x"},"constraints":{"clarity":"clear","reason":"x"}}'
echo "{\"baton\":\"plan\",\"items\":[{\"title\":\"$title\"}]}"
echo '{"baton":"result","status":"COMPLETE","output":"Planned."}'
"#;

#[test]
fn a_message_during_a_phase_reaches_its_agent_before_the_gate_is_asked() {
    let mut shop = Shop::with_agent(AGENT, "");
    let gate = Gate::closed(shop.home.join("gate"));
    let home = shop.home.display().to_string();
    shop.variables.push(("KEEP".to_owned(), home));
    let settings = shop.folder.join(".agent/baton.toml");
    let text = std::fs::read_to_string(&settings).unwrap();
    std::fs::write(&settings, text + "env = [\"KEEP\"]\n").unwrap();
    let round = Round { shop };
    round.add("Build it");
    let mut planning = round.talk(&[]);
    round.shop.until("the agent is at work", || round.shop.home.join("started").exists());
    round.shop.json(&["recipe", "say", "Use the other door."]);
    gate.open();
    planning.hears("Ready to execute? [YES/NO]");
    planning.hears("1. As the human said");
    // While a question waits nobody is at work: its answer comes first.
    let refused = round.shop.output(&["recipe", "say", "And paint it green."]);
    assert_eq!(refused.status.code(), Some(4), "{refused:?}");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("Ready to execute? [YES/NO]"), "{refused:?}");
    let (code, _) = planning.interrupt();
    assert_eq!(code, Some(130));
    assert!(round.prompts("Plan:")[1].contains("Use the other door."));
}

#[test]
fn what_is_said_before_an_agent_is_there_is_told_to_the_first_one() {
    let round = Round::new();
    round.add("Build it");
    round.shop.json(&["recipe", "start", "plan-execute-review"]);
    round.shop.json(&["recipe", "say", "Keep it small."]);
    assert_eq!(round.answered(&[], &[]).status.code(), Some(10));
    assert!(round.prompts("Plan:")[0].contains("Keep it small."), "{:?}", round.prompts("Plan:"));
}

#[test]
fn an_agent_that_is_only_talked_with_hands_in_by_lines_of_its_message() {
    let plan = json!({ "baton": "plan", "items": [{ "title": "The only part" }] });
    let found = discovered(&["Add docs"]);
    let message =
        format!("I looked around.\n{}\n{plan}\n\nAnd beside it:\n{found}\nThat is all.", rubric("clear"));
    // Every session, whatever phase it is for, says all of it; each phase hears what is meant for it.
    let script = json!({ "turns": [[{ "commit": "a part" }, { "text": message }]] });
    let round = Round { shop: fake::shop(&script, "", "") };
    round.add("Build it");
    // Plan's gate; may run, done; Execute's gate; discovered; Review's gate.
    let output = round.answered(&[], &["YES", "YES", "YES", "YES", "YES", "NO"]);
    assert!(output.status.success(), "{}", talk(&output));
    assert_eq!(round.titled("The only part")["queue"], "done", "{}", talk(&output));
    assert_eq!(round.titled("Add docs")["queue"], "incoming", "{}", talk(&output));
}

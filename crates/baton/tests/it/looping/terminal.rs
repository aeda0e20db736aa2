//! The loop where nobody is there to type, and in a terminal where somebody is.

use std::fs;
use std::process::Command;

use serde_json::json;

use super::round::{ONE_ROUND, Round, talk};

#[test]
fn answers_are_taken_from_the_file_in_order_and_then_nobody_is_there() {
    let round = Round::new();
    round.add("Build it");
    let output = round.answered(&[], &["NO", "Three parts.", "YES"]);
    assert_eq!(output.status.code(), Some(10), "{}", talk(&output));
    let said = talk(&output);
    let answers: Vec<&str> =
        said.lines().filter_map(|line| line.split_once(" ← ")).map(|(_, said)| said).collect();
    assert_eq!(answers, ["NO", "Three parts.", "YES"], "{said}");
    assert!(said.contains("waits for an answer, and there is no terminal to give one"), "{said}");
    assert!(said.contains("Hint: answer it, then continue: baton answer Q-"), "{said}");
}

#[test]
fn a_file_that_is_not_there_is_wrong_usage_and_starts_nothing() {
    let round = Round::new();
    round.add("Build it");
    let output = round.shop.output(&["loop", "--answers", "nowhere.txt"]);
    assert_eq!(output.status.code(), Some(2), "{}", talk(&output));
    assert!(talk(&output).contains("cannot read nowhere.txt"), "{}", talk(&output));
    assert_eq!(round.tasks().len(), 1);
}

#[test]
fn unattended_fail_goes_back_to_the_hub_at_the_first_question() {
    let round = Round::new();
    let task = round.add("Build it");
    let output = round.shop.output(&["loop", "--unattended", "fail"]);
    assert_eq!(output.status.code(), Some(10), "{}", talk(&output));
    assert!(talk(&output).contains("— iteration 1: hub —"), "{}", talk(&output));
    assert!(talk(&output).contains("nobody answered, so the loop was stopped"), "{}", talk(&output));
    assert!(round.questions().is_empty());
    assert_eq!(round.shop.queue(&task), "incoming", "nothing was created and nothing is lost");
}

#[test]
fn unattended_default_leaves_a_question_without_a_default_to_the_human() {
    let round = Round::new();
    round.add("Build it");
    let output = round.shop.output(&["loop", "--unattended", "default"]);
    assert_eq!(output.status.code(), Some(10), "{}", talk(&output));
    assert_eq!(round.questions().len(), 1, "a gate is the human's");
}

#[test]
fn unattended_escalate_calls_the_human_and_waits() {
    let round = Round::new();
    round.add("Build it");
    let output = round.shop.output(&["loop", "--unattended", "escalate"]);
    assert_eq!(output.status.code(), Some(10), "{}", talk(&output));
    assert_eq!(round.questions().len(), 1);
}

#[test]
fn without_an_agent_it_says_so_instead_of_waiting() {
    let round = Round::new();
    round.add("Build it");
    fs::write(round.shop.folder.join(".agent/baton.toml"), "").unwrap();
    let output = round.shop.output(&["loop"]);
    assert_eq!(output.status.code(), Some(1), "{}", talk(&output));
    assert!(talk(&output).contains("no agent is set up for the role plan"), "{}", talk(&output));
}

#[test]
fn agents_that_hand_in_no_plan_end_the_loop_as_a_failure() {
    let script = json!({ "scripts": [], "otherwise": [{ "say": "I would rather not." }] });
    let round = Round::with(&script, "");
    let task = round.add("Build it");
    let output = round.shop.output(&["loop"]);
    assert_eq!(output.status.code(), Some(1), "{}", talk(&output));
    assert!(talk(&output).contains("handed in no rubric or no plan"), "{}", talk(&output));
    assert_eq!(round.tasks().iter().filter(|task| task["title"] == "Plan: Build it").count(), 3);
    assert_eq!(round.shop.queue(&task), "incoming");
}

/// A terminal with a person at it, in a server of tmux's own.
struct Tmux(String);

impl Tmux {
    fn run(&self, arguments: &[&str]) -> String {
        let output =
            Command::new("tmux").args(["-L", &self.0, "-f", "/dev/null"]).args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn shows(&self, round: &Round, what: &str) {
        let mut screen = String::new();
        round.shop.until(&format!("tmux shows {what:?}"), || {
            screen = self.run(&["capture-pane", "-p", "-J", "-S", "-2000", "-t", "loop"]);
            screen.contains(what)
        });
    }

    fn types(&self, line: &str) {
        self.run(&["send-keys", "-t", "loop", line, "Enter"]);
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        let _ = Command::new("tmux").args(["-L", &self.0, "kill-server"]).output();
    }
}

#[test]
fn the_loop_runs_inside_tmux_and_ctrl_c_breaks_it_off() {
    let round = Round::new();
    round.add("Build it");
    let tmux = Tmux(format!("baton-test-{}", std::process::id()));
    let ended = round.shop.home.join("ended");
    let line = format!(
        "cd '{}' && BATON_USER=mia '{}' loop; echo $? > '{}'; cat",
        round.shop.folder.display(),
        env!("CARGO_BIN_EXE_baton"),
        ended.display()
    );
    tmux.run(&["new-session", "-d", "-s", "loop", "-x", "120", "-y", "40", &line]);
    for (question, answer) in
        ["Ready to execute?", "Execute: First part?", "Done: First part?"].iter().zip(ONE_ROUND)
    {
        tmux.shows(&round, question);
        tmux.types(answer);
    }
    tmux.shows(&round, "Execute: Second part?");
    tmux.run(&["send-keys", "-t", "loop", "C-c"]);
    round.shop.until("the loop ends", || ended.exists());
    round.shop.until("its code is written", || fs::read_to_string(&ended).unwrap().trim() == "130");
    tmux.shows(&round, "no work is lost");
    assert_eq!(round.titled("First part")["queue"], "done");
}

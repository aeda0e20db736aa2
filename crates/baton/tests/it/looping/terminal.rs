//! The loop without a terminal, with answers from a file, and inside tmux.

use std::fs;

use serde_json::json;

use super::fixture::{LoopFixture, ONE_ROUND, stderr};
use crate::tmux::Tmux;

#[test]
fn answers_are_read_from_the_file_in_order_and_then_the_loop_waits() {
    let fixture = LoopFixture::new();
    fixture.add("Build it");
    let output = fixture.run_with_answers(&[], &["NO", "Three parts.", "YES"]);
    assert_eq!(output.status.code(), Some(10), "{}", stderr(&output));
    let printed = stderr(&output);
    let answers: Vec<&str> =
        printed.lines().filter_map(|line| line.split_once(" ← ")).map(|(_, printed)| printed).collect();
    assert_eq!(answers, ["NO", "Three parts.", "YES"], "{printed}");
    assert!(printed.contains("waits for an answer, and there is no terminal to give one"), "{printed}");
    assert!(printed.contains("Hint: answer it, then continue: baton answer Q-"), "{printed}");
}

#[test]
fn a_missing_answer_file_is_a_usage_error_and_starts_nothing() {
    let fixture = LoopFixture::new();
    fixture.add("Build it");
    let output = fixture.repo.output(&["loop", "--answers", "nowhere.txt"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("cannot read nowhere.txt"), "{}", stderr(&output));
    assert_eq!(fixture.tasks().len(), 1);
}

#[test]
fn unattended_fail_returns_to_the_hub_at_the_first_question() {
    let fixture = LoopFixture::new();
    let task = fixture.add("Build it");
    let output = fixture.repo.output(&["loop", "--unattended", "fail"]);
    assert_eq!(output.status.code(), Some(10), "{}", stderr(&output));
    assert!(stderr(&output).contains("— iteration 1: hub —"), "{}", stderr(&output));
    assert!(stderr(&output).contains("nobody answered, so the loop was stopped"), "{}", stderr(&output));
    assert!(fixture.questions().is_empty());
    assert_eq!(fixture.repo.queue(&task), "incoming", "nothing was created and nothing is lost");
}

#[test]
fn unattended_default_leaves_a_question_without_a_default_to_a_person() {
    let fixture = LoopFixture::new();
    fixture.add("Build it");
    let output = fixture.repo.output(&["loop", "--unattended", "default"]);
    assert_eq!(output.status.code(), Some(10), "{}", stderr(&output));
    assert_eq!(fixture.questions().len(), 1, "a person decides a gate");
}

#[test]
fn unattended_escalate_notifies_a_person_and_waits() {
    let fixture = LoopFixture::new();
    fixture.add("Build it");
    let output = fixture.repo.output(&["loop", "--unattended", "escalate"]);
    assert_eq!(output.status.code(), Some(10), "{}", stderr(&output));
    assert_eq!(fixture.questions().len(), 1);
}

#[test]
fn without_an_agent_the_loop_fails_instead_of_waiting() {
    let fixture = LoopFixture::new();
    fixture.add("Build it");
    fs::write(fixture.repo.folder.join(".agent/baton.toml"), "").unwrap();
    let output = fixture.repo.output(&["loop"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("no agent is set up for the role plan"), "{}", stderr(&output));
}

#[test]
fn agents_that_submit_no_plan_fail_the_loop() {
    let script = json!({ "scripts": [], "otherwise": [{ "say": "I would rather not." }] });
    let fixture = LoopFixture::with(&script, "");
    let task = fixture.add("Build it");
    let output = fixture.repo.output(&["loop"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("submitted no rubric or no plan"), "{}", stderr(&output));
    assert_eq!(fixture.tasks().iter().filter(|task| task["title"] == "Plan: Build it").count(), 3);
    assert_eq!(fixture.repo.queue(&task), "incoming");
}

#[test]
fn the_loop_runs_inside_tmux_and_ctrl_c_interrupts_it() {
    let fixture = LoopFixture::new();
    fixture.add("Build it");
    let ended = fixture.repo.home.join("ended");
    let line = format!(
        "BATON_USER=mia '{}' loop; echo $? > '{}'; cat",
        env!("CARGO_BIN_EXE_baton"),
        ended.display()
    );
    let tmux = Tmux::start("loop", &fixture.repo.folder, &line);
    for (question, answer) in
        ["Ready to execute?", "Execute: First part?", "Done: First part?"].iter().zip(ONE_ROUND)
    {
        tmux.shows(question);
        tmux.types(answer);
    }
    tmux.shows("Execute: Second part?");
    tmux.press(&["C-c"]);
    fixture.repo.until("the loop ends", || ended.exists());
    fixture.repo.until("its code is written", || fs::read_to_string(&ended).unwrap().trim() == "130");
    tmux.shows("no work is lost");
    assert_eq!(fixture.task_titled("First part")["queue"], "done");
}

#[test]
fn the_prompt_says_what_to_type_and_a_pasted_command_is_understood() {
    let fixture = LoopFixture::new();
    fixture.add("Build it");
    let mut session = fixture.interactive(&[]);
    let asked = session.wait_for_line(", asked ");
    let id = asked.split([' ', ',']).find(|word| word.starts_with("Q-")).unwrap().to_owned();
    assert_eq!(session.wait_for_line("→").trim(), "→ YES, NO");
    session.types(&format!("baton answer {id} YES"));
    session.wait_for_line("iteration 1: execute");
    session.interrupt();
}

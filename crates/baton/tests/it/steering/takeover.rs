//! `baton take` and `baton give`: a person works in the place of the agent, and nothing is lost.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::agents::fake::{self, outcome, prompts, sessions, turns};
use crate::engine::test_repo::TestRepo;

fn works(repo: &TestRepo) {
    repo.until("the agent works", || sessions(repo).first().is_some_and(|lines| prompts(lines).len() == 1));
}

fn folder(taken: &Value) -> PathBuf {
    assert_eq!((&taken["is_free"], &taken["taken_by"]), (&json!(true), &json!("mia")), "{taken}");
    taken["worktree"].as_str().unwrap().into()
}

/// What a person does in the folder.
fn commit(folder: &Path, file: &str) {
    std::fs::write(folder.join(file), "by hand\n").unwrap();
    let git = |arguments: &[&str]| {
        let identity = ["-c", "user.name=mia", "-c", "user.email=mia@example.org"];
        let status = Command::new("git").args(identity).args(arguments).current_dir(folder).status().unwrap();
        assert!(status.success(), "{arguments:?}");
    };
    git(&["add", "-A"]);
    git(&["commit", "-q", "-m", "By hand"]);
}

#[test]
fn a_person_takes_over_and_the_agent_goes_on_in_its_session() {
    let script = turns(json!([["hang"], [{ "commit": "by the agent" }, outcome("complete")]]));
    let repo = fake::repo(&script, "", "");
    let task = repo.add("Paint it", &[]);
    let up = repo.up();
    works(&repo);
    let taken = repo.json(&["take", &task]);
    let folder = folder(&taken);
    assert!(taken["agent_session"].is_string(), "{taken}");
    let shown = repo.show(&task);
    assert_eq!(shown["held_because"], "taken over by mia", "{shown}");
    commit(&folder, "mine.txt");
    // Nobody else hands it back twice, and nobody can hand back what was not taken.
    repo.stdout(&["give", &task, "--message", "I started it. Please finish."]);
    repo.until_queue(&task, "provisional");
    let again = repo.output(&["give", &task]);
    assert_eq!(again.status.code(), Some(4), "{again:?}");
    up.end();
    let sessions = sessions(&repo);
    assert_eq!(sessions.len(), 1, "the same session goes on: {sessions:#?}");
    let told = prompts(&sessions[0]);
    assert!(told.last().unwrap().contains("I started it. Please finish."), "{told:#?}");
    let diff = repo.stdout(&["task", "diff", &task]);
    assert!(diff.contains("mine.txt") && diff.contains("work.txt"), "{diff}");
}

#[test]
fn a_kill_while_a_task_is_taken_loses_nothing_and_done_needs_no_agent() {
    let script = turns(json!([[{ "commit": "half" }, { "text": "half\n" }, "hang"]]));
    let repo = fake::repo(&script, "", "");
    let task = repo.add("Paint it", &[]);
    let up = repo.up();
    works(&repo);
    let folder = folder(&repo.json(&["take", &task, "--now"]));
    commit(&folder, "mine.txt");
    std::fs::write(folder.join("unfinished.txt"), "not committed\n").unwrap();
    up.kill();
    let up = repo.up();
    // Still the person's: no agent has started, and everything is where it was.
    assert_eq!(repo.show(&task)["held_because"], "taken over by mia");
    assert!(folder.join("unfinished.txt").exists());
    assert_eq!(std::path::PathBuf::from(repo.stdout(&["take", &task, "--print"]).trim()), folder);
    repo.stdout(&["give", &task, "--done"]);
    repo.until_queue(&task, "provisional");
    up.end();
    assert_eq!(sessions(&repo).len(), 1, "no agent was started for it");
    let diff = repo.stdout(&["task", "diff", &task]);
    for file in ["mine.txt", "unfinished.txt", "work.txt"] {
        assert!(diff.contains(file), "{file} is missing: {diff}");
    }
    assert!(repo.show(&task)["output"].as_str().unwrap().contains("Handed in by mia"));
}

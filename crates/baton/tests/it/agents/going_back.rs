//! Work that comes back goes to its author: the same session continues, with the reason.

use serde_json::json;

use super::fake::{self, outcome, prompts, sessions, turns};
use crate::engine::test_repo::TestRepo;
use crate::landing::commit_on_branch;

/// Red in a lane, as long as there is only the first commit.
const ONCE_RED: &str = r#"[checks]
rules = ["sh", "-c", '''case "$PWD" in *worktrees*) exit 0 ;; esac; test "$(cat work.txt 2>/dev/null)" != first || { echo too little; exit 3; }''']
"#;

fn reject(repo: &TestRepo, task: &str) {
    repo.stdout(&["reject", task, "--reason", "Make it blue."]);
}

fn accept_in_vain(repo: &TestRepo, task: &str) {
    let output = repo.output(&["accept", task]);
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stdout));
}

fn accept_what_is_red(repo: &TestRepo, task: &str) {
    let output = repo.output(&["accept", task]);
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stdout));
    let narrated = String::from_utf8_lossy(&output.stderr).into_owned();
    let [with, without] =
        [format!("checking {task} on baton/next ("), format!("checking baton/next without {task} (")];
    assert!(narrated.contains(&with) && narrated.contains(&without), "{narrated}");
}

fn accept_what_conflicts(repo: &TestRepo, task: &str) {
    commit_on_branch(repo, "work.txt", "by hand\n");
    accept_in_vain(repo, task);
}

#[test]
fn a_rejection_a_red_check_and_a_conflict_continue_the_authors_session() {
    type Decision = fn(&TestRepo, &str);
    let cases: [(&str, Decision, &str); 3] = [
        ("", reject, "Make it blue."),
        (ONCE_RED, accept_what_is_red, "too little"),
        (ONCE_RED, accept_what_conflicts, "work.txt"),
    ];
    for (settings, decide, reason) in cases {
        let turn = |message: &str| json!([{ "commit": message }, outcome("complete")]);
        let repo = fake::repo(&turns(json!([turn("first"), turn("second")])), "", "");
        let file = repo.folder.join(".agent/baton.toml");
        let own = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, format!("{own}{settings}")).unwrap();
        let task = repo.add("Paint it", &[]);
        let up = repo.up();
        repo.until_queue(&task, "provisional");
        decide(&repo, &task);
        repo.until("its agent has gone on", || repo.attempts(&task).len() == 2);
        repo.until_queue(&task, "provisional");
        up.end();
        let sessions = sessions(&repo);
        assert_eq!(sessions.len(), 1, "{reason}: {sessions:#?}");
        let prompts = prompts(&sessions[0]);
        assert_eq!(prompts.len(), 2, "{prompts:#?}");
        assert!(prompts[1].contains(reason), "{}", prompts[1]);
        // Where nothing else has landed there is nothing to merge.
        assert_eq!(prompts[1].contains("fresh clone"), reason == "too little", "{}", prompts[1]);
        assert_eq!(prompts[1].contains("git merge"), reason == "work.txt", "{}", prompts[1]);
        assert_eq!(
            prompts[1].contains("looked at and not accepted"),
            reason == "Make it blue.",
            "{}",
            prompts[1]
        );
        assert!(!prompts[1].contains("all of it, and nothing else"), "one instruction: {}", prompts[1]);
        assert!(!prompts[1].contains("Where you are"), "it knows all that: {}", prompts[1]);
    }
}

#[test]
fn what_a_person_says_about_work_that_cannot_land_is_the_instruction() {
    let check = r#"[checks]
rules = ["sh", "-c", '''case "$PWD" in *worktrees*) exit 0 ;; esac; ! test -e work.txt || test $(wc -l < work.txt) -ge 3''']
"#;
    let turn = |message: &str| json!([{ "commit": message }, outcome("complete")]);
    let repo = fake::repo(&turns(json!([turn("first"), turn("second"), turn("third")])), "", "");
    let file = repo.folder.join(".agent/baton.toml");
    let own = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("{own}{check}")).unwrap();
    let task = repo.add("Paint it", &[]);
    let up = repo.up();
    repo.until_queue(&task, "provisional");
    accept_in_vain(&repo, &task);
    repo.until("its agent has gone on", || repo.attempts(&task).len() == 2);
    repo.until_queue(&task, "provisional");
    accept_in_vain(&repo, &task);
    let question = repo.json(&["questions"])["questions"][0].clone();
    let text = question["text"].as_str().unwrap();
    assert!(
        text.starts_with(
            "The work was accepted, and the checks failed on its branch together with it, again"
        ),
        "{text}"
    );
    repo.stdout(&["answer", question["id"].as_str().unwrap(), "Write a third line."]);
    repo.until("its agent has gone on", || repo.attempts(&task).len() == 3);
    repo.until_queue(&task, "provisional");
    repo.stdout(&["accept", &task]);
    up.end();
    let prompts = prompts(&sessions(&repo)[0]);
    let now = prompts[2].split("## What to do now").nth(1).unwrap();
    assert!(
        now.contains("The human was asked how, and says:") && now.contains("Write a third line."),
        "{now}"
    );
}

//! Acceptance: merges, conflicts, previews and dependencies that can never be met.

use serde_json::json;

use super::test_repo::TestRepo;

/// Every task writes another line to the same file. After a conflict, the agent merges or does nothing.
fn conflicting_agent(resolves: bool) -> TestRepo {
    let resolution =
        if resolves { "git merge -q -X ours baton/next -m Join" } else { "echo 'I see no conflict.'" };
    let agent = format!(
        "case \"$prompt\" in
        *'could not be merged'*) {resolution} ;;
        *) echo \"$BATON_TASK_ID\" > same.txt && git add -A && git commit -q -m \"Write as $BATON_TASK_ID\" ;;
        esac"
    );
    TestRepo::with_agent(&agent, "")
}

/// Accepts work that does not merge: what is printed, with exit code 1.
fn sent_back(repo: &TestRepo, task: &str) -> String {
    let output = repo.output(&["accept", task]);
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_merge_conflict_becomes_a_rebase_attempt_and_then_merges() {
    let repo = conflicting_agent(true);
    let tasks = [repo.add("One", &[]), repo.add("Two", &[])];
    repo.work_until(&[(&tasks[0], "provisional"), (&tasks[1], "provisional")]);
    repo.stdout(&["accept", &tasks[0]]);
    let printed = sent_back(&repo, &tasks[1]);
    assert!(printed.contains("conflicts in same.txt"), "{printed}");
    assert_eq!(repo.queue(&tasks[1]), "incoming");
    repo.work_until(&[(&tasks[1], "provisional")]);
    assert_eq!(repo.attempts(&tasks[1]).len(), 2);
    repo.stdout(&["accept", &tasks[1]]);
    assert_eq!(repo.git(&["show", "baton/next:same.txt"]), tasks[1]);
    let subjects = repo.git(&["log", "--format=%s", "baton/next"]);
    assert!(tasks.iter().all(|task| subjects.contains(&format!("Write as {task}"))), "{subjects}");
}

#[test]
fn a_conflict_that_an_attempt_did_not_resolve_becomes_a_question_and_no_commit_is_lost() {
    let repo = conflicting_agent(false);
    let tasks = [repo.add("One", &[]), repo.add("Two", &[])];
    repo.work_until(&[(&tasks[0], "provisional"), (&tasks[1], "provisional")]);
    repo.stdout(&["accept", &tasks[0]]);
    sent_back(&repo, &tasks[1]);
    let tip = repo.git(&["rev-parse", &format!("baton/{}", tasks[1])]);
    repo.work_until(&[(&tasks[1], "provisional")]);
    let next = repo.git(&["rev-parse", "baton/next"]);
    sent_back(&repo, &tasks[1]);
    assert_eq!(repo.status(&tasks[1]), "AWAITING_RESPONSE");
    let question = repo.json(&["questions"])["questions"][0]["text"].to_string();
    assert!(
        question.contains("How should the agent resolve it?") && question.contains("same.txt"),
        "{question}"
    );
    assert!(question.contains("baton/next"), "the target is named: {question}");
    assert_eq!(repo.git(&["rev-parse", "baton/next"]), next, "a conflict changes nothing");
    repo.git(&["merge-base", "--is-ancestor", &tip, &format!("baton/{}", tasks[1])]);
}

#[test]
fn a_preview_shows_what_accepting_them_together_would_start_and_changes_nothing() {
    let repo = TestRepo::with_working_agent("");
    let (one, two) = (repo.add("One", &[]), repo.add("Two", &[]));
    let both = repo.add("After both", &[&one, &two]);
    let after = repo.add("After the one after both", &[&both]);
    let up = repo.up_with(&["--agents", "1"]);
    repo.until_queue(&one, "provisional");
    repo.until_queue(&two, "provisional");
    up.end();
    let alone = repo.json(&["accept", &one, "--dry-run"]);
    assert_eq!(alone["preview"][0]["would_start"], serde_json::json!([]), "{after} and {both} wait for more");
    let all = repo.json(&["accept", "--all", "--dry-run"]);
    assert_eq!(all["preview"][1]["would_start"], serde_json::json!([both]));
    assert_eq!((repo.queue(&one), repo.queue(&two)), ("provisional".to_owned(), "provisional".to_owned()));
    let printed = repo.stdout(&["accept", "--all", "--dry-run"]);
    assert!(printed.contains(&format!("would be accepted and start {both}")), "{printed}");
}

#[test]
fn a_dependency_that_can_never_be_met_is_shown_with_the_reason() {
    let repo = TestRepo::with_working_agent("");
    let first = repo.add("First", &[]);
    let second = repo.add("Second", &[&first]);
    let third = repo.add("Third", &[&second]);
    assert!(!repo.stdout(&["task", "show", &second]).contains("never"));
    repo.stdout(&["task", "cancel", &first]);
    let printed = repo.stdout(&["task", "show", &second]);
    assert!(
        printed.contains("It can never start") && printed.contains(&format!("{first} was cancelled")),
        "{printed}"
    );
    let edges = repo.show(&third)["dead_edges"].clone();
    assert_eq!(edges[0]["on"], serde_json::json!(second));
    assert!(edges[0]["reason"].as_str().unwrap().contains(&first), "{edges}");
}

#[test]
fn the_changes_of_a_task_can_be_seen_after_it_has_landed() {
    let repo = TestRepo::with_agent("echo one > one.txt; git add -A; git commit -q -m One", "");
    let task = repo.add("One", &[]);
    repo.work_until(&[(&task, "provisional")]);
    let before = repo.stdout(&["task", "diff", &task]);
    repo.stdout(&["accept", &task]);
    let after = repo.stdout(&["task", "diff", &task]);
    assert!(after.contains("+++ b/one.txt"), "{after}");
    assert_eq!(after, before);
}

#[test]
fn finished_work_that_still_asks_is_shown_as_such_and_left_out_of_accept_all() {
    let repo = TestRepo::with_agent("turns 1; work; echo 'Implemented. Which port should it use?'", "");
    let task = repo.add("Listen", &[]);
    repo.work_until(&[(&task, "provisional")]);
    assert_eq!(repo.show(&task)["open_question"], "Implemented. Which port should it use?");
    let shown = repo.stdout(&["task", "show", &task]);
    assert!(shown.contains("Its agent still asks: Implemented. Which port should it use?"), "{shown}");
    let listed = repo.stdout(&["task", "list"]);
    assert!(listed.contains(" asks "), "{listed}");
    let preview = repo.json(&["accept", "--all", "--dry-run"]);
    assert_eq!(preview["preview"][0]["would_be"], "left out", "{preview}");
    let left = repo.json(&["accept", "--all"]);
    assert_eq!((&left["accepted"], &left["left_out"]), (&json!([]), &json!([task])), "{left}");
    // Who names it has seen it.
    assert_eq!(repo.json(&["accept", &task])["accepted"], json!([task]));
}

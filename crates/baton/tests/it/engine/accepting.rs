//! Acceptance: what is merged, what conflicts, what would start, and what never can.

use super::shop::Shop;

/// Writes a line of its own into the same file as everybody else; told of a conflict, merges when it is willing.
fn clashing(is_willing: bool) -> Shop {
    let mending =
        if is_willing { "git merge -q -X ours baton/next -m Join" } else { "echo 'I see no conflict.'" };
    let agent = format!(
        "case \"$prompt\" in
        *'could not be merged'*) {mending} ;;
        *) echo \"$BATON_TASK_ID\" > same.txt && git add -A && git commit -q -m \"Write as $BATON_TASK_ID\" ;;
        esac"
    );
    Shop::with_agent(&agent, "")
}

#[test]
fn a_merge_conflict_becomes_a_rebase_attempt_and_then_merges() {
    let shop = clashing(true);
    let tasks = [shop.add("One", &[]), shop.add("Two", &[])];
    shop.work_until(&[(&tasks[0], "provisional"), (&tasks[1], "provisional")]);
    shop.says(&["accept", &tasks[0]]);
    let said = shop.says(&["accept", &tasks[1]]);
    assert!(said.contains("conflicts in same.txt"), "{said}");
    assert_eq!(shop.queue(&tasks[1]), "incoming");
    shop.work_until(&[(&tasks[1], "provisional")]);
    assert_eq!(shop.attempts(&tasks[1]).len(), 2);
    shop.says(&["accept", &tasks[1]]);
    assert_eq!(shop.git(&["show", "baton/next:same.txt"]), tasks[1]);
    let subjects = shop.git(&["log", "--format=%s", "baton/next"]);
    assert!(tasks.iter().all(|task| subjects.contains(&format!("Write as {task}"))), "{subjects}");
}

#[test]
fn a_conflict_an_attempt_could_not_mend_becomes_a_question_and_no_commit_is_lost() {
    let shop = clashing(false);
    let tasks = [shop.add("One", &[]), shop.add("Two", &[])];
    shop.work_until(&[(&tasks[0], "provisional"), (&tasks[1], "provisional")]);
    shop.says(&["accept", &tasks[0]]);
    shop.says(&["accept", &tasks[1]]);
    let tip = shop.git(&["rev-parse", &format!("baton/{}", tasks[1])]);
    shop.work_until(&[(&tasks[1], "provisional")]);
    let next = shop.git(&["rev-parse", "baton/next"]);
    shop.says(&["accept", &tasks[1]]);
    assert_eq!(shop.status(&tasks[1]), "AWAITING_RESPONSE");
    let question = shop.json(&["questions"])["questions"][0]["text"].to_string();
    assert!(
        question.contains("How should the agent resolve it?") && question.contains("same.txt"),
        "{question}"
    );
    assert!(question.contains("baton/next"), "the target is named: {question}");
    assert_eq!(shop.git(&["rev-parse", "baton/next"]), next, "a conflict changes nothing");
    shop.git(&["merge-base", "--is-ancestor", &tip, &format!("baton/{}", tasks[1])]);
}

#[test]
fn a_preview_shows_what_accepting_them_together_would_start_and_changes_nothing() {
    let shop = Shop::diligent("");
    let (one, two) = (shop.add("One", &[]), shop.add("Two", &[]));
    let both = shop.add("After both", &[&one, &two]);
    let after = shop.add("After the one after both", &[&both]);
    let up = shop.up_with(&["--agents", "1"]);
    shop.until_queue(&one, "provisional");
    shop.until_queue(&two, "provisional");
    up.end();
    let alone = shop.json(&["accept", &one, "--dry-run"]);
    assert_eq!(alone["preview"][0]["would_start"], serde_json::json!([]), "{after} and {both} wait for more");
    let all = shop.json(&["accept", "--all", "--dry-run"]);
    assert_eq!(all["preview"][1]["would_start"], serde_json::json!([both]));
    assert_eq!((shop.queue(&one), shop.queue(&two)), ("provisional".to_owned(), "provisional".to_owned()));
    let said = shop.says(&["accept", "--all", "--dry-run"]);
    assert!(said.contains(&format!("would be accepted and start {both}")), "{said}");
}

#[test]
fn a_dependency_that_can_never_be_met_is_shown_with_the_reason() {
    let shop = Shop::diligent("");
    let first = shop.add("First", &[]);
    let second = shop.add("Second", &[&first]);
    let third = shop.add("Third", &[&second]);
    assert!(!shop.says(&["task", "show", &second]).contains("never"));
    shop.says(&["task", "cancel", &first]);
    let said = shop.says(&["task", "show", &second]);
    assert!(
        said.contains("It can never start") && said.contains(&format!("{first} was cancelled")),
        "{said}"
    );
    let edges = shop.show(&third)["dead_edges"].clone();
    assert_eq!(edges[0]["on"], serde_json::json!(second));
    assert!(edges[0]["reason"].as_str().unwrap().contains(&first), "{edges}");
}

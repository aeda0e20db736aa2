//! Work on the work of another task that was rejected since, and done anew: the commits that a person rejected do not land with it.

use serde_json::json;

use super::early::repo_with_gate;
use super::person_branch::files;
use super::put_on::conversation;
use super::withdrawn::{AS_TOLD, assert_lands, has};
use super::{adding_agent, assert_green, has_event};
use crate::engine::test_repo::TestRepo;

/// An agent that replaces rejected work by this, and puts work that was sent back where it is told to.
fn set_redoing(repo: &TestRepo, again: &str) {
    repo.set_agent(&format!(
        r#"case "$prompt" in
*"not accepted"*) {again} ;;
*"was accepted"*) {AS_TOLD} ;;
*) name=$(printf '%s\n' "$prompt" | sed -n 's/^# Add \(.*\)$/\1/p'); echo "$BATON_TASK_ID" > "$name"
   git add -A; git commit -q -m "Add $name" ;;
esac"#
    ));
}

const RENAME: &str = "git mv a.txt other.txt; git commit -q --amend -m 'Add other.txt'";

/// A task, and others each started on the one before while that waited to land. Then the first is rejected and done anew.
fn chain(repo: &TestRepo, names: &[&str], again: &str) -> Vec<String> {
    let mut tasks: Vec<String> = Vec::new();
    for name in names {
        let after: Vec<&String> = tasks.last().into_iter().collect();
        tasks.push(repo.add(&format!("Add {name}"), &after));
    }
    let up = repo.up();
    for task in &tasks {
        repo.until_queue(task, "provisional");
        if Some(task) != tasks.last() {
            repo.stdout(&["accept", task, "--no-wait"]);
        }
    }
    set_redoing(repo, again);
    repo.stdout(&["reject", &tasks[0], "--reason", "Call it other.txt"]);
    repo.until_queue(&tasks[0], "provisional");
    up.end();
    tasks
}

fn open_gate(repo: &TestRepo) {
    std::fs::write(repo.home.join("go"), "go").unwrap();
}

fn assert_without_rejected(repo: &TestRepo, wanted: &[&str]) {
    let landed = files(repo, "baton/next");
    assert!(wanted.iter().all(|file| landed.contains(&(*file).to_owned())), "{landed:?}");
    assert!(!landed.contains(&"a.txt".to_owned()), "{landed:?}");
    let log = repo.git(&["log", "--format=%s", "baton/next"]);
    assert!(!log.lines().any(|subject| subject == "Add a.txt"), "{log}");
    assert_green(repo, "! test -e a.txt");
}

#[test]
fn i18_work_on_a_rejected_commit_goes_back_in_whatever_order_the_two_are_accepted() {
    for order in [[0, 1], [1, 0]] {
        let repo = repo_with_gate();
        let tasks = chain(&repo, &["a.txt", "b.txt"], RENAME);
        let (first, second) = (&tasks[0], &tasks[1]);
        assert!(has(&repo, &format!("baton/{second}"), "a.txt"), "it stands on the rejected commit");
        open_gate(&repo);
        for number in order {
            repo.stdout(&["accept", &tasks[number], "--no-wait"]);
        }
        let up = repo.up();
        repo.until_queue(first, "done");
        repo.until("the second came back", || {
            has_event(&repo, second, "task_sent_back") && repo.queue(second) == "provisional"
        });
        up.end();
        assert_without_rejected(&repo, &["other.txt"]);
        assert_lands(&repo, second, &[]);
        assert_without_rejected(&repo, &["other.txt", "b.txt"]);
    }
}

#[test]
fn i18_two_that_come_into_one_batch_behind_another_do_not_bring_a_rejected_commit_along() {
    let repo = repo_with_gate();
    let tasks = chain(&repo, &["a.txt", "b.txt"], RENAME);
    let (first, second) = (&tasks[0], &tasks[1]);
    let other = repo.add("Add z.txt", &[]);
    let up = repo.up();
    repo.until_queue(&other, "provisional");
    repo.stdout(&["accept", &other, "--no-wait"]);
    repo.until("the lane is busy", || !repo.json(&["landing"])["lanes"][0]["checking"][0].is_null());
    repo.stdout(&["accept", first, second, "--no-wait"]);
    open_gate(&repo);
    repo.until_queue(first, "done");
    repo.until("the second came back", || {
        has_event(&repo, second, "task_sent_back") && repo.queue(second) == "provisional"
    });
    up.end();
    assert_lands(&repo, second, &[]);
    assert_without_rejected(&repo, &["other.txt", "b.txt", "z.txt"]);
}

#[test]
fn i18_what_rests_on_work_that_stands_on_a_rejected_commit_waits_for_it() {
    let repo = repo_with_gate();
    let tasks = chain(&repo, &["a.txt", "b.txt", "c.txt"], RENAME);
    let [first, second, third] = &tasks[..] else { panic!("{tasks:?}") };
    open_gate(&repo);
    repo.stdout(&["accept", third, "--no-wait"]);
    repo.stdout(&["accept", first, "--no-wait"]);
    let up = repo.up();
    repo.until_queue(first, "done");
    repo.until("the second came back", || {
        has_event(&repo, second, "task_sent_back") && repo.queue(second) == "provisional"
    });
    assert_without_rejected(&repo, &["other.txt"]);
    assert!(!has_event(&repo, third, "task_sent_back"), "it waits");
    assert_lands(&repo, second, &[]);
    repo.until("the third came back", || {
        has_event(&repo, third, "task_sent_back") && repo.queue(third) == "provisional"
    });
    assert_lands(&repo, third, &[]);
    up.end();
    assert_without_rejected(&repo, &["other.txt", "b.txt", "c.txt"]);
    let log = repo.git(&["log", "--format=%s", "baton/next"]);
    assert_eq!(log.lines().filter(|subject| *subject == "Add b.txt").count(), 1, "no copies: {log}");
}

#[test]
fn a_dry_run_and_the_task_say_what_work_on_a_rejected_commit_waits_for() {
    let repo = repo_with_gate();
    let tasks = chain(&repo, &["a.txt", "b.txt"], RENAME);
    let (first, second) = (&tasks[0], &tasks[1]);
    let standing = repo.show(second)["standing"].clone();
    assert!(standing["withdrawn"][0].as_str().unwrap().ends_with("Add a.txt"), "{standing:#}");
    assert_eq!(standing["waits_for"], json!(first), "{standing:#}");
    let shown = repo.stdout(&["task", "show", second]);
    assert!(shown.contains(&format!("it waits until the work of {first}")), "{shown}");

    for named in [&[second][..], &[first, second], &[second, first]] {
        let mut words = vec!["accept", "--dry-run"];
        words.extend(named.iter().map(|task| task.as_str()));
        let preview = repo.json(&words)["preview"].clone();
        let of =
            |task: &String| preview.as_array().unwrap().iter().find(|one| one["task_id"] == **task).cloned();
        let found = of(second).unwrap();
        assert_eq!(
            (&found["would_be"], &found["waits_for"]),
            (&json!("waiting"), &json!(first)),
            "{preview:#}"
        );
        assert!(found["withdrawn"][0].as_str().unwrap().ends_with("Add a.txt"), "{preview:#}");
        assert!(of(first).is_none_or(|one| one["would_be"] == "accepted"), "{preview:#}");
        let printed = repo.stdout(&words);
        assert!(printed.contains("would be waiting: it was started on the work of"), "{printed}");
    }
    // And so it does.
    open_gate(&repo);
    let output = repo.output(&["accept", second]);
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && printed.contains(&format!("{second}  waiting: ")), "{printed}");
    assert_eq!(repo.queue(second), "landing");
}

#[test]
fn a_dry_run_says_what_work_waits_for_that_was_started_on_other_work() {
    let repo = repo_with_gate();
    let again = "echo more >> a.txt; git commit -q -a -m More";
    let tasks = chain(&repo, &["a.txt", "b.txt"], again);
    let (first, second) = (&tasks[0], &tasks[1]);
    let preview = repo.json(&["accept", second, "--dry-run"])["preview"][0].clone();
    assert_eq!(
        (&preview["would_be"], &preview["waits_for"]),
        (&json!("waiting"), &json!(first)),
        "{preview:#}"
    );
    let preview = repo.json(&["accept", second, first, "--dry-run"])["preview"].clone();
    assert!(preview.as_array().unwrap().iter().all(|one| one["would_be"] == "accepted"), "{preview:#}");

    // A task that only adds to its work has withdrawn nothing: both land together.
    open_gate(&repo);
    let printed = repo.stdout(&["accept", second, first]);
    for task in [first, second] {
        assert!(printed.contains(&format!("{task}  landed")), "{printed}");
        assert_eq!(repo.attempts(task).len(), if task == first { 2 } else { 1 });
    }
}

#[test]
fn i18_a_later_message_of_a_conversation_waits_for_work_that_is_done_anew() {
    let repo = adding_agent("true", AS_TOLD);
    let (up, first, second) = conversation(&repo);
    set_redoing(&repo, RENAME);
    repo.stdout(&["reject", &first, "--reason", "Call it other.txt"]);
    repo.until_queue(&first, "provisional");
    let preview = repo.json(&["accept", &second, "--dry-run"])["preview"][0].clone();
    assert_eq!(
        (&preview["would_be"], &preview["waits_for"]),
        (&json!("waiting"), &json!(first)),
        "{preview:#}"
    );
    repo.stdout(&["accept", &second, "--no-wait"]);
    repo.until("it says what it waits for", || {
        repo.show(&second)["landing"]["message"].to_string().contains(&first)
    });
    assert!(!has(&repo, "baton/next", "b.txt"));
    repo.stdout(&["accept", &first, "--no-wait"]);
    repo.until_queue(&first, "done");
    repo.until("the second came back", || {
        has_event(&repo, &second, "task_sent_back") && repo.queue(&second) == "provisional"
    });
    assert_lands(&repo, &second, &[]);
    up.end();
    assert_without_rejected(&repo, &["other.txt", "b.txt"]);
}

#[test]
fn i18_a_later_message_that_waits_to_land_does_not_bring_in_work_that_is_rejected_meanwhile() {
    let repo = adding_agent("true", AS_TOLD);
    let (up, first, second) = conversation(&repo);
    up.end();
    repo.stdout(&["accept", &second, "--no-wait"]);
    repo.stdout(&["reject", &first, "--reason", "Call it other.txt"]);
    let printed = repo.stdout(&["accept", &second]);
    let waits = format!("{second}  waiting: {second} contains the work of {first}, which was refused");
    assert!(printed.contains(&waits), "{printed}");
    assert!(!has(&repo, "baton/next", "a.txt"));

    // Done anew, it lands, and the other is put on it.
    set_redoing(&repo, RENAME);
    let up = repo.up();
    repo.until_queue(&first, "provisional");
    repo.stdout(&["accept", &first, "--no-wait"]);
    repo.until_queue(&first, "done");
    repo.until("the second came back", || {
        has_event(&repo, &second, "task_sent_back") && repo.queue(&second) == "provisional"
    });
    up.end();
    assert_without_rejected(&repo, &["other.txt"]);
}

#[test]
fn work_of_another_task_that_is_cancelled_meanwhile_comes_in_only_by_force() {
    let repo = adding_agent("true", AS_TOLD);
    let (up, first, second) = conversation(&repo);
    up.end();
    repo.stdout(&["accept", &second, "--no-wait"]);
    repo.stdout(&["task", "cancel", &first]);
    let printed = repo.stdout(&["accept", &second]);
    assert!(printed.contains(&format!("contains the work of {first}, which was refused")), "{printed}");
    assert!(!has(&repo, "baton/next", "a.txt"));
    repo.stdout(&["accept", &second, "--force"]);
    assert_eq!(repo.queue(&second), "done");
    assert!(has(&repo, "baton/next", "a.txt") && has(&repo, "baton/next", "b.txt"));
}

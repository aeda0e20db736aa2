//! How work gets rid of withdrawn commits: by an order that is true when its agent starts, and without a second copy of anything.

use super::person_branch::{CHECK, commit, files, land_one};
use super::withdrawn::{AS_TOLD, assert_lands, assert_sent_back, has};
use super::{adding_agent, assert_green, has_event};
use crate::engine::test_repo::{BatonProcess, TestRepo};

fn amend(repo: &TestRepo, file: &str, by: &str) {
    repo.git(&["mv", file, by]);
    repo.git(&["commit", "-q", "--amend", "-m", &format!("Add {by} by hand")]);
}

/// A program that does this for work that was sent back, and otherwise adds what the title says.
fn set_again(repo: &TestRepo, again: &str) {
    let program = format!(
        r#"case "$prompt" in
*"was accepted"*|*"not accepted"*) {again} ;;
*) name=$(printf '%s\n' "$prompt" | sed -n 's/^# Add \(.*\)$/\1/p'); echo "$BATON_TASK_ID" > "$name"
   git add -A; git commit -q -m "Add $name" ;;
esac"#
    );
    repo.set_agent(&program.replace("{HOME}", repo.home.to_str().unwrap()));
}

#[test]
fn i18_the_order_is_true_when_the_agent_starts_after_another_has_moved_the_work() {
    let repo = adding_agent(CHECK, AS_TOLD);
    land_one(&repo, "Add a.txt");
    repo.git(&["merge", "-q", "baton/next"]);
    commit(&repo, "first.txt");
    let task = repo.add("Add b.txt", &[]);
    repo.work_until(&[(&task, "provisional")]);
    // The first agent does as it is told, and dies before it ends.
    let stays = format!("{AS_TOLD}\n test -e {{HOME}}/moved || {{ touch {{HOME}}/moved; exec sleep 1000; }}");
    set_again(&repo, &stays);
    amend(&repo, "first.txt", "second.txt");
    assert_eq!(repo.output(&["accept", &task]).status.code(), Some(1));
    let up = repo.up();
    repo.until("the work was moved", || repo.home.join("moved").exists());
    up.kill();
    // Meanwhile the person replaces the commit once more.
    amend(&repo, "second.txt", "third.txt");
    repo.work_until(&[(&task, "provisional")]);
    assert!(repo.show(&task)["standing"].get("withdrawn").is_none(), "{:#}", repo.show(&task));
    assert_lands(&repo, &task, &[]);
    let landed = files(&repo, "baton/next");
    assert!(
        ["a.txt", "b.txt", "third.txt"].iter().all(|file| landed.contains(&(*file).to_owned())),
        "{landed:?}"
    );
    assert!(!landed.iter().any(|file| ["first.txt", "second.txt"].contains(&file.as_str())), "{landed:?}");
}

#[test]
fn i18_two_lines_of_withdrawn_commits_are_both_named_and_left_out() {
    let repo = adding_agent(CHECK, AS_TOLD);
    commit(&repo, "base.txt");
    land_one(&repo, "Add a.txt");
    repo.git(&["merge", "-q", "baton/next"]);
    commit(&repo, "one.txt");
    let task = repo.add("Add b.txt", &[]);
    repo.work_until(&[(&task, "provisional")]);
    repo.git(&["reset", "-q", "--hard", "HEAD~1"]);
    commit(&repo, "two.txt");
    set_again(&repo, "git merge -q --no-edit main; echo more >> b.txt; git commit -q -a -m More");
    repo.stdout(&["reject", &task, "--reason", "More, please"]);
    repo.work_until(&[(&task, "provisional")]);
    repo.git(&["reset", "-q", "--hard", "HEAD~1"]);
    let withdrawn = repo.show(&task)["standing"]["withdrawn"].to_string();
    assert!(
        withdrawn.contains("Add one.txt by hand") && withdrawn.contains("Add two.txt by hand"),
        "{withdrawn}"
    );
    set_again(&repo, AS_TOLD);
    assert_sent_back(&repo, &task, &[]);
    let log = repo.git(&["log", "--format=%s", &format!("main..baton/{task}")]);
    assert_eq!(log, "More\nAdd b.txt", "its own commits and no others");
    assert_lands(&repo, &task, &[]);
    let landed = files(&repo, "baton/next");
    assert!(!landed.iter().any(|file| ["one.txt", "two.txt"].contains(&file.as_str())), "{landed:?}");
}

/// Two messages of one conversation; the second stands on the work of the first.
pub(super) fn conversation(repo: &TestRepo) -> (BatonProcess, String, String) {
    let up = repo.up();
    up.wait_for_line("Listening on http://");
    let say = |text: &str| {
        let output = repo.output(&["--json", "chat", "--session", "one", "--type", "IMPLEMENTATION", text]);
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        let first = serde_json::from_str::<serde_json::Value>(printed.lines().next().unwrap()).unwrap();
        let task = first["message"]["task_id"].as_str().unwrap().to_owned();
        repo.until_queue(&task, "provisional");
        task
    };
    let (first, second) = (say("Add a.txt"), say("Add b.txt"));
    assert!(has(repo, &format!("baton/{second}"), "a.txt"), "it stands on the first");
    (up, first, second)
}

/// Each commit with this subject on the branch.
fn count(repo: &TestRepo, subject: &str) -> usize {
    repo.git(&["log", "--format=%s", "baton/next"]).lines().filter(|line| *line == subject).count()
}

#[test]
fn i18_work_on_open_work_waits_for_it_before_it_leaves_a_withdrawn_commit_out() {
    let repo = adding_agent(CHECK, AS_TOLD);
    land_one(&repo, "Add z.txt");
    repo.git(&["merge", "-q", "baton/next"]);
    commit(&repo, "dropped.txt");
    let (up, first, second) = conversation(&repo);
    amend(&repo, "dropped.txt", "better.txt");
    repo.stdout(&["accept", &second, "--no-wait"]);
    repo.until("it says what it waits for", || {
        let landing = repo.show(&second)["landing"]["message"].to_string();
        landing.contains(&first) && landing.contains("which is still to land")
    });
    repo.output(&["accept", &first]);
    repo.until("the first came back", || {
        has_event(&repo, &first, "task_sent_back") && repo.queue(&first) == "provisional"
    });
    assert!(!has_event(&repo, &second, "task_sent_back"));
    // Not kept by what the lane says of the second one.
    assert_lands(&repo, &first, &[]);
    repo.until("the second came back", || {
        has_event(&repo, &second, "task_sent_back") && repo.queue(&second) == "provisional"
    });
    assert_lands(&repo, &second, &[]);
    up.end();
    assert_eq!((count(&repo, "Add a.txt"), count(&repo, "Add b.txt")), (1, 1), "no copies");
    assert!(has(&repo, "baton/next", "better.txt") && !has(&repo, "baton/next", "dropped.txt"));
    assert_green(&repo, CHECK);
}

#[test]
fn i18_work_on_a_commit_that_another_task_has_replaced_leaves_it_out() {
    let repo = adding_agent(CHECK, AS_TOLD);
    land_one(&repo, "Add z.txt");
    let (up, first, second) = conversation(&repo);
    set_again(
        &repo,
        &format!(
            "if test -e b.txt; then {AS_TOLD}\n else git mv a.txt other.txt; git commit -q --amend -m 'Add other.txt'; fi"
        ),
    );
    repo.stdout(&["reject", &first, "--reason", "Call it other.txt"]);
    repo.until_queue(&first, "provisional");
    assert_lands(&repo, &first, &[]);
    assert!(repo.show(&second)["standing"]["withdrawn"][0].as_str().unwrap().ends_with("Add a.txt"));
    repo.output(&["accept", &second]);
    repo.until("the second came back", || {
        has_event(&repo, &second, "task_sent_back") && repo.queue(&second) == "provisional"
    });
    assert_lands(&repo, &second, &[]);
    up.end();
    let landed = files(&repo, "baton/next");
    assert!(landed.contains(&"other.txt".to_owned()) && landed.contains(&"b.txt".to_owned()), "{landed:?}");
    assert_eq!((landed.contains(&"a.txt".to_owned()), count(&repo, "Add a.txt")), (false, 0), "{landed:?}");
}

#[test]
fn a_merge_by_hand_that_was_taken_back_takes_none_of_the_work_away() {
    let repo = adding_agent(CHECK, AS_TOLD);
    land_one(&repo, "Add a.txt");
    repo.git(&["merge", "-q", "baton/next"]);
    let task = repo.add("Add b.txt", &[]);
    repo.work_until(&[(&task, "provisional")]);
    repo.git(&["merge", "-q", "--no-ff", "-m", "Merge it by hand", &format!("baton/{task}")]);
    set_again(&repo, "echo more >> b.txt; git commit -q -a -m More");
    repo.stdout(&["reject", &task, "--reason", "More, please"]);
    repo.work_until(&[(&task, "provisional")]);
    repo.git(&["reset", "-q", "--hard", "HEAD~1"]);
    assert!(repo.show(&task)["standing"].get("withdrawn").is_none(), "{:#}", repo.show(&task));
    assert_lands(&repo, &task, &[]);
    assert_eq!(count(&repo, "Add b.txt"), 1);
}

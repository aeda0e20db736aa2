//! Work that was started from commits which the person has taken back or replaced since.

use super::person_branch::{CHECK, commit, files, land_one, next};
use super::{adding_agent, assert_green, events, has_event};
use crate::engine::test_repo::{TestRepo, read};
use crate::server::client::get;

/// Runs what the prompt says. Where a merge conflicts, the task's own version of the file stays.
pub(super) const AS_TOLD: &str = r#"run=$(printf '%s\n' "$prompt" | sed -n 's/.*Run `\(git [^`]*\)`.*/\1/p' | head -n 1)
  $run || { git checkout -q --ours a.txt; git add -A; git commit -q -m Merged; }"#;

/// A repository whose branch has work, and a task that was started from a commit of the person's that the branch lacks.
fn started_from(file: &str) -> (TestRepo, String, String) {
    let repo = adding_agent(CHECK, AS_TOLD);
    land_one(&repo, "Add a.txt");
    repo.git(&["merge", "-q", "baton/next"]);
    let mine = commit(&repo, file);
    let task = repo.add("Add b.txt", &[]);
    repo.work_until(&[(&task, "provisional")]);
    (repo, task, mine)
}

pub(super) fn has(repo: &TestRepo, branch: &str, file: &str) -> bool {
    files(repo, branch).contains(&file.to_owned())
}

#[test]
fn i18_a_commit_that_the_person_took_back_does_not_land_with_the_work() {
    let (repo, task, mine) = started_from("dropped.txt");
    assert!(repo.show(&task)["standing"].get("withdrawn").is_none());
    repo.git(&["reset", "-q", "--hard", "HEAD~1"]);

    let shown = repo.stdout(&["task", "show", &task]);
    let said = "It contains commits that were withdrawn or replaced since: ";
    assert!(shown.contains(said) && shown.contains("Add dropped.txt by hand"), "{shown}");
    let withdrawn = repo.show(&task)["standing"]["withdrawn"].clone();
    assert!(withdrawn[0].as_str().unwrap().starts_with(&mine[..7]), "{withdrawn}");
    let preview = repo.json(&["accept", &task, "--dry-run"]);
    assert_eq!(preview["preview"][0]["would_be"], "sent back", "{preview:#}");
    let printed = repo.stdout(&["accept", &task, "--dry-run"]);
    assert!(printed.contains("Add dropped.txt by hand"), "{printed}");

    let before = next(&repo);
    let output = repo.output(&["accept", &task]);
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{printed}");
    assert!(printed.contains(&format!("sent back: it contains the commit {}", &mine[..7])), "{printed}");
    assert_eq!(next(&repo), before, "nothing has landed");

    // Its agent leaves the commit out, and that is not held against it.
    repo.work_until(&[(&task, "provisional")]);
    assert!(!has(&repo, &format!("baton/{task}"), "dropped.txt"));
    let view = repo.show(&task);
    assert!(view["needs_review"].as_array().is_none_or(Vec::is_empty), "{view:#}");
    assert_eq!(view["verified"]["base"], before, "{view:#}");
    assert_eq!(
        (&view["verified"]["files_changed"], &view["verified"]["commits"]),
        (&1.into(), &1.into()),
        "{view:#}"
    );
    let printed = repo.stdout(&["accept", &task]);
    assert!(printed.contains(&format!("{task}  landed")), "{printed}");
    assert!(has(&repo, "baton/next", "b.txt") && !has(&repo, "baton/next", "dropped.txt"));
    assert_green(&repo, CHECK);
}

#[test]
fn i18_a_person_takes_a_withdrawn_commit_along_only_by_force() {
    let (repo, task, _) = started_from("dropped.txt");
    repo.git(&["reset", "-q", "--hard", "HEAD~1"]);
    let preview = repo.json(&["accept", &task, "--dry-run", "--force"]);
    assert_eq!(preview["preview"][0]["would_be"], "accepted", "{preview:#}");
    assert!(!preview["preview"][0]["withdrawn"][0].is_null(), "{preview:#}");
    let printed = repo.stdout(&["accept", &task, "--dry-run", "--force"]);
    assert!(printed.contains("together with commits that were withdrawn or replaced since: "), "{printed}");
    repo.stdout(&["accept", &task, "--force"]);
    assert_eq!(repo.queue(&task), "done");
    let forced = events(&repo, &task).into_iter().find(|event| event["event"] == "task_forced").unwrap();
    assert!(forced["withdrawn"][0].as_str().unwrap().contains("Add dropped.txt by hand"), "{forced:#}");
    assert!(has(&repo, "baton/next", "dropped.txt"));
    let shown = repo.stdout(&["task", "show", &task]);
    assert!(shown.contains("together with commits that were withdrawn or replaced: "), "{shown}");
}

/// Nothing about the task is said to be accepted; it goes back, and its agent leaves the commit out.
pub(super) fn assert_sent_back(repo: &TestRepo, task: &String, force: &[&str]) {
    let withdrawn = repo.show(task)["standing"]["withdrawn"].clone();
    assert!(!withdrawn[0].is_null(), "{:#}", repo.show(task));
    let preview = repo.json(&[&["accept", task, "--dry-run"], force].concat());
    assert_eq!(preview["preview"][0]["would_be"], "sent back", "{preview:#}");
    let output = repo.output(&[&["accept", task], force].concat());
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{printed}");
    assert!(printed.contains("sent back: it contains "), "{printed}");
    repo.work_until(&[(task, "provisional")]);
    let view = repo.show(task);
    assert!(view["standing"].get("withdrawn").is_none(), "{view:#}");
    assert_eq!(view["verified"]["files_changed"], 1, "{view:#}");
}

pub(super) fn assert_lands(repo: &TestRepo, task: &str, force: &[&str]) {
    let printed = repo.stdout(&[&["accept", task], force].concat());
    assert!(printed.contains(&format!("{task}  landed")), "{printed}");
    let landing = repo.show(task)["landing"].clone();
    assert!(landing["evidence"]["commit"].is_string(), "checked: {landing:#}");
}

#[test]
fn i18_another_branch_or_tag_does_not_keep_a_commit_that_was_taken_back() {
    for keep in
        [&["branch", "later"][..], &["tag", "later"], &["update-ref", "refs/remotes/origin/main", "main"]]
    {
        let (repo, task, _) = started_from("dropped.txt");
        repo.git(keep);
        repo.git(&["reset", "-q", "--hard", "HEAD~1"]);
        assert_sent_back(&repo, &task, &[]);
        assert_lands(&repo, &task, &[]);
        assert!(has(&repo, "baton/next", "b.txt") && !has(&repo, "baton/next", "dropped.txt"), "{keep:?}");
    }
}

#[test]
fn an_agent_that_keeps_a_withdrawn_commit_is_told_once_and_then_a_person_is_asked() {
    let (repo, task, _) = started_from("dropped.txt");
    repo.set_agent("echo more >> b.txt; git add -A; git commit -q -m More");
    repo.git(&["reset", "-q", "--hard", "HEAD~1"]);
    assert_eq!(repo.output(&["accept", &task]).status.code(), Some(1));
    repo.work_until(&[(&task, "provisional")]);
    assert_eq!(repo.output(&["accept", &task]).status.code(), Some(1));
    assert_eq!(repo.status(&task), "AWAITING_RESPONSE");
    assert_eq!(repo.attempts(&task).len(), 2);
    assert!(!has(&repo, "baton/next", "dropped.txt"));
}

#[test]
fn a_person_who_looks_at_another_branch_has_taken_nothing_back() {
    let (repo, task, _) = started_from("kept.txt");
    repo.git(&["checkout", "-q", "-b", "older", "HEAD~1"]);
    assert!(repo.show(&task)["standing"].get("withdrawn").is_none());
    assert_lands(&repo, &task, &[]);
    assert!(has(&repo, "baton/next", "kept.txt"));
}

#[test]
fn i18_work_on_a_red_commit_that_was_replaced_goes_to_its_agent_and_lands() {
    let repo = adding_agent(CHECK, AS_TOLD);
    let early = repo.add("Add a.txt", &[]);
    repo.work_until(&[(&early, "provisional")]);
    commit(&repo, "broken");
    let late = repo.add("Add b.txt", &[]);
    repo.work_until(&[(&late, "provisional")]);
    repo.stdout(&["accept", &early]);
    let printed = repo.stdout(&["accept", &late]);
    assert!(printed.contains("git commit --amend"), "it says what replacing it does: {printed}");
    assert_eq!(repo.queue(&late), "landing");

    repo.git(&["mv", "broken", "fine"]);
    repo.git(&["commit", "-q", "--amend", "-m", "Add fine by hand"]);
    repo.git(&["merge", "-q", "--no-edit", "baton/next"]);
    let up = repo.up();
    repo.until("its agent has put it on the repaired branch", || {
        has_event(&repo, &late, "task_sent_back") && repo.queue(&late) == "provisional"
    });
    let prompt = read(repo.home.join(format!("prompt-{late}")));
    let order = format!("Run `git rebase --onto {} ", repo.git(&["rev-parse", "main"]));
    assert!(prompt.contains(&order), "{prompt}");
    assert!(prompt.contains("Add broken by hand"), "{prompt}");
    let printed = repo.stdout(&["accept", &late]);
    assert!(printed.contains(&format!("{late}  landed")), "{printed}");
    up.end();
    assert!(has(&repo, "baton/next", "fine") && !has(&repo, "baton/next", "broken"));
    assert_green(&repo, CHECK);
}

#[test]
fn evidence_says_when_the_persons_own_branch_has_moved_since() {
    let (repo, task, mine) = started_from("mine.txt");
    assert_eq!(repo.show(&task)["standing"]["moved_by"], 0);
    commit(&repo, "more.txt");
    let shown = repo.stdout(&["task", "show", &task]);
    assert!(shown.contains(&format!("from {}; main has moved since: 1 commit\n", &mine[..10])), "{shown}");
    let standing = repo.show(&task)["standing"].clone();
    assert_eq!((&standing["ahead"], &standing["moved_by"]), (&"main".into(), &1.into()), "{standing:#}");
    let up = repo.up();
    let line = up.wait_for_line("Listening on http://");
    let address = line.split("http://").nth(1).unwrap().split('/').next().unwrap().trim().to_owned();
    let page = get(&address, &format!("/tasks/{task}/details")).body;
    assert!(page.contains("main has moved since: 1 commit"), "{page}");
    up.end();
}

//! `start_on = "landing"`: a dependent starts on accepted work before that has landed.

use super::{adding_agent, assert_green, events, own_history, set_settings};
use crate::engine::test_repo::TestRepo;

/// With a check that waits for the file `go`, and refuses `a.txt` if that says so.
pub(super) fn repo_with_gate() -> TestRepo {
    let repo = adding_agent("true", "exit 1");
    let go = repo.home.join("go");
    // At the end of an attempt the check passes at once: only the lane's clones are outside the attempts' folder.
    let check = format!(
        r#"case "$PWD" in *worktrees*) exit 0 ;; esac; until test -e {0}; do sleep 0.1; done; ! (grep -q refuse {0} && test -e a.txt)"#,
        go.display()
    );
    let file = repo.folder.join(".agent/baton.toml");
    let settings = std::fs::read_to_string(&file).unwrap();
    let settings = settings.replace("'''true'''", &format!("'''{check}'''"));
    set_settings(&repo, &format!("start_on = \"landing\"\n{settings}"));
    repo
}

#[test]
fn a_dependent_starts_on_accepted_work_and_lands_after_it() {
    let repo = repo_with_gate();
    let first = repo.add("Add a.txt", &[]);
    let second = repo.add("Add b.txt", &[&first]);
    let up = repo.up();
    repo.until_queue(&first, "provisional");
    assert_eq!(repo.queue(&second), "incoming");
    repo.stdout(&["accept", &first, "--no-wait"]);
    repo.until_queue(&second, "provisional");
    let view = repo.show(&second);
    assert_eq!(repo.queue(&first), "landing", "its check still runs");
    assert_eq!(view["rests_on"][0], first, "{view:#}");
    assert_eq!(view["verified"]["commits"], 1, "what it rests on is not its own: {view:#}");
    assert!(repo.git(&["ls-tree", "--name-only", &format!("baton/{second}")]).contains("a.txt"));
    let forced = repo.output(&["accept", &second, "--force"]);
    assert!(!forced.status.success());
    let said = String::from_utf8_lossy(&forced.stderr);
    assert!(said.contains(&format!("{second} was started on the work of {first}")), "{said}");

    repo.stdout(&["accept", &second, "--no-wait"]);
    std::fs::write(repo.home.join("go"), "go").unwrap();
    repo.until_queue(&first, "done");
    repo.until_queue(&second, "done");
    up.end();
    assert_eq!(own_history(&repo).len(), 2);
    assert_green(&repo, "test -e a.txt");
}

#[test]
fn what_rests_on_work_that_is_sent_back_waits_for_it() {
    let repo = repo_with_gate();
    let first = repo.add("Add a.txt", &[]);
    let second = repo.add("Add b.txt", &[&first]);
    let up = repo.up();
    repo.until_queue(&first, "provisional");
    repo.stdout(&["accept", &first, "--no-wait"]);
    repo.until_queue(&second, "provisional");
    // Nobody works on what comes back.
    repo.set_agent("hang");
    repo.stdout(&["accept", &second, "--no-wait"]);
    std::fs::write(repo.home.join("go"), "refuse").unwrap();
    repo.until("the first came back", || {
        events(&repo, &first).iter().any(|event| event["event"] == "task_sent_back")
    });
    let landing = repo.json(&["landing"]);
    let lane = &landing["lanes"][0]["candidates"];
    assert_eq!(
        (&lane[0]["task_id"], &lane[0]["behind"]),
        (&second.clone().into(), &first.clone().into()),
        "{landing:#}"
    );
    let shown = repo.stdout(&["task", "show", &second]);
    assert!(shown.contains(&format!("waits: it was started on the work of {first}")), "{shown}");
    assert!(own_history(&repo).is_empty());

    repo.stdout(&["task", "cancel", &first]);
    repo.until_queue(&second, "provisional");
    let back =
        events(&repo, &second).into_iter().rev().find(|event| event["event"] == "task_sent_back").unwrap();
    assert_eq!(back["reason"]["why"], "rests_on_cancelled", "{back:#}");
    let preview = repo.json(&["accept", &second, "--dry-run"])["preview"][0].clone();
    assert_eq!(preview["would_be"], "refused", "{preview:#}");
    assert!(preview["reason"].as_str().unwrap().contains("was cancelled"), "{preview:#}");
    let refused = repo.output(&["accept", &second]);
    let text = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.status.code() == Some(4) && text.contains("was cancelled"), "{text}");
    up.end();
    assert!(own_history(&repo).is_empty());
}

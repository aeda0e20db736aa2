//! A branch that fails its checks by itself: what was accepted waits, and nobody is sent back for it.

use serde_json::json;

use super::{adding_agent, commit_on_branch, has_event, own_history, set_settings};
use crate::engine::test_repo::TestRepo;
use crate::server::client::get;

/// The checks want a file that the repository does not have.
fn red_repo(settings: &str) -> TestRepo {
    let repo = adding_agent("test -e repaired", "exit 1");
    let file = repo.folder.join(".agent/baton.toml");
    let written = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("{settings}\n{written}")).unwrap();
    repo
}

fn repair(repo: &TestRepo) {
    commit_on_branch(repo, "repaired", "");
}

fn assert_unharmed(repo: &TestRepo, task: &str) {
    assert_eq!(repo.attempts(task).len(), 1, "it cost no attempt: {:#}", repo.show(task));
    assert!(!has_event(repo, task, "task_sent_back") && !has_event(repo, task, "task_requeued"));
}

#[test]
fn a_red_branch_costs_a_task_no_attempt_and_what_repairs_it_lands_both() {
    let repo = red_repo("");
    let (task, repair) = (repo.add("Add a.txt", &[]), repo.add("Add repaired", &[]));
    repo.work_until(&[(&task, "provisional"), (&repair, "provisional")]);
    let view = repo.show(&task);
    assert_eq!(view["verified"]["checks"][0]["fails_without"], true, "{view:#}");
    assert!(repo.stdout(&["task", "show", &task]).contains("fails without this work, too"));
    assert_unharmed(&repo, &task);

    let printed = repo.stdout(&["accept", &task]);
    assert!(printed.contains(&format!("{task}  waiting: baton/next itself fails its checks")), "{printed}");
    assert!(printed.contains("--force"), "{printed}");
    assert_eq!(repo.queue(&task), "landing");
    let inbox = repo.stdout(&["questions"]);
    assert!(inbox.contains("Stands still until you act"), "{inbox}");
    assert!(inbox.contains(&format!("{task}: baton/next itself fails its checks (rules)")), "{inbox}");
    assert!(inbox.contains(&format!("baton accept {task} --force")), "{inbox}");

    repo.stdout(&["accept", &repair]);
    assert_eq!((repo.queue(&task), repo.queue(&repair)), ("done".to_owned(), "done".to_owned()));
    assert_unharmed(&repo, &task);
    assert_eq!(repo.json(&["questions"])["standstills"], json!([]));
}

#[test]
fn what_a_policy_accepted_lands_by_itself_when_a_person_has_repaired_the_branch() {
    let repo = red_repo("accept_when = \"green\"");
    let task = repo.add("Add a.txt", &[]);
    let up = repo.up();
    let line = up.wait_for_line("Listening on http://");
    let address = line.split("http://").nth(1).unwrap().split('/').next().unwrap().trim().to_owned();
    repo.until("it waits for its branch", || has_event(&repo, &task, "task_landing_delayed"));
    repo.until("a person is told", || {
        repo.json(&["questions"])["standstills"][0]["reason"] == "branch_fails"
    });
    let page = get(&address, "/").body;
    assert!(page.contains("Branch fails") && page.contains(&task), "{page}");
    let page = get(&address, "/landing").body;
    assert!(page.contains("delayed: baton/next itself fails its checks (rules)"), "{page}");
    let landing = repo.show(&task)["landing"].clone();
    assert_eq!((&landing["state"], &landing["position"]), (&json!("waiting"), &json!(1)), "{landing:#}");
    assert!(landing["delayed"].as_str().unwrap().contains("itself fails its checks"), "{landing:#}");

    repair(&repo);
    repo.until_queue(&task, "done");
    up.end();
    assert_unharmed(&repo, &task);
    assert_eq!(own_history(&repo).len(), 2, "the repair and the task");
}

#[test]
fn accepting_again_looks_at_a_red_branch_again() {
    let repo = adding_agent("true", "exit 1");
    let red = repo.home.join("red");
    let file = repo.folder.join(".agent/baton.toml");
    let written = std::fs::read_to_string(&file).unwrap();
    // Only in a lane, where no attempt is at work.
    let check = format!("case \"$PWD\" in *worktrees*) exit 0 ;; esac; ! test -e {}", red.display());
    set_settings(&repo, &written.replace("'''true'''", &format!("'''{check}'''")));
    std::fs::write(&red, "").unwrap();
    let task = repo.add("Add a.txt", &[]);
    let up = repo.up();
    repo.until_queue(&task, "provisional");
    let printed = repo.stdout(&["accept", &task]);
    assert!(printed.contains("waiting: baton/next itself fails its checks"), "{printed}");
    std::fs::remove_file(&red).unwrap();
    let printed = repo.stdout(&["accept", &task]);
    assert!(printed.contains(&format!("{task}  landed  Add a.txt")), "{printed}");
    up.end();
    assert_unharmed(&repo, &task);
}

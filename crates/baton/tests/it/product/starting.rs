//! Work that starts later, again and again, or after something happened.

use serde_json::Value;

use crate::engine::test_repo::TestRepo;

fn routine(repo: &TestRepo, words: &[&str]) -> String {
    let added = repo.json(&[&["routine", "add"], words].concat());
    added["routine_id"].as_str().unwrap().to_owned()
}

fn shown(repo: &TestRepo, id: &str) -> Value {
    let all = repo.json(&["routine", "list"])["routines"].as_array().unwrap().clone();
    all.into_iter().find(|routine| routine["routine_id"] == id).unwrap()
}

fn until_run(repo: &TestRepo, id: &str, count: u64) -> String {
    repo.until(&format!("run {count} of {id}"), || shown(repo, id)["run_count"] == count);
    shown(repo, id)["last"]["task_id"].as_str().unwrap().to_owned()
}

fn finish(repo: &TestRepo, task: &str) {
    repo.until_queue(task, "provisional");
    repo.stdout(&["accept", task]);
}

#[test]
fn a_task_waits_for_its_time_also_through_a_restart() {
    let repo = TestRepo::with_working_agent("");
    let add = |words: &[&str]| {
        let added = repo.json(&[&["task", "add"], words].concat());
        added["task_id"].as_str().unwrap().to_owned()
    };
    let far = add(&["Far", "--at", "2999-01-01T06:00", "--time-zone", "Europe/Berlin"]);
    let soon = add(&["Soon", "--in", "2s"]);
    assert_eq!(repo.show(&far)["waits_until"], "2999-01-01T05:00:00.000Z");
    assert!(repo.stdout(&["task", "show", &far]).contains("Waits until 2999-01-01T05:00:00.000Z"));
    for round in ["one", "two"] {
        let up = repo.up();
        // What may start now is claimed first, so the other one would have been by then.
        let now = repo.add(&format!("Now {round}"), &[]);
        repo.until_queue(&now, "provisional");
        repo.until_queue(&soon, "provisional");
        assert_eq!(repo.attempts(&far).len(), 0);
        up.kill();
    }
    let up = repo.up();
    repo.stdout(&["task", "release", &far]);
    repo.until_queue(&far, "provisional");
    up.end();
    for wrong in [&["--at", "yesterday"][..], &["--at", "2020-01-01T00:00:00Z"], &["--in", "soon"]] {
        let refused = repo.output(&[&["task", "add", "Never"], wrong].concat());
        assert_eq!(refused.status.code(), Some(2), "{wrong:?}");
    }
}

#[test]
fn a_routine_runs_when_a_task_is_done_and_not_because_of_its_own() {
    let repo = TestRepo::with_working_agent("");
    let id = routine(&repo, &["Update the changelog", "--on", "task:done"]);
    let up = repo.up();
    for count in 1..=2 {
        let task = repo.add(&format!("Work {count}"), &[]);
        finish(&repo, &task);
        // Its own task is done before the next one begins; had it counted, there would be one run more.
        let own = until_run(&repo, &id, count);
        finish(&repo, &own);
    }
    assert_eq!(shown(&repo, &id)["run_count"], 2);
    up.end();
}

#[test]
fn a_routine_runs_when_its_branch_moves_and_not_while_it_is_paused() {
    let repo = TestRepo::with_working_agent("");
    repo.git(&["branch", "release"]);
    let id = routine(&repo, &["Look at the release", "--on", "ref:release", "--overlap", "replace"]);
    let commit = |message: &str| {
        repo.git(&["commit", "-q", "--allow-empty", "-m", message]);
        repo.git(&["branch", "-f", "release", "main"]);
    };
    let up = repo.up();
    commit("First");
    until_run(&repo, &id, 1);
    repo.stdout(&["routine", "pause", &id]);
    commit("Second");
    repo.stdout(&["routine", "resume", &id]);
    commit("Third");
    let task = until_run(&repo, &id, 2);
    let third = repo.git(&["rev-parse", "release"]);
    assert!(repo.show(&task)["description"].as_str().unwrap().contains(&third));
    up.end();
    repo.stdout(&["routine", "remove", id.trim_start_matches("RTN-")]);
    assert!(repo.stdout(&["routine", "list"]).starts_with("No routines."));
}

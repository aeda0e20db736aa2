//! `accept_when = "green"`: work that passes lands without a decision.

use super::{adding_agent, assert_green, events, own_history};
use crate::engine::test_repo::TestRepo;

/// Tasks that each wait for the one before.
const CHAIN: usize = 50;

/// The commit that a task landed with.
fn landed_with(repo: &TestRepo, task: &str) -> String {
    let events = events(repo, task);
    let landed = events.iter().find(|event| event["event"] == "task_landed").unwrap();
    landed["commit"].as_str().unwrap().to_owned()
}

fn green(check: &str, again: &str) -> TestRepo {
    let repo = adding_agent(check, again);
    let file = repo.folder.join(".agent/baton.toml");
    let settings = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("accept_when = \"green\"\n{settings}")).unwrap();
    repo
}

#[test]
fn i18_a_chain_of_tasks_lands_in_order_without_a_decision() {
    let repo = green("true", "exit 1");
    let mut chain: Vec<String> = Vec::new();
    for number in 1..=CHAIN {
        let after: Vec<&String> = chain.last().into_iter().collect();
        let task = repo.add(&format!("Add file-{number}"), &after);
        chain.push(task);
    }
    let all: Vec<(&String, &str)> = chain.iter().map(|task| (task, "done")).collect();
    repo.work_until(&all);
    assert_eq!(own_history(&repo).len(), CHAIN);
    let landed: Vec<String> = chain.iter().map(|task| landed_with(&repo, task)).collect();
    assert_eq!(landed, own_history(&repo), "in the order of the chain");
    assert_green(&repo, "true");
    let accepted = events(&repo, &chain[0]);
    let landing = accepted.iter().find(|event| event["event"] == "task_landing").unwrap();
    assert_eq!(landing["by"]["kind"], "policy", "{landing:#}");
}

#[test]
fn what_a_person_has_to_look_at_waits_for_one_whatever_the_policy() {
    let repo = green("true", "exit 1");
    repo.set_agent("printf '<<<<<<< ours\\none\\n=======\\ntwo\\n>>>>>>> theirs\\n' > notes; git add -A; git commit -q -m Notes");
    let marked = repo.add("Leave conflict markers", &[]);
    let up = repo.up();
    repo.until_queue(&marked, "provisional");
    repo.set_agent("work");
    let plain = repo.add("Work", &[]);
    repo.until_queue(&plain, "done");
    up.end();
    assert_eq!(repo.queue(&marked), "provisional");
}

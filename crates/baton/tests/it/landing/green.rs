//! `accept_when = "green"`: work that passes lands without a decision.

use super::{adding_agent, assert_green, events, own_history};
use crate::engine::test_repo::TestRepo;

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
    for number in 1..=5 {
        let after: Vec<&String> = chain.last().into_iter().collect();
        let task = repo.add(&format!("Add file-{number}"), &after);
        chain.push(task);
    }
    repo.work_until(&[(chain.last().unwrap(), "done")]);
    assert_eq!(own_history(&repo).len(), 5);
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

//! Batches that wait behind another are checked beside it, where there is room.

use super::{adding_agent, assert_green, own_history};

#[test]
fn i18_a_second_batch_is_checked_while_the_first_one_is() {
    let repo = adding_agent("true", "exit 1");
    let tasks: Vec<String> = (1..=18).map(|n| repo.add(&format!("Add file-{n}"), &[])).collect();
    let up = repo.up_with(&["--agents", "2"]);
    for task in &tasks {
        repo.until_queue(task, "provisional");
    }
    up.end();
    // Passes when two of its kind are at work, and never before.
    let begun = repo.home.join("begun");
    let check = format!(
        "echo >> {0}; until test $(wc -l < {0}) -ge 2; do sleep 0.1; done; ls file-*",
        begun.display()
    );
    let file = repo.folder.join(".agent/baton.toml");
    let settings = std::fs::read_to_string(&file).unwrap().replace("'''true'''", &format!("'''{check}'''"));
    std::fs::write(&file, format!("checks_at_once = 2\n{settings}")).unwrap();

    let ids: Vec<&str> = tasks.iter().map(String::as_str).collect();
    repo.stdout(&[&["accept"], &ids[..]].concat());
    for task in &tasks {
        assert_eq!(repo.queue(task), "done");
    }
    assert_eq!(own_history(&repo).len(), 2, "sixteen together, then two");
    assert_eq!(std::fs::read_to_string(&begun).unwrap().lines().count(), 2, "each batch was checked once");
    assert_green(&repo, "ls file-1");
}

//! Of many tasks that a candidate met, the likeliest cause is named first, and the others are counted.

use super::{NOT_BOTH, adding_agent};
use crate::engine::test_repo::TestRepo;

/// A task is accepted after another one that it does not go together with, and twelve more that landed since.
fn accept_late(check: &str, title: &str) -> (TestRepo, String, String, String) {
    let repo = adding_agent(check, "exit 1");
    let (late, cause) = (repo.add(title, &[]), repo.add("Add a.txt", &[]));
    let others: Vec<String> = (0..12).map(|number| repo.add(&format!("Add n{number}.txt"), &[])).collect();
    let wanted: Vec<(&String, &str)> =
        [&late, &cause].into_iter().chain(&others).map(|task| (task, "provisional")).collect();
    repo.work_until(&wanted);
    repo.stdout(&["accept", &cause]);
    let mut words = vec!["accept"];
    words.extend(others.iter().map(String::as_str));
    repo.stdout(&words);
    let output = repo.output(&["accept", &late]);
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    (repo, late, cause, printed)
}

#[test]
fn the_task_that_the_failing_check_names_comes_first_however_old_it_is() {
    let (repo, late, cause, printed) = accept_late(NOT_BOTH, "Add b.txt");
    let back =
        format!("{late}  sent back: check fails on baton/next together with {cause} and 12 more: rules");
    assert!(printed.contains(&back), "{printed}");
    let reason = repo.show(&late)["notes"][0]["reason"].clone();
    assert_eq!((reason["met"].as_array().unwrap().len(), &reason["met_more"]), (10, &3.into()), "{reason:#}");
    assert_eq!(reason["met"][9]["task_id"], cause, "the likeliest last: {reason:#}");
}

#[test]
fn the_task_that_changed_the_conflicting_file_is_named_alone_however_old_it_is() {
    let (_repo, late, cause, printed) = accept_late("true", "Add a.txt");
    let back = format!("{late}  sent back: conflicts with baton/next together with {cause} in a.txt");
    assert!(printed.contains(&back), "{printed}");
}

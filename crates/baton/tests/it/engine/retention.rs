//! What is pruned while `baton up` runs, and that a person is told.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use super::shop::Shop;

const DAY: Duration = Duration::from_hours(24);

fn old_log(shop: &Shop, number: u32, bytes: u64, age: Duration) {
    let folder = shop.state().join(format!("attempts/ATT-{number:016x}"));
    fs::create_dir_all(&folder).unwrap();
    let log = File::create(folder.join("agent.log")).unwrap();
    log.set_len(bytes).unwrap();
    let then = SystemTime::now() - age;
    log.set_modified(then).unwrap();
    File::open(&folder).unwrap().set_modified(then).unwrap();
}

fn logs(shop: &Shop) -> Vec<String> {
    let entries = fs::read_dir(shop.state().join("attempts")).unwrap().flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_huge_log_folder_is_brought_under_its_limit_oldest_first_and_the_person_is_told() {
    let shop = Shop::diligent("[retention]\nlogs_mb = 10\nlogs_days = 30");
    // 4 MiB each: the first is too old, then the oldest two go until 8 MiB are left.
    for (number, days) in [(1, 60), (2, 5), (3, 4), (4, 3), (5, 2)] {
        old_log(&shop, number, 4 << 20, days * DAY);
    }
    fs::create_dir_all(shop.state().join("attempts/notes of mine")).unwrap();
    let up = shop.up();
    let said = up.hears("Removed by [retention]");
    assert!(said.contains("the logs of 3 attempts (12 MiB)"), "{said}");
    up.end();
    assert_eq!(logs(&shop), ["ATT-0000000000000004", "ATT-0000000000000005", "notes of mine"]);
}

#[test]
fn the_log_of_a_task_says_when_it_was_removed() {
    let shop = Shop::diligent("");
    let task = shop.add("Anything", &[]);
    assert!(shop.says(&["task", "log", &task]).contains("no attempt has run yet"));
    shop.work_until(&[(&task, "provisional")]);
    assert!(shop.says(&["task", "log", &task]).contains("started"));
    fs::remove_dir_all(shop.state().join("attempts")).unwrap();
    assert!(shop.says(&["task", "log", &task]).contains("[retention] removed the logs"));
}

//! The same work on a shared store: chosen by a flag, a variable or the settings.

use super::shop::Shop;
use crate::postgres;

/// A namespace nobody else uses on the shared server.
fn namespace(name: &str) -> String {
    format!("{name}_{}", std::process::id())
}

/// The server's address as people write it. The tests' own server is known by its socket's folder.
pub fn address() -> String {
    let known = postgres::shared().unwrap();
    let Some(rest) = known.strip_prefix("host=") else { return known };
    let (host, rest) = rest.split_once(" user=").unwrap();
    let (user, database) = rest.split_once(" dbname=").unwrap();
    format!("postgres://{user}@{}/{database}", host.replace('/', "%2F"))
}

#[test]
fn tasks_are_worked_and_accepted_on_postgresql() {
    if let Some(reason) = postgres::missing() {
        eprintln_skipped(&reason);
        return;
    }
    let mut shop = Shop::diligent("");
    shop.variables =
        vec![("BATON_STORE".to_owned(), address()), ("BATON_NAMESPACE".to_owned(), namespace("choice"))];
    let first = shop.add("First", &[]);
    let second = shop.add("Second", &[&first]);
    let up = shop.up();
    shop.until_queue(&first, "provisional");
    assert_eq!(shop.queue(&second), "incoming");
    // Accepted from beside it, while it runs: the news reaches it through the server.
    shop.says(&["accept", &first]);
    shop.until_queue(&second, "provisional");
    up.end();
    shop.says(&["accept", "--all"]);
    assert_eq!((shop.queue(&first), shop.queue(&second)), ("done".to_owned(), "done".to_owned()));
    assert_eq!(
        shop.git(&["ls-tree", "-r", "--name-only", "baton/next"])
            .lines()
            .filter(|file| file.starts_with("TASK-"))
            .count(),
        2
    );
    let files: Vec<_> = std::fs::read_dir(shop.state()).unwrap().flatten().map(|file| file.path()).collect();
    assert!(!files.iter().any(|file| file.extension().is_some_and(|end| end == "db")), "{files:?}");
}

#[test]
fn the_flag_the_variable_and_the_settings_choose_the_store_and_namespaces_stay_apart() {
    if let Some(reason) = postgres::missing() {
        eprintln_skipped(&reason);
        return;
    }
    let address = address();
    let name = namespace("Ways-in");
    let mut shop = Shop::diligent(&format!("store = \"{address}\""));
    let added = shop.json(&["--namespace", &name, "task", "add", "By settings"]);
    let id = added["task_id"].as_str().unwrap();
    let flags = ["--store", &address, "--namespace", &name, "task", "show", id];
    assert_eq!(shop.json(&flags)["title"], "By settings");
    assert!(
        shop.json(&["--namespace", &name.to_lowercase(), "task", "list"])["tasks"]
            .as_array()
            .unwrap()
            .is_empty()
    );
    shop.variables = vec![("BATON_STORE".to_owned(), address), ("BATON_NAMESPACE".to_owned(), name)];
    assert_eq!(shop.show(id)["title"], "By settings");
}

#[test]
fn a_store_that_cannot_be_reached_or_read_says_so() {
    let shop = Shop::diligent("");
    let output = shop.output(&["--store", "mysql://x", "task", "list"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("postgres://USER@HOST/DATABASE"));
    let output = shop.output(&["--store", "postgres://mia:secret@/no?host=/nowhere/at/all", "task", "list"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(
        said.contains("PostgreSQL cannot be reached") && said.contains("--store") && !said.contains("secret"),
        "{said}"
    );
}

#[expect(clippy::print_stderr, reason = "a skipped test says why")]
pub fn eprintln_skipped(reason: &str) {
    eprintln!("skipped: {reason}");
}

//! The same work on a shared store: chosen by a flag, a variable or the settings.

use super::shop::Shop;
use crate::postgres;
use crate::terminal::AtTerminal;

/// A namespace nobody else uses on the shared server.
pub fn namespace(name: &str) -> String {
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

#[test]
fn an_agent_works_on_the_shared_store_and_never_sees_its_password() {
    if let Some(reason) = postgres::missing() {
        eprintln_skipped(&reason);
        return;
    }
    let program = r#"
env > env.txt
"$BATON_BIN" task add "Found on the way" > added.txt
"$BATON_BIN" --json task list > list.json
"$BATON_BIN" config > config.txt
"$BATON_BIN" ask "Which way?" --option left --option right > asked.txt
work"#;
    let mut shop = Shop::with_agent(program, "max_agents = 1");
    let secret = address().replacen('@', ":hunter2@", 1);
    shop.variables =
        vec![("BATON_STORE".to_owned(), secret), ("BATON_NAMESPACE".to_owned(), namespace("unseen"))];
    let first = shop.add("First", &[]);
    let up = shop.up();
    shop.until("the agent has asked", || shop.output(&["questions"]).stdout.starts_with(b"Q-"));
    let attempt = shop.last_attempt(&first);
    shop.until("its question holds the task", || shop.status(&first) == "AWAITING_RESPONSE");
    up.end();
    // It waits for its answer, so its worktree stands.
    let worktree = shop.state().join("worktrees").join(&attempt);
    let read = |name: &str| std::fs::read_to_string(worktree.join(name)).unwrap();
    let seen = ["env.txt", "added.txt", "list.json", "config.txt", "asked.txt"].map(read).join("\n");
    assert!(seen.contains("BATON_STORE=postgres://") && !seen.contains("hunter2"), "{seen}");
    assert!(read("list.json").contains("Found on the way"), "{}", read("list.json"));
    assert!(read("asked.txt").contains("question_id"), "{}", read("asked.txt"));
}

#[test]
fn a_log_is_fetched_from_the_machine_that_has_it() {
    if let Some(reason) = postgres::missing() {
        eprintln_skipped(&reason);
        return;
    }
    let mut shop = Shop::with_agent("echo 'written over there' >&2\nwork", "");
    shop.variables =
        vec![("BATON_STORE".to_owned(), address()), ("BATON_NAMESPACE".to_owned(), namespace("logs"))];
    let task = shop.add("First", &[]);
    let up = shop.up();
    shop.until_queue(&task, "provisional");
    // Another state folder is another machine, as far as logs go.
    let elsewhere = shop.home.join("elsewhere").display().to_string();
    let log = shop.json(&["--state-dir", &elsewhere, "task", "log", &task]);
    assert!(log["text"].as_str().unwrap().contains("written over there"), "{log}");
    assert!(!log["machine"].as_str().unwrap_or_default().is_empty(), "{log}");
    let here = shop.json(&["task", "log", &task]);
    assert_eq!((&here["text"], here.get("machine")), (&log["text"], None));
    up.end();
    let nobody = shop.json(&["--state-dir", &elsewhere, "task", "log", &task]);
    assert_eq!(nobody["attempt_id"], serde_json::Value::Null, "{nobody}");
}

#[test]
fn the_sql_for_a_home_is_printed_and_names_no_secret() {
    let shop = Shop::diligent("");
    let sql = shop.says(&["--namespace", "team", "store", "init", "--print-sql", "--database", "work"]);
    for part in ["CREATE DATABASE \"work\"", "\"baton_team\"", "\"baton_owner\" LOGIN NOSUPERUSER"] {
        assert!(sql.contains(part), "{part}\n{sql}");
    }
    let refused = shop.output(&["store", "init", "--print-sql", "--role", "x; DROP"]);
    assert!(!refused.status.success());
}

#[test]
fn whoever_waits_for_a_server_that_is_away_is_told_so() {
    let shop = Shop::of(|_| String::new());
    let away = ["--store", "postgres://mia@/no?host=/nowhere/at/all", "task", "list"];
    let mut listing = AtTerminal::start(shop.baton(&away));
    listing.until("Waiting for PostgreSQL … ");
    let (status, shown) = listing.end();
    assert!(!status.success());
    let (_, last) = shown.rsplit_once("\x1b[K").unwrap();
    assert!(last.starts_with("error: PostgreSQL cannot be reached"), "{shown:?}");
}

#[expect(clippy::print_stderr, reason = "a skipped test says why")]
pub fn eprintln_skipped(reason: &str) {
    eprintln!("skipped: {reason}");
}

//! Tasks on PostgreSQL, and how a store is chosen: by flag, variable or settings.

use super::test_repo::TestRepo;
use crate::postgres;
use crate::terminal::TerminalProcess;

/// A unique namespace on the shared server.
pub(crate) fn namespace(name: &str) -> String {
    format!("{name}_{}", std::process::id())
}

/// The server's URL. The tests' own server is given by the folder of its socket.
pub(crate) fn address() -> String {
    let known = postgres::shared().unwrap();
    let Some(rest) = known.strip_prefix("host=") else { return known };
    let (host, rest) = rest.split_once(" user=").unwrap();
    let (user, database) = rest.split_once(" dbname=").unwrap();
    format!("postgres://{user}@{}/{database}", host.replace('/', "%2F"))
}

#[test]
fn tasks_are_worked_and_accepted_on_postgresql() {
    if let Some(reason) = postgres::missing() {
        report_skipped(&reason);
        return;
    }
    let mut repo = TestRepo::with_working_agent("");
    repo.variables =
        vec![("BATON_STORE".to_owned(), address()), ("BATON_NAMESPACE".to_owned(), namespace("choice"))];
    let first = repo.add("First", &[]);
    let second = repo.add("Second", &[&first]);
    let up = repo.up();
    repo.until_queue(&first, "provisional");
    assert_eq!(repo.queue(&second), "incoming");
    // Accepted by another process; the running one is notified by PostgreSQL.
    repo.stdout(&["accept", &first]);
    repo.until_queue(&second, "provisional");
    up.end();
    repo.stdout(&["accept", "--all"]);
    assert_eq!((repo.queue(&first), repo.queue(&second)), ("done".to_owned(), "done".to_owned()));
    assert_eq!(
        repo.git(&["ls-tree", "-r", "--name-only", "baton/next"])
            .lines()
            .filter(|file| file.starts_with("TASK-"))
            .count(),
        2
    );
    let files: Vec<_> = std::fs::read_dir(repo.state()).unwrap().flatten().map(|file| file.path()).collect();
    assert!(!files.iter().any(|file| file.extension().is_some_and(|end| end == "db")), "{files:?}");
}

#[test]
fn the_store_is_chosen_by_flag_variable_or_settings_and_namespaces_are_separate() {
    if let Some(reason) = postgres::missing() {
        report_skipped(&reason);
        return;
    }
    let address = address();
    let name = namespace("Ways-in");
    let mut repo = TestRepo::with_working_agent(&format!("store = \"{address}\""));
    let added = repo.json(&["--namespace", &name, "task", "add", "By settings"]);
    let id = added["task_id"].as_str().unwrap();
    let flags = ["--store", &address, "--namespace", &name, "task", "show", id];
    assert_eq!(repo.json(&flags)["title"], "By settings");
    assert!(
        repo.json(&["--namespace", &name.to_lowercase(), "task", "list"])["tasks"]
            .as_array()
            .unwrap()
            .is_empty()
    );
    repo.variables = vec![("BATON_STORE".to_owned(), address), ("BATON_NAMESPACE".to_owned(), name)];
    assert_eq!(repo.show(id)["title"], "By settings");
}

#[test]
fn an_unreachable_or_unknown_store_is_an_error() {
    let repo = TestRepo::with_working_agent("");
    let output = repo.output(&["--store", "mysql://x", "task", "list"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("postgres://USER@HOST/DATABASE"));
    let output = repo.output(&["--store", "postgres://mia:secret@/no?host=/nowhere/at/all", "task", "list"]);
    let printed = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{printed}");
    assert!(
        printed.contains("PostgreSQL cannot be reached")
            && printed.contains("--store")
            && !printed.contains("secret"),
        "{printed}"
    );
}

#[test]
fn an_agent_works_on_the_shared_store_and_never_sees_its_password() {
    if let Some(reason) = postgres::missing() {
        report_skipped(&reason);
        return;
    }
    let program = r#"
env > env.txt
"$BATON_BIN" task add "Found on the way" > added.txt
"$BATON_BIN" --json task list > list.json
"$BATON_BIN" config > config.txt
"$BATON_BIN" ask "Which way?" --option left --option right > asked.txt
work"#;
    let mut repo = TestRepo::with_agent(program, "max_agents = 1");
    let secret = address().replacen('@', ":hunter2@", 1);
    repo.variables =
        vec![("BATON_STORE".to_owned(), secret), ("BATON_NAMESPACE".to_owned(), namespace("unseen"))];
    let first = repo.add("First", &[]);
    let up = repo.up();
    repo.until("the agent has asked", || repo.output(&["questions"]).stdout.starts_with(b"Q-"));
    let attempt = repo.last_attempt(&first);
    repo.until("its question holds the task", || repo.status(&first) == "AWAITING_RESPONSE");
    up.end();
    // It waits for an answer, so its worktree is kept.
    let worktree = repo.state().join("worktrees").join(&attempt);
    let read = |name: &str| std::fs::read_to_string(worktree.join(name)).unwrap();
    let seen = ["env.txt", "added.txt", "list.json", "config.txt", "asked.txt"].map(read).join("\n");
    assert!(seen.contains("BATON_STORE=postgres://") && !seen.contains("hunter2"), "{seen}");
    assert!(read("list.json").contains("Found on the way"), "{}", read("list.json"));
    assert!(read("asked.txt").contains("question_id"), "{}", read("asked.txt"));
}

#[test]
fn a_log_is_fetched_from_the_machine_that_has_it() {
    if let Some(reason) = postgres::missing() {
        report_skipped(&reason);
        return;
    }
    let mut repo = TestRepo::with_agent("echo 'written over there' >&2\nwork", "");
    repo.variables =
        vec![("BATON_STORE".to_owned(), address()), ("BATON_NAMESPACE".to_owned(), namespace("logs"))];
    let task = repo.add("First", &[]);
    let up = repo.up();
    repo.until_queue(&task, "provisional");
    // For logs, another state folder is another machine.
    let elsewhere = repo.home.join("elsewhere").display().to_string();
    let log = repo.json(&["--state-dir", &elsewhere, "task", "log", &task]);
    assert!(log["text"].as_str().unwrap().contains("written over there"), "{log}");
    assert!(!log["machine"].as_str().unwrap_or_default().is_empty(), "{log}");
    let here = repo.json(&["task", "log", &task]);
    assert_eq!((&here["text"], here.get("machine")), (&log["text"], None));
    up.end();
    let without_worker = repo.json(&["--state-dir", &elsewhere, "task", "log", &task]);
    assert_eq!(without_worker["attempt_id"], serde_json::Value::Null, "{without_worker}");
}

#[test]
fn store_init_prints_sql_without_secrets() {
    let repo = TestRepo::with_working_agent("");
    let sql = repo.stdout(&["--namespace", "team", "store", "init", "--print-sql", "--database", "work"]);
    for part in ["CREATE DATABASE \"work\"", "\"baton_team\"", "\"baton_owner\" LOGIN NOSUPERUSER"] {
        assert!(sql.contains(part), "{part}\n{sql}");
    }
    let refused = repo.output(&["store", "init", "--print-sql", "--role", "x; DROP"]);
    assert!(!refused.status.success());
}

#[test]
fn a_terminal_shows_that_the_command_waits_for_the_server() {
    let repo = TestRepo::of(|_| String::new());
    let away = ["--store", "postgres://mia@/no?host=/nowhere/at/all", "task", "list"];
    let mut listing = TerminalProcess::start(repo.baton(&away));
    listing.until("Waiting for PostgreSQL … ");
    let (status, shown) = listing.end();
    assert!(!status.success());
    let (_, last) = shown.rsplit_once("\x1b[K").unwrap();
    assert!(last.contains("PostgreSQL cannot be reached"), "{shown:?}");
}

#[expect(clippy::print_stderr, reason = "a skipped test says why")]
pub(crate) fn report_skipped(reason: &str) {
    eprintln!("skipped: {reason}");
}

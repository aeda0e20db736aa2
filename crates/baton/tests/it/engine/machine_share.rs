//! What runs on one machine shares it: permits for heavy work over every Baton, processors for build tools, and memory for
//! checks.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::test_repo::{BatonProcess, TestRepo, read, spawn_logged};

const ONE_AT_ONCE: &str = "[room]\nheavy_at_once = 1\nheavy = [\"build\"]\n";

/// A repository that shares this machine's permits with others of the test.
fn sharing(machine: &Path, check: &str) -> TestRepo {
    let settings = format!("checks = {{slow = [\"sh\", \"-c\", '''{check}''']}}\n{ONE_AT_ONCE}");
    let mut repo = TestRepo::with_agent("turns 1; work", &settings);
    repo.variables.push(("XDG_STATE_HOME".to_owned(), machine.display().to_string()));
    let build = format!("echo built >> {}/built", machine.display());
    let taskfile = format!("version: '3'\ntasks: {{build: {{cmds: ['{build}'], silent: true}}}}\n");
    fs::write(repo.folder.join(".agent/Taskfile.yml"), taskfile).unwrap();
    repo.git(&["add", "-A"]);
    repo.git(&["commit", "-q", "-m", "Add a task"]);
    repo
}

#[test]
fn checks_of_two_batons_on_one_machine_take_turns() {
    let machine = tempfile::tempdir().unwrap();
    let at = machine.path().display().to_string();
    // What takes time is the check's own work; two at once would meet in the folder.
    let check =
        format!("mkdir {at}/busy || echo met >> {at}/met; sleep 0.5; rmdir {at}/busy; echo ran >> {at}/ran");
    let repos = [sharing(machine.path(), &check), sharing(machine.path(), &check)];
    let add = |repo: &TestRepo| ["One", "Two"].map(|title| repo.add(title, &[]));
    let tasks = repos.each_ref().map(add);
    let up = repos.each_ref().map(TestRepo::up);
    for (repo, tasks) in repos.iter().zip(&tasks) {
        for task in tasks {
            repo.until_queue(task, "provisional");
        }
    }
    up.into_iter().for_each(BatonProcess::end);
    assert_eq!(read(machine.path().join("ran")).lines().count(), 4);
    assert!(!machine.path().join("met").exists(), "two checks ran at once");
}

#[test]
fn a_heavy_user_task_waits_for_a_check_and_not_for_the_permit_it_runs_with() {
    let machine = tempfile::tempdir().unwrap();
    let at = machine.path().display().to_string();
    // A check that runs a heavy task has the one permit already.
    let baton = env!("CARGO_BIN_EXE_baton");
    let check = format!("{baton} do build; touch {at}/checking; until [ -e {at}/go ]; do sleep 0.05; done");
    let repo = sharing(machine.path(), &check);
    let task = repo.add("Work", &[]);
    let up = repo.up();
    repo.until("the check runs", || machine.path().join("checking").exists());
    assert_eq!(read(machine.path().join("built")), "built\n");
    let waiting = spawn_logged(&mut repo.baton(&["do", "build"]));
    waiting.wait_for_line("Waiting for a check or a heavy task of this machine to end");
    assert_eq!(read(machine.path().join("built")), "built\n", "it runs beside the check");
    fs::write(machine.path().join("go"), "").unwrap();
    waiting.wait_for_exit();
    assert_eq!(read(machine.path().join("built")), "built\nbuilt\n");
    repo.until_queue(&task, "provisional");
    up.end();
}

#[test]
fn build_tools_get_a_share_of_the_processors_in_agents_and_in_checks() {
    const JOBS: &str = "${CMAKE_BUILD_PARALLEL_LEVEL:-none}";
    let repo = TestRepo::with_agent("", "");
    let home = repo.home.display().to_string();
    repo.set_agent(&format!(
        "echo {JOBS} > {home}/agent-$BATON_TASK_ID; turns 1; until [ -e {home}/go ]; do sleep 0.05; done; work"
    ));
    let path = repo.folder.join(".agent/baton.toml");
    let checks = format!(
        "accept_when = \"green\"\nchecks = {{jobs = [\"sh\", \"-c\", \"echo {JOBS} >> {home}/checks\"]}}\n"
    );
    fs::write(&path, checks + &read(&path)).unwrap();
    repo.git(&["commit", "-q", "-a", "-m", "Add a check"]);
    let jobs = |name: &str| fs::read_to_string(repo.home.join(name)).unwrap_or_default();
    let up = repo.up();
    let first = repo.add("First", &[]);
    repo.until("the first works", || !jobs(&format!("agent-{first}")).is_empty());
    let second = repo.add("Second", &[]);
    repo.until("the second works", || !jobs(&format!("agent-{second}")).is_empty());
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    assert_eq!(jobs(&format!("agent-{first}")).trim(), processors.to_string());
    assert_eq!(jobs(&format!("agent-{second}")).trim(), (processors / 2).max(1).to_string());
    fs::write(repo.home.join("go"), "").unwrap();
    for task in [&first, &second] {
        repo.until_queue(task, "done");
    }
    up.end();
    // At the end of each attempt, and when the work landed.
    let of_checks = jobs("checks");
    assert!(of_checks.lines().count() > 2, "{of_checks}");
    for line in of_checks.lines() {
        assert!(line.parse::<usize>().is_ok_and(|jobs| (1..=processors).contains(&jobs)), "{of_checks}");
    }
}

/// Holds 600 MB until it is ended: `tail` keeps the one long line in memory.
const HUNGRY: &str = "(head -c 600000000 /dev/zero; tail -f /dev/null) | tail -n 1 > /dev/null";

/// The checks of a task that is in review.
fn checks_of(fence: &str) -> Vec<Value> {
    let settings = format!(
        "[room]\nattempt_memory_mb = 200\n[checks]\ncommand = [\"sh\", \"-c\", \"{HUNGRY}\"]\nsound = [\"true\"]\n\
         user-task = \"hungry\"\n"
    );
    let mut repo = TestRepo::with_agent("turns 1; work", &settings);
    repo.variables.push(("BATON_FENCE".to_owned(), fence.to_owned()));
    let taskfile = format!("version: '3'\ntasks: {{hungry: {{cmds: ['{HUNGRY}'], silent: true}}}}\n");
    fs::write(repo.folder.join(".agent/Taskfile.yml"), taskfile).unwrap();
    repo.git(&["add", "-A"]);
    repo.git(&["commit", "-q", "-m", "Add a task"]);
    let task = repo.add("Work", &[]);
    // They fail without the work, too, so nobody is blamed for them.
    repo.work_until(&[(&task, "provisional")]);
    let ended = repo.attempts(&task).pop().unwrap();
    ended["closing"]["end"]["verified"]["checks"].as_array().unwrap().clone()
}

fn assert_contained(checks: &[Value]) {
    let named = |name: &str| checks.iter().find(|check| check["name"] == name).unwrap();
    assert_eq!(named("sound")["exit_code"], json!(0));
    for name in ["command", "user-task"] {
        let check = named(name);
        assert_ne!(check["exit_code"], json!(0), "{check}");
        let said = check["output_tail"].as_str().unwrap();
        let why = "MB of memory, most of it tail; 200 MB are allowed ([room] attempt_memory_mb)";
        assert!(said.contains("It was ended because it used ") && said.contains(why), "{check}");
    }
}

#[test]
fn a_check_that_eats_memory_fails_and_says_so() {
    assert_contained(&checks_of("off"));
}

#[test]
fn a_check_that_eats_memory_in_its_fence_fails_and_says_so() {
    assert_contained(&checks_of("strict"));
}

//! `baton up` with many agents at once, with agents that do not start, and `accept --all` afterwards.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::wait;

const TASKS: usize = 200;
const AGENTS: &str = "20";
const PATIENCE: Duration = Duration::from_mins(4);
/// Growth of the server's memory, in KiB: far below a leak per task.
const GROWTH_KIB_MAX: u64 = 40 * 1024;

fn baton(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_baton"));
    command.env("BATON_FENCE", "off");
    command
        .current_dir(folder)
        .env("BATON_USER", "mia")
        .env("BATON_LISTEN", "127.0.0.1:0")
        .stdin(Stdio::null());
    command
}

fn json(folder: &Path, arguments: &[&str]) -> Value {
    let output = baton(folder).arg("--json").args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn git(folder: &Path, arguments: &[&str]) {
    let identity = ["-c", "user.name=mia", "-c", "user.email=mia@example.org"];
    let status = Command::new("git").args(identity).args(arguments).current_dir(folder).status().unwrap();
    assert!(status.success(), "git {arguments:?}");
}

/// A repository with one commit and these settings.
fn repository(folder: &Path, settings: &str) {
    git(folder, &["init", "-q", "-b", "main"]);
    std::fs::create_dir(folder.join(".agent")).unwrap();
    std::fs::write(folder.join(".agent/baton.toml"), settings).unwrap();
    git(folder, &["add", "-A"]);
    git(folder, &["commit", "-q", "-m", "Begin"]);
}

fn set_up(folder: &Path) {
    let script = json!({ "scripts": [], "otherwise": [
        { "turns": 2 },
        { "write": { "path": "out/{{task}}.txt", "text": "done\n" } },
        { "commit": "Work on {{task}}" },
        { "result": { "status": "COMPLETE", "output": "Done." } },
    ]});
    std::fs::write(folder.join("script.json"), script.to_string()).unwrap();
    let settings = format!(
        "default_agent = \"scripted\"\nmax_unaccepted = 1000\n[agents.scripted]\nkind = \"scripted\"\n\
         command = [\"{}\"]\nmax = 20\n",
        folder.join("script.json").display()
    );
    repository(folder, &settings);
}

fn memory_kib(child: &Child) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Ends it with SIGTERM, like a service manager.
fn end(up: &mut Child) {
    Command::new("kill").args(["-TERM", &up.id().to_string()]).status().unwrap();
    assert!(up.wait().unwrap().success());
}

fn provisional(folder: &Path) -> Vec<Value> {
    let list = json(folder, &["task", "list", "--queue", "provisional", "--limit", "500"]);
    list["tasks"].as_array().unwrap().clone()
}

fn until_provisional(folder: &Path, count: usize) {
    let found = || provisional(folder).len();
    wait::until(PATIENCE, || found() >= count, || format!("{} of {count} are provisional", found()));
}

#[test]
fn two_hundred_tasks_through_twenty_agents() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().canonicalize().unwrap();
    set_up(&folder);
    for number in 0..TASKS {
        json(&folder, &["task", "add", &format!("Task {number}")]);
    }
    let mut up = baton(&folder)
        .args(["up", "--listen", "127.0.0.1:0", "--agents", AGENTS])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    until_provisional(&folder, TASKS / 10);
    let memory_first = memory_kib(&up);
    until_provisional(&folder, TASKS);
    let growth = memory_kib(&up).saturating_sub(memory_first);
    assert!(growth < GROWTH_KIB_MAX, "the server grew by {growth} KiB");
    end(&mut up);

    for task in provisional(&folder) {
        let view = json(&folder, &["task", "show", task["task_id"].as_str().unwrap()]);
        // No task was claimed twice, and Baton counted the commit.
        assert_eq!(view["attempts"].as_array().unwrap().len(), 1, "{view}");
        assert_eq!(view["verified"]["commits"], 1, "{view}");
    }
}

#[test]
fn an_agent_that_does_not_start_is_held_and_the_task_stays_queued() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().canonicalize().unwrap();
    repository(
        &folder,
        "default_agent = \"ghost\"\n[agents.ghost]\nkind = \"command\"\ncommand = [\"/no/such/agent\"]\n",
    );
    let id = json(&folder, &["task", "add", "Fix the login"])["task_id"].as_str().unwrap().to_owned();
    let mut up =
        baton(&folder).args(["up", "--listen", "127.0.0.1:0"]).stderr(Stdio::piped()).spawn().unwrap();
    let mut printed = BufReader::new(up.stderr.take().unwrap()).lines();
    let line = printed.find(|line| line.as_ref().unwrap().contains("rests until")).unwrap().unwrap();
    assert!(line.contains("agent ghost") && line.contains("/no/such/agent"), "{line}");
    end(&mut up);
    let view = json(&folder, &["task", "show", &id]);
    assert_eq!(
        (view["queue"].as_str(), view["attempts"].as_array().unwrap().len()),
        (Some("incoming"), 2),
        "{view}"
    );
}

/// Three tasks: one is finished, two burn out. Nothing is recycled automatically.
fn finished_work() -> (tempfile::TempDir, PathBuf, Vec<String>) {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().canonicalize().unwrap();
    let script = json!({ "scripts": [{ "when": "Too much", "steps": [{ "turns": 50 }] }], "otherwise": [
        { "write": { "path": "done.txt", "text": "done\n" } },
        { "commit": "Do it" },
    ]});
    std::fs::write(folder.join("script.json"), script.to_string()).unwrap();
    let settings = format!(
        "default_agent = \"scripted\"\nrecycle = \"manual\"\n[agents.scripted]\nkind = \"scripted\"\ncommand = [\"{}\"]\n",
        folder.join("script.json").display()
    );
    repository(&folder, &settings);
    let ids: Vec<String> = ["Just right", "Too much", "Too much again"]
        .iter()
        .map(|title| json(&folder, &["task", "add", title])["task_id"].as_str().unwrap().to_owned())
        .collect();
    let mut up =
        baton(&folder).args(["up", "--listen", "127.0.0.1:0"]).stderr(Stdio::null()).spawn().unwrap();
    until_provisional(&folder, ids.len());
    end(&mut up);
    (scratch, folder, ids)
}

fn queues(folder: &Path, ids: &[String]) -> Vec<String> {
    ids.iter().map(|id| json(folder, &["task", "show", id])["queue"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn accept_all_merges_what_is_good_and_reports_what_burned_out_with_both_options() {
    let (_scratch, folder, ids) = finished_work();
    let output = baton(&folder).args(["accept", "--all"]).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(printed.contains(&format!("{}  landed  Just right", ids[0])), "{printed}");
    assert!(printed.contains("⚠ 2 task(s) burned out (0 commits, max turns):"), "{printed}");
    assert!(printed.contains(&format!("{}: Too much (project: none)", ids[1])), "{printed}");
    assert!(printed.contains("--force") && printed.contains("--recycle"), "{printed}");
    assert_eq!(queues(&folder, &ids), ["done", "provisional", "provisional"]);
    // Merged into Baton's own branch; the user's checkout is unchanged.
    git(&folder, &["cat-file", "-e", "baton/next:done.txt"]);
    assert!(!folder.join("done.txt").exists());
}

#[test]
fn accept_all_with_force_accepts_everything() {
    let (_scratch, folder, ids) = finished_work();
    json(&folder, &["accept", "--all", "--force"]);
    assert_eq!(queues(&folder, &ids), ["done", "done", "done"]);
}

#[test]
fn accept_all_with_recycle_sends_what_burned_out_to_a_breakdown() {
    let (_scratch, folder, ids) = finished_work();
    json(&folder, &["accept", "--all", "--recycle"]);
    assert_eq!(queues(&folder, &ids), ["done", "recycled", "recycled"]);
    assert_eq!(json(&folder, &["breakdown", "list"])["breakdowns"].as_array().unwrap().len(), 2);
}

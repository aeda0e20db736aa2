//! Room on the machine: work waits for it, agents pause for it, and a worktree that takes too much of it is a question.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::test_repo::{TestRepo, processes};

/// What Baton reads of the machine, in MiB of free memory.
fn free_memory(repo: &TestRepo, mb: u64) {
    let folder = repo.home.join("machine");
    fs::create_dir_all(folder.join("pressure")).unwrap();
    let write = |name: &str, text: &str| {
        // In one step: Baton may read at any moment.
        fs::write(folder.join("new"), text).unwrap();
        fs::rename(folder.join("new"), folder.join(name)).unwrap();
    };
    write("pressure/memory", "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n");
    write("loadavg", "0.10 0.10 0.10 1/100 1\n");
    write("disk", "100000\n");
    write("meminfo", &format!("MemTotal: 9999999 kB\nMemAvailable: {} kB\n", mb * 1024));
}

fn repo(agent: &str, mb: u64) -> TestRepo {
    let mut repo = TestRepo::with_agent(agent, "");
    let folder = repo.home.join("machine").display().to_string();
    repo.variables.push(("BATON_MACHINE_READINGS".to_owned(), folder));
    free_memory(&repo, mb);
    repo
}

#[test]
fn work_waits_while_the_machine_is_busy_and_says_so() {
    let repo = repo("turns 1; work", 100);
    let task = repo.add("Work", &[]);
    let up = repo.up();
    repo.until("the reason", || repo.show(&task)["not_started"]["code"] == "machine_busy");
    let message = repo.show(&task)["not_started"]["message"].as_str().unwrap().to_owned();
    assert!(
        message.contains("100 MB of memory left, 256 MB wanted") && message.contains("it starts when"),
        "{message}"
    );
    assert!(repo.stdout(&["status"]).contains("the machine is busy: 100 MB of memory left"));
    assert_eq!(repo.queue(&task), "incoming");
    // A little more is not enough: what is short stays short until there is clearly more.
    free_memory(&repo, 260);
    repo.until("the reading", || {
        repo.show(&task)["not_started"]["message"].as_str().is_none_or(|said| !said.contains("100 MB"))
    });
    assert!(repo.json(&["status"])["problems"].to_string().contains("the machine is busy: 260 MB"));
    free_memory(&repo, 4_000);
    repo.until_queue(&task, "provisional");
    assert_eq!(repo.json(&["status"])["problems"], json!([]));
    up.end();
}

/// Whether every process of the attempt is stopped.
fn is_stopped(repo: &TestRepo, task: &str) -> bool {
    let pid = fs::read_to_string(repo.home.join(format!("pid-{task}"))).unwrap_or_default();
    let stat = fs::read_to_string(Path::new("/proc").join(pid.trim()).join("stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('T'))
}

fn paused(repo: &TestRepo, task: &str) -> Value {
    repo.show(task)["environment"]["paused"].clone()
}

#[test]
fn the_newest_agent_pauses_while_memory_is_short_and_goes_on_afterwards() {
    let repo = repo("", 4_000);
    let home = repo.home.display().to_string();
    repo.set_agent(&format!(
        "echo $$ > {home}/pid-$BATON_TASK_ID\nturns 1\nuntil [ -e {home}/go ]; do sleep 0.1; done\nwork"
    ));
    let up = repo.up();
    let first = repo.add("First", &[]);
    let is_at_work = |task: &str| repo.home.join(format!("pid-{task}")).exists();
    repo.until("the first works", || is_at_work(&first));
    let second = repo.add("Second", &[]);
    repo.until("the second works", || is_at_work(&second));
    free_memory(&repo, 60);
    repo.until("the second pauses", || paused(&repo, &second).is_string() && is_stopped(&repo, &second));
    let reason = paused(&repo, &second).as_str().unwrap().to_owned();
    assert!(reason.contains("60 MB of memory left, 128 MB wanted"), "{reason}");
    assert!(repo.stdout(&["task", "show", &second]).contains("Paused: the machine is busy"));
    // The first goes on: one agent always works.
    fs::write(repo.home.join("go"), "").unwrap();
    repo.until_queue(&first, "provisional");
    free_memory(&repo, 4_000);
    repo.until_queue(&second, "provisional");
    up.end();
    assert_eq!(paused(&repo, &second), Value::Null);
    assert_eq!(repo.attempts(&second).len(), 1, "it kept its lease");
    let log = repo.json(&["task", "log", &second]).to_string();
    assert!(!log.contains("TimedOut"), "{log}");
}

#[test]
fn a_worktree_that_grows_too_large_is_a_question() {
    let agent = "if [ -z \"${BATON_RESUME:-}\" ]; then head -c 4000000 /dev/zero > big; turns 1; hang; fi\nrm big; turns 1; work";
    let repo = TestRepo::with_agent(agent, "[worktree]\nmax_mb = 2");
    let task = repo.add("Fill the disk", &[]);
    let up = repo.up();
    repo.until("the question", || repo.status(&task) == "AWAITING_RESPONSE");
    let asked = repo.show(&task)["question"]["text"].as_str().unwrap().to_owned();
    assert!(asked.contains("its worktree has grown to 4 MB; 2 MB are allowed"), "{asked}");
    assert_eq!(processes(&repo.last_attempt(&task)), Vec::<String>::new(), "its agent was stopped");
    repo.stdout(&["task", "reply", &task, "YES"]);
    repo.until_queue(&task, "provisional");
    up.end();
}

#[test]
fn an_agent_that_prints_too_much_is_a_question() {
    let agent = "if [ -z \"${BATON_RESUME:-}\" ]; then turns 1; yes 'the same again and again' | head -c 3000000; hang; fi\nturns 1; work";
    let repo = TestRepo::with_agent(agent, "[worktree]\nmax_log_mb = 1");
    let task = repo.add("Print for ever", &[]);
    let up = repo.up();
    repo.until("the question", || repo.status(&task) == "AWAITING_RESPONSE");
    let asked = repo.show(&task)["question"]["text"].as_str().unwrap().to_owned();
    assert!(asked.contains("its agent has printed") && asked.contains("1 MB are allowed"), "{asked}");
    assert_eq!(processes(&repo.last_attempt(&task)), Vec::<String>::new(), "its agent was stopped");
    repo.stdout(&["task", "reply", &task, "YES"]);
    repo.until_queue(&task, "provisional");
    up.end();
}

/// Holds 600 MB until it is ended: `tail` keeps the one long line in memory.
const HUNGRY: &str = "(head -c 600000000 /dev/zero; hang) | tail -n 1 > /dev/null";

#[test]
fn an_agent_that_eats_memory_is_ended_and_asked_about_while_others_finish() {
    let repo = TestRepo::with_agent("", "max_agents = 4\n[room]\nattempt_memory_mb = 200");
    let home = repo.home.display();
    repo.set_agent(&format!(
        "turns 1\ncase \"$prompt\" in *Devour*) ;; *) until [ -e {home}/contained ]; do sleep 0.1; done; work; exit;; esac\n\
         if [ -z \"${{BATON_RESUME:-}}\" ]; then echo half > half; {HUNGRY}; fi\nwork"
    ));
    let hungry = repo.add("Devour everything", &[]);
    let others: Vec<String> = (1..=3).map(|number| repo.add(&format!("Work {number}"), &[])).collect();
    let up = repo.up();
    repo.until("all of them work", || {
        others.iter().chain([&hungry]).all(|task| !repo.attempts(task).is_empty())
    });
    let line = up.wait_for_line("200 MB are allowed");
    assert!(line.contains("most of it tail"), "{line}");
    repo.until("the question", || repo.status(&hungry) == "AWAITING_RESPONSE");
    assert_eq!(processes(&repo.last_attempt(&hungry)), Vec::<String>::new(), "it keeps no memory");
    fs::write(repo.home.join("contained"), "").unwrap();
    for other in &others {
        repo.until_queue(other, "provisional");
        assert_eq!(repo.attempts(other).len(), 1);
    }
    let asked = repo.show(&hungry)["question"]["text"].as_str().unwrap().to_owned();
    assert!(asked.contains("MB of memory, so they were ended; 200 MB are allowed"), "{asked}");
    assert_eq!(repo.json(&["status"])["problems"], json!([]), "its agent is not blamed");
    repo.stdout(&["task", "reply", &hungry, "YES"]);
    repo.until_queue(&hungry, "provisional");
    up.end();
    assert_eq!(repo.git(&["show", &format!("baton/{hungry}:half")]), "half", "what was done is kept");
}

#[test]
fn what_a_person_granted_counts_and_services_do_too() {
    let settings = "[room]\nattempt_memory_mb = 400\n[worktree]\nservices = [\"hungry\"]";
    let repo =
        TestRepo::with_agent("turns 1; if [ -n \"${BATON_RESUME:-}\" ]; then work; else hang; fi", settings);
    let taskfile = format!(
        "version: '3'\ntasks:\n  hungry: {{cmds: ['{}'], silent: true}}\n",
        HUNGRY.replace("hang", "tail -f /dev/null")
    );
    fs::write(repo.folder.join(".agent/Taskfile.yml"), taskfile).unwrap();
    let task = repo.add("Serve", &[]);
    let up = repo.up();
    repo.until("the question", || repo.status(&task) == "AWAITING_RESPONSE");
    let asked = repo.show(&task)["question"]["text"].as_str().unwrap().to_owned();
    assert!(asked.contains("400 MB are allowed"), "{asked}");
    repo.stdout(&["task", "reply", &task, "YES"]);
    // 600 MB fit into twice as much.
    repo.until_queue(&task, "provisional");
    up.end();
}

#[test]
fn files_in_the_memory_of_a_fence_count() {
    let agent = "turns 1; if [ -n \"${BATON_RESUME:-}\" ]; then work; else head -c 300000000 /dev/zero > /tmp/big; hang; fi";
    let mut repo = TestRepo::with_agent(agent, "[room]\nattempt_memory_mb = 200");
    repo.variables.push(("BATON_FENCE".to_owned(), "strict".to_owned()));
    let task = repo.add("Fill the memory", &[]);
    let up = repo.up();
    repo.until("the question", || repo.status(&task) == "AWAITING_RESPONSE");
    let asked = repo.show(&task)["question"]["text"].as_str().unwrap().to_owned();
    assert!(asked.contains("200 MB are allowed"), "{asked}");
    repo.stdout(&["task", "reply", &task, "YES"]);
    repo.until_queue(&task, "provisional");
    up.end();
}

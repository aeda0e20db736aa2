//! Questions through the real binary: they outlive everything, and each is answered once.
#![expect(clippy::unwrap_used, reason = "a test helper that cannot go on says so by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

const PATIENCE: Duration = Duration::from_mins(4);

/// How many questions wait at once when Baton is killed. `BATON_QUESTIONS` sets another number.
const QUESTIONS: usize = 1_000;

struct Place {
    folder: PathBuf,
    _scratch: TempDir,
}

impl Place {
    /// A repository with one commit, an agent that follows `script`, and these settings beside it.
    fn new(script: &Value, settings: &str) -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().canonicalize().unwrap();
        let place = Self { folder, _scratch: scratch };
        place.git(&["init", "-q", "-b", "main"]);
        std::fs::create_dir(place.folder.join(".agent")).unwrap();
        std::fs::write(place.folder.join("script.json"), script.to_string()).unwrap();
        let agent = format!(
            "default_agent = \"scripted\"\nmax_unaccepted = 5000\n{settings}\n[agents.scripted]\nkind = \"scripted\"\n\
             command = [\"{}\"]\nmax = 50\n",
            place.folder.join("script.json").display()
        );
        std::fs::write(place.folder.join(".agent/baton.toml"), agent).unwrap();
        place.git(&["add", "-A"]);
        place.git(&["commit", "-q", "-m", "Begin"]);
        place
    }

    fn git(&self, arguments: &[&str]) {
        let identity = ["-c", "user.name=mia", "-c", "user.email=mia@example.org"];
        let status =
            Command::new("git").args(identity).args(arguments).current_dir(&self.folder).status().unwrap();
        assert!(status.success(), "git {arguments:?}");
    }

    fn baton(&self) -> Command {
        baton(&self.folder)
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let output = self.baton().arg("--json").args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    fn add(&self, title: &str, more: &[&str]) -> String {
        let arguments: Vec<&str> = ["task", "add", title].into_iter().chain(more.iter().copied()).collect();
        self.json(&arguments)["task_id"].as_str().unwrap().to_owned()
    }

    fn up(&self, agents: &str) -> Child {
        self.baton().args(["up", "--agents", agents]).stderr(Stdio::null()).spawn().unwrap()
    }

    fn show(&self, task: &str) -> Value {
        self.json(&["task", "show", task])
    }

    fn questions(&self) -> Vec<Value> {
        self.json(&["questions", "--limit", "5000"])["questions"].as_array().unwrap().clone()
    }

    fn wait_for(&self, what: &str, is_so: impl Fn() -> bool) {
        let started = Instant::now();
        while !is_so() {
            assert!(started.elapsed() < PATIENCE, "waited in vain for {what}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

fn baton(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_baton"));
    command.current_dir(folder).env("BATON_USER", "mia").stdin(Stdio::null());
    command
}

/// Ends it as a service manager would.
fn end(up: &mut Child) {
    Command::new("kill").args(["-TERM", &up.id().to_string()]).status().unwrap();
    assert!(up.wait().unwrap().success());
}

/// Asks on the first attempt, and says the answer back on the next.
fn asks_then_tells(question: &Value) -> Value {
    json!({ "scripts": [
        { "resumed": false, "steps": [{ "ask": question }] },
        { "resumed": true, "steps": [
            { "read_answer": "The answer (" },
            { "result": { "status": "COMPLETE", "output": "{{task}} heard {{answer}}." } },
        ] },
    ], "otherwise": [] })
}

#[test]
fn a_thousand_questions_survive_a_kill_and_every_agent_goes_on_with_its_own_answer() {
    let count = std::env::var("BATON_QUESTIONS").map_or(QUESTIONS, |count| count.parse().unwrap());
    let place = Place::new(&asks_then_tells(&json!({ "question": "What is the word for {{task}}?" })), "");
    let tasks: Vec<String> = place.add_many(count);
    let mut up = place.up("24");
    place.wait_for("all the questions", || place.questions().len() == count);
    up.kill().unwrap();
    up.wait().unwrap();

    let pending = place.questions();
    let of_task: BTreeMap<&str, &Value> =
        pending.iter().map(|question| (question["task_id"].as_str().unwrap(), question)).collect();
    assert_eq!(of_task.keys().copied().collect::<BTreeSet<_>>(), tasks.iter().map(String::as_str).collect());

    // Half of them while Baton is down, half while it runs.
    let answers: Vec<String> = pending
        .iter()
        .map(|question| {
            format!("{} word-of-{}", question["id"].as_str().unwrap(), question["task_id"].as_str().unwrap())
        })
        .collect();
    let (before, after) = answers.split_at(count / 2);
    place.answer_all(before);
    let mut up = place.up("24");
    place.answer_all(after);
    let done = || place.json(&["task", "list", "--queue", "done", "--limit", "5000"])["tasks"].clone();
    place.wait_for("every task", || done().as_array().unwrap().len() == count);
    end(&mut up);

    for task in &tasks {
        let view = place.show(task);
        assert_eq!(view["output"], format!("{task} heard word-of-{task}."), "{view}");
    }
    let again = place.baton().args(["answer", pending[0]["id"].as_str().unwrap(), "other"]).output().unwrap();
    assert_eq!(again.status.code(), Some(4), "{}", String::from_utf8_lossy(&again.stderr));
}

impl Place {
    fn add_many(&self, count: usize) -> Vec<String> {
        let mut tasks = Vec::new();
        for number in 0..count {
            tasks.push(self.add(&format!("Ask {number}"), &["--type", "READ_INFO"]));
        }
        tasks
    }

    fn answer_all(&self, lines: &[String]) {
        let mut answering =
            self.baton().args(["answer", "-"]).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        answering.stdin.take().unwrap().write_all(lines.join("\n").as_bytes()).unwrap();
        assert!(answering.wait().unwrap().success());
    }
}

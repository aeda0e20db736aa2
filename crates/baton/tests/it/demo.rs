//! The demo, complete and killed at random moments: every task is done once, and no process is left.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::Value;

/// Kills in an ordinary test run. `BATON_KILLS=1000 scripts/test -p baton kill` does more.
const KILLS: u32 = 50;
/// Kills of one demo before it may run to its end: on a slow machine each run may be too short for progress.
const KILLS_PER_DEMO: u32 = 12;
/// The longest a demo may take on a busy machine before it counts as stuck.
pub(crate) const PATIENCE: Duration = Duration::from_mins(5);

pub(crate) const BRANCH: &str = "feature/de300000";

/// The files that the demo's tasks write.
const FILES: [&str; 9] = [
    "GUIDE.md",
    "README.md",
    "greetings/README.md",
    "greetings/de.txt",
    "greetings/en.txt",
    "greetings/es.txt",
    "greetings/fr.txt",
    "greetings/it.txt",
    "tests/greetings.txt",
];

pub(crate) struct Demo {
    pub(crate) folder: PathBuf,
}

impl Demo {
    fn start(&self) -> Child {
        self.start_with(&[])
    }

    /// The same with variables of the test's own.
    pub(crate) fn start_with(&self, variables: &[(&str, &str)]) -> Child {
        let printed = OpenOptions::new().create(true).append(true).open(self.folder.join("printed")).unwrap();
        Command::new(env!("CARGO_BIN_EXE_baton"))
            .env("BATON_FENCE", "off")
            .envs(variables.iter().copied())
            .args(["demo", "--headless", "--folder"])
            .arg(&self.folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(printed)
            .spawn()
            .unwrap()
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .arg("-C")
            .arg(self.folder.join("repository"))
            .args(arguments)
            .output()
            .unwrap();
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let state = self.folder.join("state");
        let output = Command::new(env!("CARGO_BIN_EXE_baton"))
            .env("BATON_FENCE", "off")
            .args(["--json", "--namespace", "demo", "--state-dir"])
            .arg(state)
            .args(arguments)
            .current_dir(self.folder.join("repository"))
            .output()
            .unwrap();
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Checks the result of a completed demo, however often it was killed.
    pub(crate) fn check(&self) {
        let tasks = self.json(&["task", "list", "--limit", "100"])["tasks"].take();
        let mut by_queue: BTreeMap<String, usize> = BTreeMap::new();
        for task in tasks.as_array().unwrap() {
            *by_queue.entry(task["queue"].as_str().unwrap().to_owned()).or_default() += 1;
        }
        assert_eq!(by_queue, BTreeMap::from([("done".to_owned(), 9), ("recycled".to_owned(), 1)]));
        assert!(self.json(&["questions"])["questions"].as_array().unwrap().is_empty());

        let mut files: Vec<String> =
            self.git(&["ls-tree", "-r", "--name-only", BRANCH]).lines().map(str::to_owned).collect();
        files.sort();
        if files != FILES {
            let story = |task: &Value| self.json(&["task", "show", task["task_id"].as_str().unwrap()]);
            panic!("{files:?}: {:#?}", tasks.as_array().unwrap().iter().map(story).collect::<Vec<_>>());
        }
        assert_eq!(files, FILES);
        // Each commit is there once: none was lost or repeated.
        let subjects = self.git(&["log", "--no-merges", "--format=%s", BRANCH]);
        let mut counted: BTreeMap<&str, usize> = BTreeMap::new();
        for subject in subjects.lines() {
            *counted.entry(subject).or_default() += 1;
        }
        assert!(counted.values().all(|count| *count == 1), "{counted:?}");
        // Two greetings have the same number at first: at least one of them was sent back and repaired. What an agent had not
        // committed when it was killed is a commit of Baton's.
        let repairs = counted.keys().filter(|subject| subject.starts_with("Give greetings/")).count();
        assert!((1..=2).contains(&repairs), "{subjects}");
        // The guide came back with a comment, which its agent followed.
        assert_eq!(counted.get("Name the languages"), Some(&1), "{subjects}");
        assert!(counted.len() <= FILES.len() + repairs + 1, "{subjects}");
        // The user's checkout is unchanged.
        assert_eq!(self.git(&["status", "--porcelain"]), "");
        assert_eq!(processes_of(&self.folder), Vec::<String>::new());
    }

    /// The newest log of an agent, for the message of a failed test.
    fn last_log(&self) -> String {
        let attempts = std::fs::read_dir(self.folder.join("state/attempts")).unwrap().flatten();
        let logs = attempts.map(|attempt| attempt.path().join("agent.log")).filter(|log| log.exists());
        let newest = logs.max_by_key(|log| log.metadata().and_then(|about| about.modified()).unwrap());
        newest.map(|log| std::fs::read_to_string(log).unwrap_or_default()).unwrap_or_default()
    }

    /// How often the demo's question was asked.
    fn questions_asked(&self) -> usize {
        let tasks = self.json(&["task", "list", "--limit", "100"])["tasks"].take();
        let french = tasks.as_array().unwrap().iter().find(|task| task["title"] == "Add the French greeting");
        let id = french.unwrap()["task_id"].as_str().unwrap().to_owned();
        let attempts = self.json(&["task", "show", &id])["attempts"].take();
        let asked = |attempt: &&Value| attempt["closing"]["end"]["reported"]["result"] == "ASKED";
        attempts.as_array().unwrap().iter().filter(asked).count()
    }
}

/// The command lines of agents that still run under `folder`.
fn processes_of(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Ok(line) = std::fs::read(entry.path().join("cmdline")) else { continue };
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        if line.contains("scripted-agent") && line.contains(&*folder.to_string_lossy()) {
            found.push(line);
        }
    }
    found
}

/// Whether it ends, and so closes its standard output, within this time.
pub(crate) fn ends_within(child: &mut Child, time: Duration) -> bool {
    let mut stdout = child.stdout.take().unwrap();
    let (sender, ended) = mpsc::channel();
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut stdout, &mut std::io::sink());
        let _ = sender.send(());
    });
    ended.recv_timeout(time).is_ok()
}

/// Runs the demo to its end; panics if it hangs.
pub(crate) fn exit_code(demo: &Demo) -> Option<i32> {
    let mut child = demo.start();
    if ends_within(&mut child, PATIENCE) {
        return child.wait().unwrap().code();
    }
    let tasks = demo.json(&["task", "list", "--limit", "100"]);
    let agents = processes_of(&demo.folder);
    let printed = std::fs::read_to_string(demo.folder.join("printed")).unwrap() + &demo.last_log();
    child.kill().unwrap();
    child.wait().unwrap();
    panic!("the demo did not end within {PATIENCE:?}\nagents: {agents:?}\n{tasks:#}\n{printed}");
}

#[test]
fn the_demo_runs_to_its_end_and_a_second_run_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let demo = Demo { folder: folder.path().canonicalize().unwrap() };
    assert_eq!(exit_code(&demo), Some(0));
    demo.check();
    assert_eq!(demo.questions_asked(), 1);
    let landing = demo.json(&["landing"]);
    let ends = landing["recent"].as_array().unwrap();
    let back: Vec<&Value> = ends.iter().filter(|entry| entry["end"] == "sent_back").collect();
    assert_eq!(back.len(), 1, "{landing:#}");
    assert_eq!(back[0]["title"], "Add the Italian greeting", "{landing:#}");
    let met = back[0]["reason"]["met"].as_array().unwrap();
    assert!(met.iter().any(|task| task["title"] == "Add the English greeting"), "{landing:#}");
    let output = back[0]["reason"]["checks"][0]["output_tail"].as_str().unwrap();
    assert!(output.contains("greetings/en.txt and greetings/it.txt both have the number 1"), "{output}");
    let landed = ends.iter().any(|entry| entry["end"] == "landed" && entry["title"] == back[0]["title"]);
    assert!(landed, "{landing:#}");
    let head = demo.git(&["rev-parse", BRANCH]);
    assert_eq!(exit_code(&demo), Some(0));
    demo.check();
    assert_eq!(demo.git(&["rev-parse", BRANCH]), head, "the second run changed something");
}

#[test]
fn killed_at_random_moments_the_demo_still_ends_with_everything_done_once() {
    let kills_wanted = std::env::var("BATON_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(KILLS);
    let mut kills = 0;
    // A fixed start, so that a failure can be repeated.
    let mut dice: u64 = 0x9e37_79b9_7f4a_7c15;
    while kills < kills_wanted {
        let folder = tempfile::tempdir().unwrap();
        let demo = Demo { folder: folder.path().canonicalize().unwrap() };
        for _ in 0..KILLS_PER_DEMO {
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let mut child = demo.start();
            let lives = Duration::from_millis(30 + (dice >> 33) % 900);
            if ends_within(&mut child, lives) {
                let code = child.wait().unwrap().code();
                assert_eq!(code, Some(0), "the demo failed after {kills} kills");
                break;
            }
            child.kill().unwrap();
            child.wait().unwrap();
            kills += 1;
        }
        // Without kills it runs to its end, or finds that it had ended before.
        assert_eq!(exit_code(&demo), Some(0), "after {kills} kills");
        demo.check();
    }
}

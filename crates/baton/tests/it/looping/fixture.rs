//! A repository with an agent for every phase of the loop, and `baton loop` in it.

use std::fs;
use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStderr, ChildStdin, Command, Output, Stdio};

use serde_json::{Value, json};

use crate::engine::test_repo::TestRepo;

pub(crate) struct LoopFixture {
    pub(crate) repo: TestRepo,
}

pub(crate) fn point(clarity: &str) -> Value {
    json!({ "clarity": clarity, "reason": "as the task says" })
}

pub(crate) fn rubric(goal: &str) -> String {
    json!({ "baton": "vagueness", "goal": point(goal), "scope": point("clear"), "acceptance": point("clear"),
            "constraints": point("clear") })
    .to_string()
}

pub(crate) fn discovered(titles: &[&str]) -> String {
    let tasks: Vec<Value> = titles.iter().map(|title| json!({ "title": title })).collect();
    json!({ "baton": "discovered", "tasks": tasks }).to_string()
}

/// Plans two subtasks, commits work for them, and discovers tasks in its review.
pub(crate) fn script() -> Value {
    json!({ "scripts": [
        { "when": "# Plan: Vague", "steps": [
            { "say": rubric("missing") },
            { "plan": [{ "title": "A guess" }] },
            { "result": { "status": "COMPLETE", "output": "Planned by guessing." } },
        ] },
        { "when": "# Plan: Ask first", "resumed": false, "steps": [{ "ask": { "question": "Which secret colour?" } }] },
        { "when": "# Plan:", "steps": [
            { "say": rubric("clear") },
            { "plan": [
                { "title": "First part", "description": "Write the first file." },
                { "title": "Second part", "description": "Write the second file." },
            ] },
            { "result": { "status": "COMPLETE", "output": "Planned." } },
        ] },
        { "when": "# Review:", "steps": [
            { "say": discovered(&["Add docs", "add docs.", "Wash the dishes"]) },
            { "result": { "status": "COMPLETE", "output": "Two parts, one pattern." } },
        ] },
    ], "otherwise": [
        { "write": { "path": "out/{{task}}.txt", "text": "{{task}}\n" } },
        { "commit": "Work on {{task}}" },
        { "result": { "status": "COMPLETE", "output": "Written." } },
    ] })
}

impl LoopFixture {
    pub(crate) fn new() -> Self {
        Self::with(&script(), "")
    }

    pub(crate) fn with(script: &Value, settings: &str) -> Self {
        Self { repo: TestRepo::scripted(script, settings) }
    }

    pub(crate) fn add(&self, title: &str) -> String {
        self.repo.add(title, &[])
    }

    pub(crate) fn questions(&self) -> Vec<Value> {
        self.repo.json(&["questions"])["questions"].as_array().unwrap().clone()
    }

    /// Runs the loop with one answer for each question.
    pub(crate) fn run_with_answers(&self, arguments: &[&str], answers: &[&str]) -> Output {
        let file = self.repo.home.join("answers.txt");
        fs::write(&file, answers.join("\n")).unwrap();
        self.repo.baton(&["loop", "--answers"]).arg(&file).args(arguments).output().unwrap()
    }

    /// Starts `baton loop`; the test types the answers.
    pub(crate) fn interactive(&self, arguments: &[&str]) -> InteractiveLoop {
        let mut command = self.repo.baton(&["loop"]);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let typed = child.stdin.take().unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        InteractiveLoop { child, typed, lines }
    }

    pub(crate) fn tasks(&self) -> Vec<Value> {
        self.repo.json(&["task", "list", "--limit", "100"])["tasks"].as_array().unwrap().clone()
    }

    pub(crate) fn task_titled(&self, title: &str) -> Value {
        let tasks = self.tasks();
        let found: Vec<&Value> = tasks.iter().filter(|task| task["title"] == title).collect();
        assert_eq!(found.len(), 1, "{title}: {tasks:?}");
        found[0].clone()
    }

    /// All prompts for tasks whose title begins like this, in order.
    pub(crate) fn prompts(&self, title: &str) -> Vec<String> {
        let of_title = |task: &&Value| task["title"].as_str().unwrap().starts_with(title);
        let mut prompts = Vec::new();
        for task in self.tasks().iter().filter(of_title) {
            let view = self.repo.json(&["task", "show", task["task_id"].as_str().unwrap()]);
            for attempt in view["attempts"].as_array().unwrap() {
                let id = attempt["attempt"]["id"].as_str().unwrap();
                let folder = self.repo.state().join("attempts").join(id).join("prompts");
                let mut files: Vec<_> =
                    fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
                files.sort();
                prompts.extend(files.iter().map(|file| fs::read_to_string(file).unwrap()));
            }
        }
        prompts
    }
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The answers of one iteration up to the last gate.
pub(crate) const ONE_ROUND: [&str; 7] = ["YES", "YES", "YES", "YES", "YES", "YES", "YES"];

pub(crate) fn one_round(last: &'static str) -> Vec<&'static str> {
    // Plan's gate; may run and done, twice; Execute's gate; discovered; Review's gate.
    ONE_ROUND.into_iter().chain([last]).collect()
}

/// A running `baton loop`.
pub(crate) struct InteractiveLoop {
    child: Child,
    typed: ChildStdin,
    lines: Lines<BufReader<ChildStderr>>,
}

impl InteractiveLoop {
    /// Waits for a line that contains this.
    pub(crate) fn wait_for_line(&mut self, what: &str) -> String {
        let mut seen = Vec::new();
        for line in self.lines.by_ref() {
            let line = line.unwrap();
            if line.contains(what) {
                return line;
            }
            seen.push(line);
        }
        panic!("no line contains {what:?}: {seen:#?}");
    }

    pub(crate) fn types(&mut self, line: &str) {
        writeln!(self.typed, "{line}").unwrap();
    }

    /// Sends SIGINT; returns the exit code and the rest of the output.
    pub(crate) fn interrupt(mut self) -> (Option<i32>, String) {
        assert!(
            Command::new("kill").args(["-INT", &self.child.id().to_string()]).status().unwrap().success()
        );
        let rest: Vec<String> = self.lines.by_ref().map(|line| line.unwrap()).collect();
        (self.child.wait().unwrap().code(), rest.join("\n"))
    }

    /// Sends SIGKILL.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

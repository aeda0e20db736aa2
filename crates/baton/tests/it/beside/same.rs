//! Each command gives the same output and exit code with a server and without.

use std::path::Path;

use serde_json::{Value, json};

use super::masked::Mask;
use crate::postgres;
use crate::server::test_server::TestServer;

/// Runs commands in which `$0`, `$1` stand for the tasks in the order they were added, and `?0` for a question.
struct CommandLog<'a> {
    server: &'a TestServer,
    mask: Mask,
}

impl<'a> CommandLog<'a> {
    fn new(server: &'a TestServer) -> Self {
        Self { server, mask: Mask::default() }
    }

    /// The command, its exit code and both output streams, masked.
    fn run(&mut self, words: &[String]) -> String {
        let mut command = self.server.command();
        let output = command.args(words).output().unwrap();
        let [printed, stderr] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        // Two repositories have different commits.
        let is_same = |line: &&str| !line.starts_with("Measured at ");
        let printed: String = printed.split_inclusive('\n').filter(is_same).collect();
        let shown = format!("$ {}\nexit {:?}\n{printed}--\n{stderr}", words.join(" "), output.status.code());
        self.mask.over(&shown).replace(self.server.folder.parent().unwrap().to_str().unwrap(), "HOME")
    }

    fn ids(&self, words: &[&str], list: &str, id: &str) -> Vec<String> {
        let mut command = self.server.command();
        let output = command.args(words).output().unwrap();
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        let found = found[list].as_array().unwrap();
        found.iter().map(|one| one[id].as_str().unwrap().to_owned()).collect()
    }

    fn run_all(&mut self, commands: &[&str]) -> Vec<String> {
        commands.iter().map(|line| self.run_line(line)).collect()
    }

    fn run_line(&mut self, line: &str) -> String {
        let number = |word: &str, mark| word.strip_prefix(mark)?.parse::<usize>().ok();
        let words: Vec<String> = line
            .split(' ')
            .map(|word| match (number(word, '$'), number(word, '?')) {
                (Some(task), _) => {
                    self.ids(&["--json", "task", "list"], "tasks", "task_id").swap_remove(task)
                }
                (_, Some(question)) => {
                    self.ids(&["--json", "questions"], "questions", "id").swap_remove(question)
                }
                (None, None) => word.replace('_', " "),
            })
            .collect();
        self.run(&words)
    }
}

const WITHOUT_AGENTS: [&str; 49] = [
    "task ready",
    "task add Fix_the_login --priority P1 --description It_fails",
    "--json task add Write_it_down --after $0",
    "task add x --after TASK-ffffffff",
    "task add  ",
    "task add x --recipe nothing",
    "task list",
    "task list --limit 1",
    "--json task list --queue incoming",
    "task list --cursor x",
    "task list --queue provisonal",
    "task ready",
    "--json task ready --limit 1",
    "task show $1",
    "--json task show $0",
    "task show zzz",
    "task show TASK-",
    "task log $0",
    "task diff $0",
    "task reply $0 yes",
    "task retry $0",
    "task cancel $0 --reason not_needed",
    "--json task cancel $0",
    "accept $1",
    "accept --all",
    "accept --all --dry-run",
    "accept $1 --dry-run",
    "--json accept --all",
    "reject $1 --reason no",
    "reject $1 --reason  ",
    "recycle $1",
    "breakdown list",
    "--json breakdown list",
    "breakdown run $1",
    "breakdown show $1",
    "breakdown approve $1",
    "breakdown reject $1 --reason no",
    "questions",
    "--json questions",
    "answer Q-00000001 yes",
    "answer 1 yes",
    "answer --queue YES",
    "--json answer --queue YES --task $1",
    "recipe list",
    "recipe start document-design --message Links_that_expire",
    "recipe start document-design",
    "--json recipe say And_that_are_short",
    "--json recipe exit",
    "recipe exit",
];

/// Two repositories without agents; in the second, a server runs.
#[test]
fn every_command_prints_the_same_with_and_without_a_server() {
    let (alone, mut served) = (TestServer::without_agents(), TestServer::without_agents().start());
    let without = CommandLog::new(&alone).run_all(&WITHOUT_AGENTS);
    let with = CommandLog::new(&served).run_all(&WITHOUT_AGENTS);
    for (without, with) in without.iter().zip(&with) {
        assert_eq!(without, with);
    }
    assert!(without[0].contains("No tasks available"), "{}", without[0]);
    // The commands used the server.
    let log = served.stop();
    for call in ["/api/tasks/ready", "/api/tasks/{id}/cancel", "/api/breakdowns", "/api/sessions/{id}/recipe"]
    {
        assert!(log.contains(call), "{call}");
    }
}

/// A repository with three tasks that agents worked on: one is finished, one burned out, one asks.
fn finished_work() -> TestServer {
    let mut server = TestServer::new(&json!([
        { "when": "Too much", "steps": [{ "turns": 50 }] },
        { "when": "Ask me", "resumed": false, "steps": [{ "ask": { "question": "Which one?", "options": ["A", "B"] } }] },
        { "when": "Just right", "steps": [
            { "say": "Working on it." },
            { "write": { "path": "done.txt", "text": "done\n" } },
            { "commit": "Do it" },
            { "result": { "status": "COMPLETE", "output": "It is done." } },
        ] },
    ]));
    let settings = server.folder.join(".agent/baton.toml");
    let text = std::fs::read_to_string(&settings).unwrap();
    std::fs::write(&settings, format!("recycle = \"manual\"\n{text}")).unwrap();
    server.up(&["--listen", "127.0.0.1:0", "--agents", "1"]);
    for (title, queue) in [("Just right", "provisional"), ("Too much", "provisional"), ("Ask me", "claimed")]
    {
        let output = server.command().args(["--json", "task", "add", title]).output().unwrap();
        let task: Value = serde_json::from_slice(&output.stdout).unwrap();
        let id = task["task_id"].as_str().unwrap();
        server.wait_for_queue(id, queue);
        if title == "Ask me" {
            server.wait_for_status(id, "AWAITING_RESPONSE");
        }
    }
    server.stop();
    server
}

const WITH_WORK: [&str; 26] = [
    "task list",
    "task show $0",
    "task show $2",
    "task log $0",
    "task diff $0",
    "questions",
    "accept --all --dry-run",
    "--json accept --all --recycle --dry-run",
    "accept $1",
    "accept --all",
    "accept $0",
    "reject $0 --reason too_late",
    "--json task show $1",
    "recycle $1",
    "recycle $0",
    "task show $1",
    "breakdown list",
    "breakdown run $3",
    "breakdown show $3",
    "breakdown edit $3 PLAN",
    "breakdown edit $3 BAD",
    "breakdown reject $3 --reason Two_is_too_few",
    "breakdown edit $3 PLAN",
    "breakdown approve $3",
    "answer ?0 A",
    "task show $2",
];

fn plans(folder: &Path) {
    std::fs::write(folder.join("PLAN"), "items:\n  - title: One\n  - title: Two\n    depends_on: [1]\n")
        .unwrap();
    std::fs::write(folder.join("BAD"), "items:\n  - title: One\n    depends_on: [7]\n").unwrap();
}

/// The text without the paragraphs that begin like this.
fn without_paragraph(text: &str, begins: &str) -> String {
    let paragraphs = text.split("\n\n").filter(|paragraph| !paragraph.starts_with(begins));
    paragraphs.collect::<Vec<_>>().join("\n\n")
}

#[test]
fn verdicts_plans_and_answers_are_the_same_with_and_without_a_server() {
    let (alone, mut served) = (finished_work(), finished_work());
    // Without agents, so that nothing changes between the commands.
    served.up(&["--listen", "127.0.0.1:0", "--agents", "0"]);
    plans(&alone.folder);
    plans(&served.folder);
    let without = CommandLog::new(&alone).run_all(&WITH_WORK);
    let with = CommandLog::new(&served).run_all(&WITH_WORK);
    // Only without a server there is a hint to start one; only a server knows that it has no agents.
    let (hint, reason) = (" when agents run: baton up", "Ready, but not started: ");
    assert!(
        without.iter().any(|outputs| outputs.contains(hint))
            && !with.iter().any(|outputs| outputs.contains(hint))
    );
    for (without, with) in without.iter().zip(&with) {
        assert_eq!(without.replace(hint, ""), without_paragraph(with, reason));
    }
    let outputs = without.join("\n");
    for expected in ["landed  Just right", "burned out", "Working on it.", "+done", "Approved. New tasks"] {
        assert!(outputs.contains(expected), "{expected}: {outputs}");
    }
}

#[test]
fn commands_send_the_token_of_a_public_server() {
    let mut server = TestServer::without_agents();
    server.up(&["--listen", "0.0.0.0:0"]);
    let outputs = CommandLog::new(&server).run_all(&["task add Fix_the_login", "task list"]);
    assert!(outputs[0].contains("Added TASK-") && outputs[1].contains("Fix the login"), "{outputs:?}");
    assert!(server.stop().contains("POST"), "the server was asked");
}

#[test]
fn on_postgresql_commands_use_only_the_server_of_their_own_store() {
    if let Some(reason) = postgres::missing() {
        assert!(std::env::var_os("CI").is_none(), "{reason}");
        return;
    }
    let store = crate::engine::store_choice::address();
    let namespace = format!("beside_{}", std::process::id());
    let variables = |name: &str| {
        vec![
            ("BATON_STORE".to_owned(), store.clone()),
            ("BATON_NAMESPACE".to_owned(), format!("{namespace}_{name}")),
        ]
    };
    let (mut alone, mut served) = (TestServer::without_agents(), TestServer::without_agents());
    alone.variables = variables("alone");
    served.variables = variables("served");
    served.up(&["--listen", "127.0.0.1:0"]);
    assert_eq!(
        CommandLog::new(&alone).run_all(&WITHOUT_AGENTS),
        CommandLog::new(&served).run_all(&WITHOUT_AGENTS)
    );
    // The namespace of the same name in a file is another store.
    let output = served.command().env_remove("BATON_STORE").args(["task", "list"]).output().unwrap();
    assert!(String::from_utf8(output.stdout).unwrap().contains("No tasks. Add one"));
}

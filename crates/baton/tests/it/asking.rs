//! Questions through the real binary: they outlive everything, and each is answered once.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

const PATIENCE: Duration = Duration::from_mins(4);

/// How many questions wait at once when Baton is killed. `BATON_QUESTIONS=1000` takes some minutes: every agent has a
/// worktree, twice.
const QUESTIONS: usize = 100;

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
        self.baton()
            .args(["up", "--listen", "127.0.0.1:0", "--agents", agents])
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    }

    fn show(&self, task: &str) -> Value {
        self.json(&["task", "show", task])
    }

    fn questions(&self) -> Vec<Value> {
        self.json(&["questions", "--limit", "5000"])["questions"].as_array().unwrap().clone()
    }
}

fn wait_for(what: &str, is_so: impl Fn() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < PATIENCE, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(50));
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
fn many_questions_survive_a_kill_and_every_agent_goes_on_with_its_own_answer() {
    let count = std::env::var("BATON_QUESTIONS").map_or(QUESTIONS, |count| count.parse().unwrap());
    let place = Place::new(&asks_then_tells(&json!({ "question": "What is the word for {{task}}?" })), "");
    let tasks: Vec<String> = place.add_many(count);
    let mut up = place.up("24");
    wait_for("all the questions", || place.questions().len() == count);
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
    wait_for("every task", || done().as_array().unwrap().len() == count);
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

#[test]
fn a_new_question_is_told_by_command_and_webhook_until_they_take_it() {
    let receiver = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = receiver.local_addr().unwrap();
    let place = Place::new(&asks_then_tells(&json!({ "question": "Which port?" })), "");
    let settings = fs_settings(
        &place,
        &format!(
            "[notify]\nwebhook = \"http://{address}/hook\"\ncommand = [\"sh\", \"-c\", \"cat > told-$BATON_NOTICE_KIND.json\"]\n"
        ),
    );
    std::fs::write(place.folder.join(".agent/baton.toml"), settings).unwrap();
    place.add("Ask", &["--type", "READ_INFO"]);
    let mut up = place.up("2");
    // The first try is refused, the second taken; both carry the same id.
    let ids: Vec<Value> =
        ["500 Busy", "204 No Content"].map(|status| take_post(&receiver, status)["id"].clone()).to_vec();
    assert_eq!(ids[0], ids[1]);
    wait_for("the command", || place.folder.join("told-question.json").exists());
    end(&mut up);
    let told: Value =
        serde_json::from_str(&std::fs::read_to_string(place.folder.join("told-question.json")).unwrap())
            .unwrap();
    assert_eq!(told["id"], ids[0]);
    assert!(told["text"].as_str().unwrap().starts_with("Which port?"), "{told}");
}

fn fs_settings(place: &Place, more: &str) -> String {
    std::fs::read_to_string(place.folder.join(".agent/baton.toml")).unwrap() + more
}

/// Takes one POST and answers it with this status.
fn take_post(receiver: &TcpListener, status: &str) -> Value {
    let (mut stream, _) = receiver.accept().unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if let Some(value) = line.strip_prefix("Content-Length: ") {
            length = value.trim().parse().unwrap();
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    write!(stream, "HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n").unwrap();
    serde_json::from_slice(&body).unwrap()
}

#[test]
fn an_answer_laid_down_before_is_given_once_and_recorded() {
    let place = Place::new(&asks_then_tells(&json!({ "question": "Which port?" })), "");
    let first = place.add("One", &["--type", "READ_INFO"]);
    let second = place.add("Two", &["--type", "READ_INFO"]);
    place.json(&["answer", "--queue", "8080", "--task", &second]);
    let mut up = place.up("2");
    wait_for("the second task", || place.show(&second)["queue"] == "done");
    wait_for("the first question", || place.questions().len() == 1);
    end(&mut up);
    assert_eq!(place.show(&second)["output"], format!("{second} heard 8080."));
    assert_eq!(place.questions()[0]["task_id"], first);
    // Laid down while the question waits, it is given at once.
    let queued = place.json(&["answer", "--queue", "9090"]);
    assert_eq!(queued["queued"], json!([]));
    assert!(place.questions().is_empty());
}

#[test]
fn a_question_that_expires_without_a_default_ends_its_work() {
    let script = asks_then_tells(&json!({ "question": "Which port?" }));
    let place = Place::new(&script, "[asking]\nexpires_after = 1\n");
    let task = place.add("Ask", &["--type", "READ_INFO"]);
    let mut up = place.up("2");
    wait_for("the question", || !place.questions().is_empty() || place.show(&task)["queue"] == "failed");
    up.kill().unwrap();
    up.wait().unwrap();
    // The timer survives the kill.
    let mut up = place.up("2");
    wait_for("the expiry", || place.show(&task)["queue"] == "failed");
    end(&mut up);
    assert!(place.questions().is_empty());
}

#[test]
fn whoever_follows_the_inbox_sees_a_question_when_it_comes() {
    let place = Place::new(&asks_then_tells(&json!({ "question": "Which port?" })), "");
    let mut following =
        place.baton().args(["--json", "questions", "--follow"]).stdout(Stdio::piped()).spawn().unwrap();
    let task = place.add("Ask", &["--type", "READ_INFO"]);
    let mut up = place.up("2");
    let line = BufReader::new(following.stdout.take().unwrap()).lines().next().unwrap().unwrap();
    let question: Value = serde_json::from_str(&line).unwrap();
    assert_eq!((&question["task_id"], &question["state"]), (&json!(task), &json!("pending")));
    following.kill().unwrap();
    following.wait().unwrap();
    end(&mut up);
}

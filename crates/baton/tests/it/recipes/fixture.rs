//! A repository with an agent for recipes, `baton up` on it, and the history of its runs.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use baton_engine::StoredEvent;
use baton_engine::base::ids::Ids;
use baton_engine::settings::location::{LocationOptions, StateLocation};
use baton_engine::tasks::service::TaskService;
use baton_server::live::wire;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::wait;

/// Far longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_mins(2);

/// A repository, and `baton up` on it.
pub(crate) struct RecipeFixture {
    pub(crate) folder: PathBuf,
    up: Option<Child>,
    _scratch: TempDir,
}

impl RecipeFixture {
    /// With the built-in scripted agent.
    pub(crate) fn scripted(script: &Value) -> Self {
        let fixture = Self::bare();
        fs::write(fixture.folder.join("script.json"), script.to_string()).unwrap();
        fixture.agent(&format!(
            "kind = \"scripted\"\ncommand = [\"{}\"]\n",
            fixture.folder.join("script.json").display()
        ));
        fixture
    }

    /// With a shell script as its agent.
    pub(crate) fn shell(script: &str) -> Self {
        let fixture = Self::bare();
        fs::write(fixture.folder.join("agent.sh"), script).unwrap();
        fixture.agent(&format!(
            "kind = \"command\"\ncommand = [\"sh\", \"{}\"]\n",
            fixture.folder.join("agent.sh").display()
        ));
        fixture
    }

    fn bare() -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().canonicalize().unwrap();
        fs::create_dir_all(folder.join(".agent/recipes")).unwrap();
        fs::write(folder.join(".gitignore"), "flags/\n").unwrap();
        fs::create_dir(folder.join("flags")).unwrap();
        Self { folder, up: None, _scratch: scratch }
    }

    fn agent(&self, agent: &str) {
        let settings = format!(
            "default_agent = \"mine\"\nmax_agents = 1\nlease_seconds = 5\nrecycle = \"manual\"\n[agents.mine]\n{agent}"
        );
        fs::write(self.folder.join(".agent/baton.toml"), settings).unwrap();
        git(&self.folder, &["init", "-q", "-b", "main"]);
        git(&self.folder, &["add", "-A"]);
        git(&self.folder, &["commit", "-q", "-m", "Begin"]);
    }

    pub(crate) fn recipe(&self, name: &str, text: &str) {
        fs::write(self.folder.join(".agent/recipes").join(name), text).unwrap();
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        baton(&self.folder).args(arguments).output().unwrap()
    }

    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let output = self.run(&[&["--json"], arguments].concat());
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Starts a recipe; returns the id of its task.
    pub(crate) fn start(&self, recipe: &str) -> String {
        self.json(&["recipe", "start", recipe])["task_id"].as_str().unwrap().to_owned()
    }

    pub(crate) fn up(&mut self) {
        let up = baton(&self.folder)
            .args(["up", "--listen", "127.0.0.1:0"])
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        self.up = Some(up);
    }

    /// Ends it with SIGTERM.
    pub(crate) fn end(&mut self) {
        let mut up = self.up.take().unwrap();
        Command::new("kill").args(["-TERM", &up.id().to_string()]).status().unwrap();
        assert!(up.wait().unwrap().success());
    }

    pub(crate) fn kill(&mut self) {
        let mut up = self.up.take().unwrap();
        up.kill().unwrap();
        up.wait().unwrap();
    }

    pub(crate) fn task(&self, id: &str) -> Value {
        self.json(&["task", "show", id])
    }

    pub(crate) fn history(&self) -> Vec<StoredEvent> {
        let place = StateLocation::find(&self.folder, &LocationOptions::default()).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let tasks = TaskService::new(place.open_store().await.unwrap(), Ids::random());
            let (mut all, mut after) = (Vec::new(), 0);
            loop {
                let page = tasks.events_after(after).await.unwrap();
                let Some(last) = page.last() else { break };
                after = last.seq;
                all.extend(page);
            }
            tasks.close().await.unwrap();
            all
        })
    }

    /// The messages about runs that a WebSocket client gets, in order.
    pub(crate) fn run_messages(&self) -> Vec<Value> {
        let messages = self.history().iter().filter_map(wire::message).collect::<Vec<_>>();
        let values = messages.into_iter().map(|message| serde_json::to_value(message).unwrap());
        values.filter(is_about_runs).collect()
    }

    /// The same as short lines.
    pub(crate) fn summary(&self) -> String {
        let mut text = String::new();
        for value in self.run_messages() {
            let field = |key: &str| value[key].as_str().unwrap_or_default().to_owned();
            let _ = match value["type"].as_str().unwrap() {
                "recipe_started" => writeln!(text, "started {}", field("recipe_id")),
                "recipe_step_started" => writeln!(text, "  {} ({})", field("step"), value["step_count"]),
                "recipe_step_transition" => writeln!(text, "  {} → {}", field("from_step"), field("to_step")),
                "orchestration_retry" => writeln!(text, "  retry: {}", field("error")),
                _ => {
                    writeln!(text, "exited {} [{}]: {}", field("reason"), field("category"), field("message"))
                }
            };
        }
        text
    }

    /// Waits until the run exits; returns the message about it.
    pub(crate) fn exit_message(&self) -> Value {
        self.wait("the run exits", || {
            self.run_messages().into_iter().find(|value| value["type"] == "recipe_exited")
        })
    }

    pub(crate) fn wait<T>(&self, what: &str, look: impl Fn() -> Option<T>) -> T {
        wait::until_some(PATIENCE, look, || format!("{what}\n{}", self.summary()))
    }

    pub(crate) fn wait_for_queue(&self, task: &str, queue: &str) -> Value {
        self.wait(&format!("{task} in {queue}"), || {
            Some(self.task(task)).filter(|view| view["queue"] == queue)
        })
    }

    pub(crate) fn wait_for_question(&self, task: &str) -> Value {
        self.wait(&format!("{task} asks"), || {
            Some(self.task(task)).filter(|view| view["status"] == "AWAITING_RESPONSE")
        })
    }

    pub(crate) fn flag(&self, name: &str) -> PathBuf {
        self.folder.join("flags").join(name)
    }

    /// All prompts of a task, in order, with the names of their files.
    pub(crate) fn prompts(&self, task: &str) -> Vec<(String, String)> {
        let mut prompts = Vec::new();
        for attempt in self.task(task)["attempts"].as_array().unwrap() {
            let id = attempt["attempt"]["id"].as_str().or(attempt["id"].as_str()).unwrap();
            let folder = self.folder.join(".agent/state/attempts").join(id).join("prompts");
            let mut files: Vec<PathBuf> =
                fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
            files.sort();
            prompts.extend(files.iter().map(|file| {
                let name = file.file_name().unwrap().to_string_lossy().into_owned();
                (name, fs::read_to_string(file).unwrap())
            }));
        }
        prompts
    }
}

impl Drop for RecipeFixture {
    fn drop(&mut self) {
        if let Some(up) = &mut self.up {
            // Baton ends its agents; a killed one has none left.
            let _ = Command::new("kill").args(["-TERM", &up.id().to_string()]).status();
            let _ = up.wait();
        }
    }
}

fn is_about_runs(value: &Value) -> bool {
    let kind = value["type"].as_str().unwrap();
    kind.starts_with("recipe") || kind == "orchestration_retry"
}

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

fn git(folder: &Path, arguments: &[&str]) {
    let identity = ["-c", "user.name=mia", "-c", "user.email=mia@example.org"];
    let status = Command::new("git").args(identity).args(arguments).current_dir(folder).status().unwrap();
    assert!(status.success(), "git {arguments:?}");
}

pub(crate) fn outcome(name: &str) -> Value {
    json!({ "outcome": { "outcome": name } })
}

/// An agent that completes every step with one file for each task.
pub(crate) fn good_agent() -> Vec<Value> {
    vec![
        json!({ "step": "implement", "when": "no task is described here", "steps": [outcome("no-tasks")] }),
        json!({ "step": "implement", "steps": [
            { "write": { "path": "{{task}}.txt", "text": "done\n" } }, outcome("complete") ] }),
        json!({ "step": "code-review", "steps": [outcome("no-issues")] }),
        json!({ "step": "commit", "steps": [{ "commit": "Do {{task}}" }, outcome("committed")] }),
    ]
}

pub(crate) fn script(scenes: &[Value]) -> Value {
    json!({ "scripts": scenes, "otherwise": [{ "say": "No scene fits." }] })
}

/// A recipe whose only step repeats until the agent reports `stop`.
pub(crate) fn looping(id: &str, guardrails: &str, again: &str) -> String {
    format!(
        "id: {id}\nlabel: Round and round\ndescription: It never stops by itself\ninitial_step: one\n\
         guardrails: {guardrails}\nsteps:\n  one:\n    prompt: Go round.\n    outcomes: [again, stop]\n    on_outcome:\n      \
         again: {again}\n      stop: {{ exit: stopped }}\n"
    )
}

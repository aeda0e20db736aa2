//! A repository for one test, with an agent that the test scripts, and `baton` commands in it.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::wait;

/// The longest anything may take on a busy machine before it counts as stuck.
const PATIENCE: Duration = Duration::from_mins(4);

pub(crate) struct TestRepo {
    _scratch: TempDir,
    /// Everything outside of the repository, such as the agent's script.
    pub(crate) home: PathBuf,
    pub(crate) folder: PathBuf,
    pub(crate) variables: Vec<(String, String)>,
    /// How long to wait for anything.
    pub(crate) patience: Duration,
}

impl TestRepo {
    /// A repository with one commit; the built-in scripted agent follows this script.
    pub(crate) fn scripted(script: &Value, settings: &str) -> Self {
        let repo = Self::bare();
        let path = repo.home.join("script.json");
        std::fs::write(&path, script.to_string()).unwrap();
        let agent = format!("[agents.scripted]\nkind = \"scripted\"\ncommand = [\"{}\"]\n", path.display());
        repo.with_settings(&format!("default_agent = \"scripted\"\n{settings}\n{agent}"))
    }

    /// The same with a shell script as the agent.
    pub(crate) fn with_agent(program: &str, settings: &str) -> Self {
        let repo = Self::bare();
        let path = repo.home.join("agent.sh");
        repo.set_agent(program);
        let agent =
            format!("[agents.mine]\nkind = \"command\"\ncommand = [\"sh\", \"{}\"]\n", path.display());
        repo.with_settings(&format!("default_agent = \"mine\"\n{settings}\n{agent}"))
    }

    /// A repository with one commit and these settings; the function may also write files to the home folder.
    pub(crate) fn of(settings: impl FnOnce(&Path) -> String) -> Self {
        let repo = Self::bare();
        let settings = settings(&repo.home);
        repo.with_settings(&settings)
    }

    /// With an agent that commits work for every task.
    pub(crate) fn with_working_agent(settings: &str) -> Self {
        Self::with_agent("turns 2; work", settings)
    }

    /// Replaces the script of the shell agent.
    pub(crate) fn set_agent(&self, program: &str) {
        let text = format!("set -eu\nprompt=$(cat)\n{SHELL_FUNCTIONS}\n{program}\n");
        std::fs::write(self.home.join("agent.sh"), text).unwrap();
    }

    fn bare() -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let home = scratch.path().canonicalize().unwrap();
        let folder = home.join("repository");
        std::fs::create_dir(&folder).unwrap();
        Self { _scratch: scratch, home, folder, variables: Vec::new(), patience: PATIENCE }
    }

    fn with_settings(self, settings: &str) -> Self {
        self.git(&["init", "-q", "-b", "main"]);
        std::fs::create_dir(self.folder.join(".agent")).unwrap();
        std::fs::write(self.folder.join(".agent/baton.toml"), settings).unwrap();
        std::fs::write(self.folder.join("README.md"), "# Here\n").unwrap();
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", "Begin"]);
        self
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let (worked, printed) = self.try_git(arguments);
        assert!(worked, "git {arguments:?}: {printed}");
        printed
    }

    pub(crate) fn try_git(&self, arguments: &[&str]) -> (bool, String) {
        let identity = ["-c", "user.name=mia", "-c", "user.email=mia@example.org"];
        let output =
            Command::new("git").args(identity).args(arguments).current_dir(&self.folder).output().unwrap();
        let printed = if output.status.success() { &output.stdout } else { &output.stderr };
        (output.status.success(), String::from_utf8_lossy(printed).trim_end().to_owned())
    }

    pub(crate) fn baton(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_baton"));
        command.args(arguments).current_dir(&self.folder).stdin(Stdio::null());
        command
            .env("BATON_USER", "mia")
            .env("BATON_FENCE", "off")
            .env_remove("BATON_STORE")
            .envs(self.variables.clone());
        command
    }

    /// Runs a command that may fail.
    pub(crate) fn output(&self, arguments: &[&str]) -> Output {
        self.baton(arguments).output().unwrap()
    }

    /// The standard output of a command that must succeed.
    pub(crate) fn stdout(&self, arguments: &[&str]) -> String {
        let output = self.output(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let arguments: Vec<&str> = [&["--json"], arguments].concat();
        serde_json::from_str(&self.stdout(&arguments)).unwrap()
    }

    pub(crate) fn add(&self, title: &str, after: &[&String]) -> String {
        let mut arguments = vec!["task", "add", title];
        for task in after {
            arguments.extend(["--after", task]);
        }
        self.json(&arguments)["task_id"].as_str().unwrap().to_owned()
    }

    pub(crate) fn show(&self, task: &str) -> Value {
        self.json(&["task", "show", task])
    }

    pub(crate) fn queue(&self, task: &str) -> String {
        self.show(task)["queue"].as_str().unwrap().to_owned()
    }

    pub(crate) fn status(&self, task: &str) -> String {
        self.show(task)["status"].as_str().unwrap().to_owned()
    }

    pub(crate) fn attempts(&self, task: &str) -> Vec<Value> {
        self.show(task)["attempts"].as_array().unwrap().clone()
    }

    /// The id of a task's last attempt.
    pub(crate) fn last_attempt(&self, task: &str) -> String {
        self.attempts(task).last().unwrap()["attempt"]["id"].as_str().unwrap().to_owned()
    }

    /// The last prompt for a task, as recorded by the agent.
    pub(crate) fn prompt(&self, task: &str) -> String {
        std::fs::read_to_string(self.home.join(format!("prompt-{task}"))).unwrap()
    }

    /// Waits until the condition is true.
    pub(crate) fn until(&self, what: &str, is_so: impl FnMut() -> bool) {
        wait::until(self.patience, is_so, || format!("{what}: {:#}", self.json(&["task", "list"])));
    }

    /// A failure shows the task's whole story, because a queue alone does not say how it came there.
    pub(crate) fn until_queue(&self, task: &str, queue: &str) {
        let story =
            || format!("{task} in {queue}: {:#}\n{}", self.show(task), self.stdout(&["task", "log", task]));
        wait::until(self.patience, || self.queue(task) == queue, story);
    }

    pub(crate) fn up(&self) -> BatonProcess {
        self.up_with(&[])
    }

    pub(crate) fn up_with(&self, more: &[&str]) -> BatonProcess {
        spawn_logged(self.baton(&["up", "--listen", "127.0.0.1:0"]).args(more))
    }

    /// Runs `baton up` until each of these tasks is in its queue.
    pub(crate) fn work_until(&self, wanted: &[(&String, &str)]) {
        let up = self.up();
        for (task, queue) in wanted {
            self.until_queue(task, queue);
        }
        up.end();
    }

    /// The state folder.
    pub(crate) fn state(&self) -> PathBuf {
        self.folder.join(".agent/state")
    }

    /// Restores an attempt's files into a new folder.
    pub(crate) fn restore(&self, attempt: &str) -> PathBuf {
        let into = self.home.join(format!("restored-{attempt}"));
        self.stdout(&["task", "restore", attempt, into.to_str().unwrap()]);
        into
    }
}

/// Starts a command and collects the lines on its standard error.
pub(crate) fn spawn_logged(command: &mut Command) -> BatonProcess {
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let (sender, lines) = channel();
    let stderr = BufReader::new(child.stderr.take().unwrap());
    std::thread::spawn(move || stderr.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
    BatonProcess { child, lines }
}

/// A running `baton up` or `baton worker`, ended when dropped.
pub(crate) struct BatonProcess {
    child: Child,
    lines: Receiver<String>,
}

impl BatonProcess {
    pub(crate) fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([name, &pid]).status().unwrap().success());
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits for a line that contains this.
    pub(crate) fn wait_for_line(&self, what: &str) -> String {
        let started = Instant::now();
        let mut seen = Vec::new();
        while let Ok(line) = self.lines.recv_timeout(PATIENCE.saturating_sub(started.elapsed())) {
            if line.contains(what) {
                return line;
            }
            seen.push(line);
        }
        panic!("no line contains \"{what}\": {seen:#?}");
    }

    /// Ends it with SIGTERM, like a service manager.
    pub(crate) fn end(mut self) {
        self.signal("-TERM");
        assert!(self.child.wait().unwrap().success());
    }

    /// Waits until it ends after a signal.
    pub(crate) fn wait_for_exit(mut self) {
        assert!(self.child.wait().unwrap().success());
    }

    /// Ends it with SIGKILL, like a power failure.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for BatonProcess {
    fn drop(&mut self) {
        if self.child.try_wait().is_ok_and(|status| status.is_some()) {
            return;
        }
        // The test failed; Baton still has to end its agents.
        let _ = Command::new("kill").args(["-CONT", &self.child.id().to_string()]).output();
        let _ = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).output();
        let _ = self.child.wait();
    }
}

/// What the shell agents share: an identity for git, functions that use turns, hang until killed, and commit work.
pub(crate) const SHELL_FUNCTIONS: &str = r#"
export GIT_AUTHOR_NAME=agent GIT_AUTHOR_EMAIL=agent@localhost GIT_COMMITTER_NAME=agent GIT_COMMITTER_EMAIL=agent@localhost
turns() { for turn in $(seq "$1"); do echo '{"baton":"turn"}'; done; }
hang() { exec tail -f /dev/null; }
work() { echo "attempt $BATON_ATTEMPT_NUMBER" >> "$BATON_TASK_ID.txt"; git add -A; git commit -q -m "Work on $BATON_TASK_ID"; }
"#;

/// The command lines of an attempt's processes, found by the attempt id in their environment.
pub(crate) fn processes(attempt: &str) -> Vec<String> {
    let mark = format!("BATON_ATTEMPT_ID={attempt}");
    let found = std::fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| {
        let environment = std::fs::read(entry.path().join("environ")).ok()?;
        let is_one = environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes());
        is_one.then(|| std::fs::read(entry.path().join("cmdline")).ok()).flatten()
    });
    found
        .filter(|line| !line.is_empty())
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .collect()
}

pub(crate) fn read(path: impl AsRef<Path>) -> String {
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.as_ref().display()))
}

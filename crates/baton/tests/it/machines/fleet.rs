//! A fleet for one test: a bare repository as the remote, a namespace on the tests' PostgreSQL, and machines that share
//! nothing else.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use crate::engine::test_repo::{BatonProcess, SHELL_FUNCTIONS, spawn_logged};
use crate::wait;

/// The longest anything may take on a busy machine before it counts as stuck.
const PATIENCE: Duration = Duration::from_mins(2);

pub(crate) struct Fleet {
    _scratch: TempDir,
    pub(crate) home: PathBuf,
    pub(crate) remote: PathBuf,
    pub(crate) store: String,
    pub(crate) namespace: String,
    /// The agent of every machine, a shell script.
    program: PathBuf,
}

impl Fleet {
    pub(crate) fn new(store: String, name: &str, agent: &str) -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let home = scratch.path().canonicalize().unwrap();
        let remote = home.join("app.git");
        let begin = home.join("begin");
        std::fs::create_dir(&begin).unwrap();
        std::fs::write(begin.join("README.md"), "# Here\n").unwrap();
        let git = |folder: &Path, words: &[&str]| {
            let identity = ["-c", "user.name=mia", "-c", "user.email=mia@example.org"];
            let done = Command::new("git").args(identity).args(words).current_dir(folder).output().unwrap();
            assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
        };
        git(&begin, &["init", "-q", "-b", "main"]);
        git(&begin, &["add", "-A"]);
        git(&begin, &["commit", "-q", "-m", "Begin"]);
        git(&home, &["clone", "-q", "--bare", "begin", "app.git"]);
        git(&remote, &["config", "uploadpack.allowFilter", "true"]);
        let program = home.join("agent.sh");
        let namespace = format!("{name}_{}", std::process::id());
        let fleet = Self { _scratch: scratch, home, remote, store, namespace, program };
        fleet.set_agent(agent);
        fleet
    }

    /// Replaces the script of the agent.
    pub(crate) fn set_agent(&self, agent: &str) {
        std::fs::write(&self.program, format!("set -eu\nprompt=$(cat)\n{SHELL_FUNCTIONS}\n{agent}\n"))
            .unwrap();
    }

    /// A machine with its own folder, which is no repository, and these settings in addition to the agent's.
    pub(crate) fn machine(&self, name: &str, settings: &str) -> Machine {
        let folder = self.home.join(name);
        std::fs::create_dir_all(folder.join(".agent")).unwrap();
        let agent = format!(
            "default_agent = \"mine\"\n{settings}\n[agents.mine]\nkind = \"command\"\ncommand = [\"sh\", \"{}\"]\n",
            self.program.display()
        );
        std::fs::write(folder.join(".agent/baton.toml"), agent).unwrap();
        Machine {
            folder,
            prefix: Vec::new(),
            variables: vec![
                ("BATON_STORE".to_owned(), self.store.clone()),
                ("BATON_NAMESPACE".to_owned(), self.namespace.clone()),
                ("BATON_USER".to_owned(), "mia".to_owned()),
            ],
        }
    }

    /// The same with tables at the end of the settings.
    pub(crate) fn machine_with(&self, name: &str, tables: &str) -> Machine {
        let machine = self.machine(name, "");
        let file = machine.folder.join(".agent/baton.toml");
        let settings = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, format!("{settings}{tables}")).unwrap();
        machine
    }

    pub(crate) fn git(&self, words: &[&str]) -> String {
        let done = Command::new("git").args(words).current_dir(&self.remote).output().unwrap();
        assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8_lossy(&done.stdout).trim_end().to_owned()
    }

    /// A person commits a file and pushes it to the remote's main branch.
    pub(crate) fn push_file(&self, name: &str) {
        let folder = self.home.join("begin");
        std::fs::write(folder.join(name), "by hand\n").unwrap();
        let remote = self.remote.to_str().unwrap();
        for words in [&["add", "-A"][..], &["commit", "-q", "-m", "By hand"], &["push", "-q", remote, "main"]]
        {
            let identity = ["-c", "user.name=mia", "-c", "user.email=mia@example.org"];
            let done = Command::new("git").args(identity).args(words).current_dir(&folder).output().unwrap();
            assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
        }
    }

    /// Somebody takes the last commit of the remote's branch back.
    pub(crate) fn take_back(&self) {
        let folder = self.home.join("begin");
        let remote = self.remote.to_str().unwrap();
        for words in [&["reset", "-q", "--hard", "HEAD~1"][..], &["push", "-q", "-f", remote, "main"]] {
            let done = Command::new("git").args(words).current_dir(&folder).output().unwrap();
            assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
        }
    }

    /// The files of a branch of the remote.
    pub(crate) fn files(&self, branch: &str) -> Vec<String> {
        self.git(&["ls-tree", "-r", "--name-only", branch]).lines().map(str::to_owned).collect()
    }
}

/// One machine of the fleet.
pub(crate) struct Machine {
    pub(crate) folder: PathBuf,
    /// The words before every command, such as those that enter a network namespace.
    pub(crate) prefix: Vec<String>,
    pub(crate) variables: Vec<(String, String)>,
}

impl Machine {
    fn baton(&self, words: &[&str]) -> Command {
        let mut all: Vec<&str> = self.prefix.iter().map(String::as_str).collect();
        all.push(env!("CARGO_BIN_EXE_baton"));
        all.extend(words);
        let mut command = Command::new(all[0]);
        command.args(&all[1..]).current_dir(&self.folder).stdin(Stdio::null());
        command.env("BATON_FENCE", "off").envs(self.variables.clone());
        command
    }

    pub(crate) fn up(&self, more: &[&str]) -> BatonProcess {
        spawn_logged(self.baton(&["up", "--listen", "127.0.0.1:0"]).args(more))
    }

    pub(crate) fn worker(&self, more: &[&str]) -> BatonProcess {
        spawn_logged(self.baton(&["worker"]).args(more))
    }

    pub(crate) fn stdout(&self, words: &[&str]) -> String {
        let done = self.baton(words).output().unwrap();
        assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap()
    }

    pub(crate) fn json(&self, words: &[&str]) -> Value {
        serde_json::from_str(&self.stdout(&[&["--json"], words].concat())).unwrap()
    }

    /// Whether it succeeded, and its standard output.
    pub(crate) fn try_stdout(&self, words: &[&str]) -> (bool, String) {
        let done = self.baton(words).output().unwrap();
        (done.status.success(), String::from_utf8_lossy(&done.stdout).into_owned())
    }

    /// Whether it succeeded, and its standard error.
    pub(crate) fn try_run(&self, words: &[&str]) -> (bool, String) {
        let done = self.baton(words).output().unwrap();
        (done.status.success(), String::from_utf8_lossy(&done.stderr).into_owned())
    }

    pub(crate) fn project(&self, fleet: &Fleet) -> String {
        let made = self.json(&["project", "create", "App", "--remote", fleet.remote.to_str().unwrap()]);
        made["project_id"].as_str().unwrap().to_owned()
    }

    pub(crate) fn add(&self, project: &str, title: &str, more: &[&str]) -> String {
        let words = [&["task", "add", title, "--project", project], more].concat();
        self.json(&words)["task_id"].as_str().unwrap().to_owned()
    }

    pub(crate) fn task(&self, task: &str) -> Value {
        self.json(&["task", "show", task])
    }

    pub(crate) fn until(&self, what: &str, is_so: impl FnMut() -> bool) {
        wait::until(PATIENCE, is_so, || format!("{what}: {:#}", self.json(&["task", "list"])));
    }

    pub(crate) fn until_queue(&self, task: &str, queue: &str) {
        self.until(&format!("{task} in {queue}"), || self.task(task)["queue"] == queue);
    }
}

//! Real agents with a scripted model. They are installed by `scripts/real-agents`; those that are not there are
//! skipped, and say so.

#![expect(clippy::print_stderr, reason = "a test that was skipped says so where tests talk")]

mod agents;
mod cases;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use baton_agents::asker::{Asker, Nobody};
use baton_agents::driver::{Launch, Limits};
use baton_agents::drivers;
use baton_agents::environment::Environment;
use baton_agents::permission::{Decision, Permissions};
use baton_agents::preset::Preset;
use baton_agents::setup::Setup;
use serde_json::Value;

use crate::bench::{Bench, Ran, clock, drive_within};
use crate::model::Model;

/// Real agents load for a long time, and this machine may be busy.
const DEADLINE: Duration = Duration::from_mins(4);

/// One real agent, and how it is told of the scripted model.
pub struct Real {
    pub preset: &'static str,
    /// The folder it is installed in, and its program there.
    pub folder: &'static str,
    pub program: &'static str,
    /// Variables and files that send it to the model; the last is whether it shall ask before it does anything.
    pub point: fn(&Stage, bool) -> Vec<(&'static str, String)>,
}

/// A worktree beside its repository, a home, and a model.
pub struct Stage {
    pub bench: Bench,
    pub model: Model,
    pub home: PathBuf,
}

/// Where they are installed.
fn installed() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/real-agents");
    std::env::var_os("BATON_REAL_AGENTS").map_or(here, PathBuf::from)
}

impl Real {
    /// None, with a line that says so, when it is not installed.
    pub fn stage(&self, steps: &Value) -> Option<Stage> {
        let program = self.path();
        if !program.exists() {
            eprintln!(
                "SKIPPED: {} is not there; `scripts/real-agents {}` installs it",
                program.display(),
                self.folder
            );
            return None;
        }
        let bench = Bench::new();
        let model = Model::start(&bench, steps);
        // Not under /tmp, where Codex refuses to keep its sandbox.
        let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("home-{}", bench.attempt));
        std::fs::create_dir_all(&home).unwrap();
        let stage = Stage { bench, model, home };
        stage.link_worktree();
        Some(stage)
    }

    fn path(&self) -> PathBuf {
        installed().join(self.folder).join(self.program)
    }

    fn launch(&self, stage: &Stage, asks: bool) -> Launch {
        let preset = Preset::named(self.preset).unwrap();
        let mut command: Vec<String> = preset.command.iter().map(|&word| word.to_owned()).collect();
        self.path().to_str().unwrap().clone_into(&mut command[0]);
        let mut launch = stage.bench.launch(&[]);
        launch.command = command;
        launch.worktree = stage.worktree();
        launch.environment = Environment::allowed(std::env::vars_os(), &[]);
        let node = installed().join("node/node_modules/node/bin");
        let path = std::env::var("PATH").unwrap();
        launch.environment.set("PATH", format!("{}:{path}", node.display()));
        launch.environment.set("HOME", stage.home.as_os_str());
        launch.environment.set("XDG_CONFIG_HOME", stage.home.join(".config").as_os_str());
        launch.environment.set("XDG_DATA_HOME", stage.home.join(".local/share").as_os_str());
        for (name, value) in (self.point)(stage, asks) {
            launch.environment.set(name, value);
        }
        launch.limits = Limits { grace: Duration::from_secs(3), ..Limits::default() };
        let main = stage.bench.path("main").canonicalize().unwrap();
        launch.session.git_folders = vec![main.join(".git/worktrees/linked"), main.join(".git")];
        launch
    }

    pub async fn run(&self, stage: &Stage, change: impl Fn(&mut Launch)) -> Ran {
        self.run_asking(stage, false, Decision::Allow, Nobody, change).await
    }

    pub async fn run_asking(
        &self,
        stage: &Stage,
        asks: bool,
        permissions: impl Permissions + 'static,
        asker: impl Asker + 'static,
        change: impl Fn(&mut Launch),
    ) -> Ran {
        let mut launch = self.launch(stage, asks);
        change(&mut launch);
        let preset = *Preset::named(self.preset).unwrap();
        let setup = Setup::new(clock(), preset).permissions(Arc::new(permissions)).asker(Arc::new(asker));
        drive_within(DEADLINE, drivers::for_kind(preset.kind, setup).as_ref(), launch, |_| false).await
    }
}

impl Stage {
    pub fn worktree(&self) -> PathBuf {
        self.bench.path("linked").canonicalize().unwrap()
    }

    fn link_worktree(&self) {
        let main = self.bench.path("main");
        std::fs::create_dir(&main).unwrap();
        for words in [
            vec!["init", "-q", "-b", "main"],
            vec!["config", "user.name", "Real Agent"],
            vec!["config", "user.email", "real@baton.invalid"],
            vec!["commit", "-q", "--allow-empty", "-m", "first"],
            vec!["worktree", "add", "-q", "../linked", "-b", "work"],
        ] {
            git(&main, &words);
        }
    }

    pub fn git(&self, words: &[&str]) -> String {
        git(&self.worktree(), words)
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.home);
    }
}

fn git(folder: &Path, words: &[&str]) -> String {
    let output = std::process::Command::new("git").args(words).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

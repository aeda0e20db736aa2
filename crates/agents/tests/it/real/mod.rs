//! Real agents with a scripted model. `scripts/real-agents` installs them; tests of missing ones report that they were
//! skipped.

#![expect(clippy::print_stderr, reason = "a test that was skipped says so where tests talk")]

#[expect(dead_code, reason = "some are run under the whole program only")]
mod agents;
mod cases;
mod failures;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use baton_agents::asking::asker::{Asker, NoAsker};
use baton_agents::asking::permission::{PermissionDecision, PermissionPolicy};
use baton_agents::driver::setup::AgentSetup;
use baton_agents::driver::{Launch, RunLimits};
use baton_agents::presets::preset::Preset;
use baton_agents::process::environment::AgentEnvironment;
use baton_agents::protocols;
use serde_json::Value;

use self::agents::{Home, Real, installed};
use crate::bench::{Bench, FinishedRun, clock, drive_within};
use crate::model::Model;

/// Real agents start slowly, and the machine may be busy.
const DEADLINE: Duration = Duration::from_mins(4);

/// A repository with a linked worktree, a home and a model.
pub(crate) struct ScriptStage {
    pub(crate) bench: Bench,
    pub(crate) model: Model,
    home: PathBuf,
    program: PathBuf,
}

impl Real {
    /// None, with a message, if it is not installed.
    pub(crate) fn stage(&self, steps: &Value) -> Option<ScriptStage> {
        let program = self.installed_program()?;
        let bench = Bench::new();
        let model = Model::start(&bench, steps);
        // Not under /tmp, where Codex refuses to create its sandbox.
        let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("home-{}", bench.attempt));
        std::fs::create_dir_all(&home).unwrap();
        let stage = ScriptStage { bench, model, home, program };
        stage.link_worktree();
        Some(stage)
    }

    fn launch(&self, stage: &ScriptStage, asks: bool) -> Launch {
        let preset = Preset::by_name(self.preset).unwrap();
        let mut command: Vec<String> = preset.command.iter().map(|&word| word.to_owned()).collect();
        assert_eq!(command[1..], *self.arguments, "as it is known");
        stage.program.to_str().unwrap().clone_into(&mut command[0]);
        let mut launch = stage.bench.launch(&[]);
        launch.command = command;
        launch.worktree = stage.worktree();
        launch.environment = AgentEnvironment::allowed(std::env::vars_os(), &[]);
        let node = installed().join("node/node_modules/node/bin");
        let path = std::env::var("PATH").unwrap();
        launch.environment.set("PATH", format!("{}:{path}", node.display()));
        launch.environment.set("HOME", stage.home.as_os_str());
        launch.environment.set("XDG_CONFIG_HOME", stage.home.join(".config").as_os_str());
        launch.environment.set("XDG_DATA_HOME", stage.home.join(".local/share").as_os_str());
        let home = Home { folder: stage.home.clone(), model: stage.model.url() };
        for (name, value) in (self.point)(&home, asks) {
            launch.environment.set(name, value);
        }
        launch.limits = RunLimits { grace: Duration::from_secs(3), ..RunLimits::default() };
        let main = stage.bench.path("main").canonicalize().unwrap();
        launch.session.git_folders = vec![main.join(".git/worktrees/linked"), main.join(".git")];
        launch
    }

    pub(crate) async fn run(&self, stage: &ScriptStage, change: impl Fn(&mut Launch)) -> FinishedRun {
        self.run_asking(stage, false, PermissionDecision::Allow, NoAsker, change).await
    }

    pub(crate) async fn run_asking(
        &self,
        stage: &ScriptStage,
        asks: bool,
        permissions: impl PermissionPolicy + 'static,
        asker: impl Asker + 'static,
        change: impl Fn(&mut Launch),
    ) -> FinishedRun {
        let mut launch = self.launch(stage, asks);
        change(&mut launch);
        let preset = *Preset::by_name(self.preset).unwrap();
        let setup =
            AgentSetup::new(clock(), preset).permissions(Arc::new(permissions)).asker(Arc::new(asker));
        drive_within(DEADLINE, protocols::for_kind(preset.kind, setup).as_ref(), launch, |_| false).await
    }
}

impl ScriptStage {
    pub(crate) fn worktree(&self) -> PathBuf {
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

    pub(crate) fn git(&self, words: &[&str]) -> String {
        git(&self.worktree(), words)
    }
}

impl Drop for ScriptStage {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.home);
    }
}

fn git(folder: &Path, words: &[&str]) -> String {
    let output = std::process::Command::new("git").args(words).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

//! Real agents under `baton up`, with a scripted model. `scripts/real-agents` installs them; tests of missing ones report
//! that they were skipped.

#![expect(clippy::print_stderr, reason = "a test that was skipped says so on standard error")]

// The tests of the drivers use the same list of agents.
#[path = "../../../../../agents/tests/it/real/agents.rs"]
mod agents;
mod cases;
mod model;
mod table;

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use self::agents::{Home, Real, installed};
use self::model::Model;
use crate::engine::test_repo::TestRepo;

/// Real agents start slowly, and the machine may be busy.
const PATIENCE: Duration = Duration::from_mins(4);

pub(crate) struct AgentStage {
    pub(crate) repo: TestRepo,
    pub(crate) model: Model,
    home: PathBuf,
}

/// How a case differs from the default.
#[derive(Default)]
pub(crate) struct StageOptions {
    pub(crate) asks: bool,
    pub(crate) agent: &'static str,
    pub(crate) settings: &'static str,
    /// The agent gets a wrong address of its tools.
    pub(crate) is_cut_off: bool,
}

impl Real {
    /// None, with a message, if it is not installed.
    pub(crate) fn stage(
        &self,
        steps: impl FnOnce(&Path) -> Value,
        options: &StageOptions,
    ) -> Option<AgentStage> {
        let program = self.installed_program()?;
        let mut model = None;
        let mut variables = Vec::new();
        let mut home = PathBuf::new();
        let mut repo = TestRepo::of(|scratch| {
            let running = Model::start(scratch, &steps(scratch));
            // Not under /tmp, where Codex refuses to create its sandbox.
            home = Path::new(env!("CARGO_TARGET_TMPDIR")).join(scratch.file_name().unwrap());
            std::fs::create_dir_all(&home).unwrap();
            variables = (self.point)(&Home { folder: home.clone(), model: running.url() }, options.asks);
            model = Some(running);
            self.settings(&program, scratch, &variables, options)
        });
        let path = std::env::var("PATH").unwrap();
        let node = installed().join("node/node_modules/node/bin");
        let usual = [
            ("PATH", format!("{}:{path}", node.display())),
            ("HOME", home.display().to_string()),
            ("XDG_CONFIG_HOME", home.join(".config").display().to_string()),
            ("XDG_DATA_HOME", home.join(".local/share").display().to_string()),
            ("XDG_STATE_HOME", home.join(".local/state").display().to_string()),
            ("XDG_CACHE_HOME", home.join(".cache").display().to_string()),
        ];
        repo.variables =
            usual.into_iter().chain(variables).map(|(name, value)| (name.to_owned(), value)).collect();
        repo.patience = PATIENCE;
        std::fs::write(home.join(".gitconfig"), "[user]\nname = Real Agent\nemail = real@baton.invalid\n")
            .unwrap();
        Some(AgentStage { repo, model: model.unwrap(), home })
    }

    fn settings(
        &self,
        program: &Path,
        scratch: &Path,
        variables: &[(&'static str, String)],
        options: &StageOptions,
    ) -> String {
        let mut command = vec![program.display().to_string()];
        command.extend(self.arguments.iter().map(|&word| word.to_owned()));
        if options.is_cut_off {
            // Replaces the address of the tools on its way to the agent by one that does not exist.
            let wrapper = scratch.join("cut-off.sh");
            let words = command.join("' '");
            std::fs::write(&wrapper, format!("sed -u 's#/mcp\"#/gone\"#g' | '{words}'\n")).unwrap();
            command = vec!["sh".to_owned(), wrapper.display().to_string()];
        }
        let names: Vec<&str> = variables.iter().map(|(name, _)| *name).collect();
        let kind =
            if self.preset.ends_with("-native") { self.preset.trim_end_matches("-native") } else { "acp" };
        format!(
            "default_agent = \"real\"\n{}{}\n[agents.real]\nkind = \"{kind}\"\ncommand = {command:?}\nenv = {names:?}\n{}\n{}\n",
            std::env::var("BATON_REAL_FENCE").map(|mode| format!("fence = \"{mode}\"\n")).unwrap_or_default(),
            options.settings,
            options.agent,
            if options.asks { "" } else { "permissions = \"allow\"" },
        )
    }
}

impl Drop for AgentStage {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.home);
    }
}

//! Real agents under `baton up`, with a scripted model. `scripts/real-agents` installs them; those that are not there are
//! skipped, and say so.

#![expect(clippy::print_stderr, reason = "a test that was skipped says so where tests talk")]

mod agents;
mod cases;
mod model;

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use crate::engine::shop::Shop;
use model::Model;

/// Real agents load for a long time, and the machine may be busy.
const PATIENCE: Duration = Duration::from_mins(4);

/// One real agent, and how it is told of the scripted model.
pub struct Real {
    /// Its name in the settings, where it is known.
    pub preset: &'static str,
    /// The folder it is installed in, and its command there.
    pub folder: &'static str,
    pub command: &'static [&'static str],
    /// Variables that send it to the model, and the names among them that are on no list. The last argument is
    /// whether it shall ask before it does anything.
    pub point: fn(&Home, bool) -> Vec<(&'static str, String)>,
}

/// Where it keeps its things, and its model.
pub struct Home {
    pub folder: PathBuf,
    pub model: String,
}

pub struct Stage {
    pub shop: Shop,
    pub model: Model,
    home: PathBuf,
}

/// What a case wants to be different.
#[derive(Default)]
pub struct Wishes {
    pub asks: bool,
    pub agent: &'static str,
    pub settings: &'static str,
    /// Its tools are not where it is told.
    pub is_cut_off: bool,
}

fn installed() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/real-agents");
    std::env::var_os("BATON_REAL_AGENTS").map_or(here, PathBuf::from)
}

impl Real {
    /// None, with a line that says so, when it is not installed.
    pub fn stage(&self, steps: impl FnOnce(&Path) -> Value, wishes: &Wishes) -> Option<Stage> {
        let program = installed().join(self.folder).join(self.command[0]);
        if !program.exists() {
            let (path, folder) = (program.display(), self.folder);
            eprintln!("SKIPPED: {path} is not there; `scripts/real-agents {folder}` installs it");
            return None;
        }
        let mut model = None;
        let mut variables = Vec::new();
        let mut home = PathBuf::new();
        let mut shop = Shop::of(|scratch| {
            let running = Model::start(scratch, &steps(scratch));
            // Not under /tmp, where Codex refuses to keep its sandbox.
            home = Path::new(env!("CARGO_TARGET_TMPDIR")).join(scratch.file_name().unwrap());
            std::fs::create_dir_all(&home).unwrap();
            variables = (self.point)(&Home { folder: home.clone(), model: running.url() }, wishes.asks);
            model = Some(running);
            self.settings(&program, scratch, &variables, wishes)
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
        shop.variables =
            usual.into_iter().chain(variables).map(|(name, value)| (name.to_owned(), value)).collect();
        shop.patience = PATIENCE;
        std::fs::write(home.join(".gitconfig"), "[user]\nname = Real Agent\nemail = real@baton.invalid\n")
            .unwrap();
        Some(Stage { shop, model: model.unwrap(), home })
    }

    fn settings(
        &self,
        program: &Path,
        scratch: &Path,
        variables: &[(&'static str, String)],
        wishes: &Wishes,
    ) -> String {
        let mut command = vec![program.display().to_string()];
        command.extend(self.command[1..].iter().map(|&word| word.to_owned()));
        if wishes.is_cut_off {
            // Between Baton and the agent, the address of the tools becomes one where there are none.
            let wrapper = scratch.join("cut-off.sh");
            let words = command.join("' '");
            std::fs::write(&wrapper, format!("sed -u 's#/mcp\"#/gone\"#g' | '{words}'\n")).unwrap();
            command = vec!["sh".to_owned(), wrapper.display().to_string()];
        }
        let names: Vec<&str> = variables.iter().map(|(name, _)| *name).collect();
        let kind =
            if self.preset.ends_with("-native") { self.preset.trim_end_matches("-native") } else { "acp" };
        format!(
            "default_agent = \"real\"\n{}\n[agents.real]\nkind = \"{kind}\"\ncommand = {command:?}\nenv = {names:?}\n{}\n{}\n",
            wishes.settings,
            wishes.agent,
            if wishes.asks { "" } else { "permissions = \"allow\"" },
        )
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.home);
    }
}

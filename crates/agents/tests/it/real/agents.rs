//! The real agents, and how each is pointed to the scripted model instead of its provider. Used by the tests of the
//! drivers and by the end-to-end tests.

use std::path::{Path, PathBuf};

use serde_json::json;

/// One real agent.
pub(super) struct Real {
    /// Its name in the settings.
    pub(crate) preset: &'static str,
    /// The folder it is installed in, its program there, and the arguments.
    pub(crate) folder: &'static str,
    pub(crate) program: &'static str,
    pub(crate) arguments: &'static [&'static str],
    /// Writes the files and returns the variables that point it to the model; the flag makes it ask for permissions.
    pub(crate) point: fn(&Home, bool) -> Vec<(&'static str, String)>,
}

/// The home of an agent, and the URL of its model.
pub(super) struct Home {
    pub(crate) folder: PathBuf,
    pub(crate) model: String,
}

impl Real {
    /// None, with a message, if it is not installed.
    pub(super) fn installed_program(&self) -> Option<PathBuf> {
        let program = installed().join(self.folder).join(self.program);
        if program.exists() {
            return Some(program);
        }
        let (path, folder) = (program.display(), self.folder);
        eprintln!("SKIPPED: {path} is not there; `scripts/real-agents {folder}` installs it");
        None
    }
}

/// The folder of `scripts/real-agents`.
pub(super) fn installed() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/real-agents");
    std::env::var_os("BATON_REAL_AGENTS").map_or(here, PathBuf::from)
}

pub(super) const GOOSE: Real = Real {
    preset: "goose",
    folder: "goose",
    program: "node_modules/@aaif/goose-binary-linux-x64/bin/goose",
    arguments: &["acp"],
    point: |home, asks| {
        vec![
            ("GOOSE_PROVIDER", "openai".to_owned()),
            ("GOOSE_MODEL", "gpt-4o".to_owned()),
            ("OPENAI_HOST", home.model.clone()),
            ("OPENAI_API_KEY", "none".to_owned()),
            ("GOOSE_MODE", if asks { "approve" } else { "auto" }.to_owned()),
        ]
    },
};

pub(super) const OPENCODE: Real = Real {
    preset: "opencode",
    folder: "opencode",
    program: "node_modules/.bin/opencode",
    arguments: &["acp"],
    point: |home, asks| {
        let provider = json!({
            "npm": "@ai-sdk/openai-compatible",
            "name": "scripted",
            "options": {"baseURL": format!("{}/v1", home.model), "apiKey": "none"},
            "models": {"one": {"name": "one", "limit": {"context": 100_000, "output": 10_000}}},
        });
        let permission = if asks { "ask" } else { "allow" };
        let config = json!({
            "model": "scripted/one",
            "small_model": "scripted/one",
            "provider": {"scripted": provider},
            "permission": {"bash": permission, "edit": permission},
        });
        // Without these it waits half a minute for unreachable servers.
        let off = [
            "OPENCODE_DISABLE_MODELS_FETCH",
            "OPENCODE_DISABLE_LSP_DOWNLOAD",
            "OPENCODE_DISABLE_DEFAULT_PLUGINS",
        ];
        let off = off.map(|name| (name, "1".to_owned()));
        // Otherwise it installs a package into its settings folder, which takes minutes.
        let settings = installed().join("opencode-config").display().to_string();
        let more = [("OPENCODE_CONFIG_CONTENT", config.to_string()), ("XDG_CONFIG_HOME", settings)];
        off.into_iter().chain(more).collect()
    },
};

pub(super) const CLAUDE: Real = Real {
    preset: "claude",
    folder: "claude",
    program: "node_modules/.bin/claude-agent-acp",
    arguments: &[],
    point: claude,
};

pub(super) const CLAUDE_NATIVE: Real = Real {
    preset: "claude-native",
    folder: "claude",
    program: "node_modules/.bin/claude",
    arguments: &[],
    point: claude,
};

fn claude(home: &Home, _: bool) -> Vec<(&'static str, String)> {
    vec![
        ("ANTHROPIC_BASE_URL", home.model.clone()),
        ("ANTHROPIC_API_KEY", "none".to_owned()),
        ("CLAUDE_CODE_MAX_RETRIES", "1".to_owned()),
        ("IS_SANDBOX", "1".to_owned()),
    ]
}

pub(super) const CODEX: Real = Real {
    preset: "codex",
    folder: "codex",
    program: "node_modules/.bin/codex-acp",
    arguments: &[],
    point: codex,
};

pub(super) const CODEX_NATIVE: Real = Real {
    preset: "codex-native",
    folder: "codex",
    program: "node_modules/.bin/codex",
    arguments: &[],
    point: codex,
};

fn codex(home: &Home, _: bool) -> Vec<(&'static str, String)> {
    let folder = home.folder.join("codex");
    std::fs::create_dir_all(&folder).unwrap();
    let config = format!(
        "model = \"scripted\"\nmodel_provider = \"scripted\"\n\n[model_providers.scripted]\nname = \"scripted\"\n\
         base_url = \"{}/v1\"\nwire_api = \"responses\"\nenv_key = \"CODEX_API_KEY\"\nrequest_max_retries = 1\n\
         stream_max_retries = 1\n",
        home.model
    );
    std::fs::write(folder.join("config.toml"), config).unwrap();
    vec![("CODEX_HOME", folder.display().to_string()), ("CODEX_API_KEY", "none".to_owned())]
}

pub(super) const GEMINI: Real = Real {
    preset: "gemini",
    folder: "gemini",
    program: "node_modules/.bin/gemini",
    arguments: &["--acp"],
    point: |home, _| {
        let folder = home.folder.join(".gemini");
        std::fs::create_dir_all(&folder).unwrap();
        let settings = json!({"security": {"auth": {"selectedType": "gemini-api-key"}}});
        std::fs::write(folder.join("settings.json"), settings.to_string()).unwrap();
        // With a fixed model it does not ask one which model to use.
        vec![
            ("GOOGLE_GEMINI_BASE_URL", home.model.clone()),
            ("GEMINI_API_KEY", "none".to_owned()),
            ("GEMINI_MODEL", "gemini-2.5-flash".to_owned()),
        ]
    },
};

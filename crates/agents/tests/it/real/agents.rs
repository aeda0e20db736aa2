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

pub(super) const QWEN: Real = Real {
    preset: "qwen",
    folder: "qwen",
    program: "node_modules/.bin/qwen",
    arguments: &["--acp"],
    point: |home, asks| {
        let mode = if asks { "default" } else { "yolo" };
        let settings = json!({
            "security": {"auth": {"selectedType": "openai"}},
            "tools": {"approvalMode": mode},
        });
        write(&home.folder, ".qwen/settings.json", &settings.to_string());
        vec![
            ("OPENAI_BASE_URL", format!("{}/v1", home.model)),
            ("OPENAI_API_KEY", "none".to_owned()),
            ("OPENAI_MODEL", "scripted".to_owned()),
        ]
    },
};

pub(super) const COPILOT: Real = Real {
    preset: "copilot",
    folder: "copilot",
    program: "node_modules/.bin/copilot",
    arguments: &["--acp"],
    point: |home, _| {
        vec![
            ("COPILOT_OFFLINE", "true".to_owned()),
            ("COPILOT_PROVIDER_BASE_URL", format!("{}/v1", home.model)),
            ("COPILOT_PROVIDER_API_KEY", "none".to_owned()),
            ("COPILOT_MODEL", "scripted".to_owned()),
        ]
    },
};

pub(super) const KIMI: Real = Real {
    preset: "kimi",
    folder: "kimi",
    program: "node_modules/.bin/kimi",
    arguments: &["acp"],
    point: |home, _| {
        let config = format!(
            "default_model = \"scripted\"\n[providers.scripted]\ntype = \"openai\"\nbase_url = \"{}/v1\"\n\
             api_key = \"none\"\n[models.scripted]\nprovider = \"scripted\"\nmodel = \"scripted\"\n\
             max_context_size = 100000\n",
            home.model
        );
        write(&home.folder, ".kimi-code/config.toml", &config);
        Vec::new()
    },
};

pub(super) const VIBE: Real = Real {
    preset: "vibe",
    folder: "vibe",
    program: "bin/vibe-acp",
    arguments: &[],
    point: |home, _| {
        let config = format!(
            "active_model = \"scripted\"\n[[providers]]\nname = \"scripted\"\napi_base = \"{}/v1\"\n\
             api_key_env_var = \"MISTRAL_API_KEY\"\nbackend = \"generic\"\n[[models]]\nname = \"scripted\"\n\
             provider = \"scripted\"\nalias = \"scripted\"\n",
            home.model
        );
        write(&home.folder, ".vibe/config.toml", &config);
        vec![("MISTRAL_API_KEY", "none".to_owned())]
    },
};

pub(super) const OPENHANDS: Real = Real {
    preset: "openhands",
    folder: "openhands",
    program: "bin/openhands",
    arguments: &["acp"],
    point: |home, _| {
        vec![
            ("LLM_BASE_URL", format!("{}/v1", home.model)),
            ("LLM_API_KEY", "none".to_owned()),
            ("LLM_MODEL", "openai/scripted".to_owned()),
        ]
    },
};

pub(super) const FAST_AGENT: Real = Real {
    preset: "fast-agent",
    folder: "fast-agent",
    program: "bin/fast-agent-acp",
    arguments: &[],
    point: |home, _| {
        let config = format!(
            "default_model: openai.gpt-4o\nopenai:\n  api_key: none\n  base_url: {}/v1\n",
            home.model
        );
        write(&home.folder, ".fast-agent/fast-agent.yaml", &config);
        vec![("OPENAI_API_KEY", "none".to_owned()), ("OPENAI_BASE_URL", format!("{}/v1", home.model))]
    },
};

pub(super) const PI: Real = Real {
    preset: "pi",
    folder: "pi",
    program: "node_modules/.bin/pi-acp",
    arguments: &[],
    point: |home, _| {
        let provider = json!({"baseUrl": format!("{}/v1", home.model), "api": "openai-completions",
            "apiKey": "none", "models": [{"id": "one"}]});
        let models = json!({"providers": {"scripted": provider}});
        write(&home.folder, ".pi/agent/models.json", &models.to_string());
        let settings = json!({"defaultProvider": "scripted", "defaultModel": "one"});
        write(&home.folder, ".pi/agent/settings.json", &settings.to_string());
        // The adapter starts the program of that name.
        let bin = installed().join("pi/node_modules/.bin");
        vec![("PI_ACP_PI_COMMAND", bin.join("pi").display().to_string())]
    },
};

/// A file of an agent, below its home.
fn write(home: &Path, path: &str, text: &str) {
    let path = home.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

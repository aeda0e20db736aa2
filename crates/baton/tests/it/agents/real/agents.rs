//! Each real agent, and how it is sent to the scripted model instead of its provider.

use serde_json::json;

use super::{Home, Real, installed};

pub const GOOSE: Real = Real {
    preset: "goose",
    folder: "goose",
    command: &["node_modules/@aaif/goose-binary-linux-x64/bin/goose", "acp"],
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

pub const OPENCODE: Real = Real {
    preset: "opencode",
    folder: "opencode",
    command: &["node_modules/.bin/opencode", "acp"],
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
        // Without these it waits half a minute for servers that are not there.
        let off = [
            "OPENCODE_DISABLE_MODELS_FETCH",
            "OPENCODE_DISABLE_LSP_DOWNLOAD",
            "OPENCODE_DISABLE_DEFAULT_PLUGINS",
        ];
        let off = off.map(|name| (name, "1".to_owned()));
        // It installs a package into its settings' folder when that is not there, for minutes.
        let settings = installed().join("opencode-config").display().to_string();
        let more = [("OPENCODE_CONFIG_CONTENT", config.to_string()), ("XDG_CONFIG_HOME", settings)];
        off.into_iter().chain(more).collect()
    },
};

pub const CLAUDE: Real = Real {
    preset: "claude",
    folder: "claude",
    command: &["node_modules/.bin/claude-agent-acp"],
    point: claude,
};

pub const CLAUDE_NATIVE: Real =
    Real { preset: "claude-native", folder: "claude", command: &["node_modules/.bin/claude"], point: claude };

fn claude(home: &Home, _: bool) -> Vec<(&'static str, String)> {
    vec![
        ("ANTHROPIC_BASE_URL", home.model.clone()),
        ("ANTHROPIC_API_KEY", "none".to_owned()),
        ("CLAUDE_CODE_MAX_RETRIES", "1".to_owned()),
        ("IS_SANDBOX", "1".to_owned()),
    ]
}

pub const CODEX: Real =
    Real { preset: "codex", folder: "codex", command: &["node_modules/.bin/codex-acp"], point: codex };

pub const CODEX_NATIVE: Real =
    Real { preset: "codex-native", folder: "codex", command: &["node_modules/.bin/codex"], point: codex };

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

//! The table of known agents.

use crate::presets::kind::AgentKind;
use crate::presets::preset::{ASK_HUMAN, Preset, ToolTransport, WritableRoots};
use crate::report::usage::UsageKind;

pub const PRESETS: [Preset; 32] = [
    Preset {
        name: "claude",
        command: &["claude-agent-acp"],
        version: &["claude-agent-acp", "--version"],
        env: CLAUDE_ENV,
        set_env: CLAUDE_SET_ENV,
        error_begins: &["API Error:"],
        home: CLAUDE_HOME,
        hosts: CLAUDE_HOSTS,
        ..Preset::GENERIC
    },
    Preset {
        name: "codex",
        command: &["codex-acp"],
        version: &["codex-acp", "--version"],
        env: &["OPENAI_API_KEY", "CODEX_API_KEY", "CODEX_HOME", "OPENAI_BASE_URL"],
        mode: Some("agent"),
        writable_roots: WritableRoots::CodexConfig("CODEX_CONFIG"),
        error_begins: &[
            "exceeded retry limit",
            "unexpected status",
            "stream disconnected",
            "stream error",
            "We’re currently experiencing high demand",
            "You've hit your usage limit",
            "Quota exceeded",
            "Codex ran out of room",
        ],
        home: &[".codex"],
        hosts: CODEX_HOSTS,
        ..Preset::GENERIC
    },
    Preset {
        name: "gemini",
        command: &["gemini", "--acp"],
        version: &["gemini", "--version"],
        env: &["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL", "GOOGLE_CLOUD_PROJECT"],
        // In a folder that nobody has trusted it loads no tools at all. The clone is Baton's, and its fence confines it.
        set_env: &[("GEMINI_CLI_TRUST_WORKSPACE", "true")],
        // Over HTTP its model is not offered them.
        tool_transport: ToolTransport::Shim,
        ends_on_close: false,
        ask_tool: ASK_HUMAN,
        home: &[".gemini"],
        hosts: &["*.googleapis.com", "accounts.google.com"],
        ..Preset::GENERIC
    },
    Preset {
        name: "opencode",
        command: &["opencode", "acp"],
        version: &["opencode", "--version"],
        env: &["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENCODE_CONFIG", "OPENCODE_CONFIG_CONTENT"],
        set_env: &[("OPENCODE_DISABLE_AUTOUPDATE", "1")],
        token_kind: UsageKind::LastCall,
        home: &[".config/opencode", ".local/share/opencode", ".local/state/opencode", ".cache/opencode"],
        hosts: &["api.anthropic.com", "api.openai.com", "opencode.ai", "*.opencode.ai", "models.dev"],
        ..Preset::GENERIC
    },
    Preset {
        name: "goose",
        command: &["goose", "acp"],
        version: &["goose", "--version"],
        env: &[
            "ANTHROPIC_API_KEY",
            "OPENAI_API_KEY",
            "OPENAI_HOST",
            "GOOSE_PROVIDER",
            "GOOSE_MODEL",
            "GOOSE_MODE",
        ],
        // A keyring would wait for a password that nobody enters.
        set_env: &[("GOOSE_DISABLE_KEYRING", "1")],
        token_kind: UsageKind::LastCall,
        error_begins: &["Ran into this error:", "Network error:"],
        home: &[".config/goose", ".local/share/goose", ".local/state/goose"],
        hosts: &["api.anthropic.com", "api.openai.com"],
        ..Preset::GENERIC
    },
    Preset {
        name: "qwen",
        command: &["qwen", "--acp"],
        version: &["qwen", "--version"],
        env: &["OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL", "DASHSCOPE_API_KEY"],
        home: &[".qwen"],
        hosts: &["*.aliyuncs.com", "chat.qwen.ai", "api.openai.com"],
        ..Preset::GENERIC
    },
    Preset {
        name: "copilot",
        command: &["copilot", "--acp"],
        version: &["copilot", "--version"],
        env: &["GH_TOKEN", "GITHUB_TOKEN", "COPILOT_GITHUB_TOKEN"],
        tool_transport: ToolTransport::Shim,
        home: &[".copilot", ".config/github-copilot"],
        hosts: &["api.github.com", "github.com", "*.githubcopilot.com"],
        ..Preset::GENERIC
    },
    Preset {
        name: "kimi",
        command: &["kimi", "acp"],
        version: &["kimi", "--version"],
        env: &["KIMI_API_KEY", "KIMI_BASE_URL", "KIMI_CODE_HOME", "MOONSHOT_API_KEY"],
        home: &[".kimi-code", ".kimi"],
        hosts: &["api.moonshot.ai", "api.kimi.com"],
        ..Preset::GENERIC
    },
    Preset {
        name: "vibe",
        command: &["vibe-acp"],
        version: &["vibe-acp", "--version"],
        env: &["MISTRAL_API_KEY", "VIBE_HOME"],
        home: &[".vibe"],
        hosts: &["api.mistral.ai"],
        ..Preset::GENERIC
    },
    Preset {
        name: "openhands",
        command: &["openhands", "acp"],
        version: &["openhands", "--version"],
        env: &["LLM_API_KEY", "LLM_MODEL", "LLM_BASE_URL"],
        home: &[".openhands"],
        hosts: &["api.anthropic.com", "api.openai.com"],
        ..Preset::GENERIC
    },
    Preset {
        name: "fast-agent",
        command: &["fast-agent-acp"],
        version: &["fast-agent", "--version"],
        env: &["ANTHROPIC_API_KEY", "OPENAI_API_KEY"],
        home: &[".fast-agent"],
        hosts: &["api.anthropic.com", "api.openai.com"],
        ..Preset::GENERIC
    },
    Preset {
        name: "pi",
        command: &["pi-acp"],
        version: &["pi", "--version"],
        env: &["ANTHROPIC_API_KEY", "OPENAI_API_KEY"],
        home: &[".pi"],
        hosts: &["api.anthropic.com", "api.openai.com"],
        ..Preset::GENERIC
    },
    Preset {
        name: "hermes",
        command: &["hermes-acp"],
        version: &["hermes", "--version"],
        env: &["OPENAI_API_KEY", "OPENROUTER_API_KEY"],
        home: &[".hermes"],
        hosts: &["api.openai.com", "openrouter.ai"],
        ..Preset::GENERIC
    },
    // These were not run: their commands are those of the registry of the protocol, the rest of their documentation.
    Preset {
        name: "amp",
        command: &["amp-acp"],
        version: &["amp-acp", "--version"],
        env: &["AMP_API_KEY"],
        home: &[".config/amp", ".local/share/amp", ".cache/amp"],
        hosts: &["ampcode.com", "*.ampcode.com"],
        ..Preset::GENERIC
    },
    Preset {
        name: "auggie",
        command: &["auggie", "--acp"],
        version: &["auggie", "--version"],
        env: &["AUGMENT_API_TOKEN", "AUGMENT_SESSION_AUTH"],
        set_env: &[("AUGMENT_DISABLE_AUTO_UPDATE", "1")],
        home: &[".augment"],
        hosts: &["*.augmentcode.com"],
        ..Preset::GENERIC
    },
    Preset {
        name: "autohand",
        command: &["autohand-acp"],
        version: &["autohand-acp", "--version"],
        env: &["AUTOHAND_API_KEY"],
        home: &[".autohand"],
        hosts: &["*.autohand.ai"],
        ..Preset::GENERIC
    },
    Preset {
        name: "cline",
        command: &["cline", "--acp"],
        version: &["cline", "--version"],
        env: &["CLINE_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY"],
        home: &[".cline"],
        hosts: &["api.cline.bot", "api.anthropic.com", "api.openai.com"],
        ..Preset::GENERIC
    },
    Preset {
        name: "codebuddy",
        command: &["codebuddy", "--acp"],
        version: &["codebuddy", "--version"],
        env: &["CODEBUDDY_API_KEY"],
        home: &[".codebuddy"],
        hosts: &["*.codebuddy.cn", "*.codebuddy.ai"],
        ..Preset::GENERIC
    },
    Preset {
        name: "cortex",
        command: &["cortex", "acp", "serve"],
        version: &["cortex", "--version"],
        env: &["SNOWFLAKE_ACCOUNT", "SNOWFLAKE_USER"],
        home: &[".snowflake"],
        hosts: &["*.snowflakecomputing.com"],
        ..Preset::GENERIC
    },
    Preset {
        name: "cursor",
        command: &["cursor-agent", "acp"],
        version: &["cursor-agent", "--version"],
        env: &["CURSOR_API_KEY"],
        home: &[".cursor", ".config/cursor"],
        hosts: &["*.cursor.sh", "*.cursor.com"],
        ..Preset::GENERIC
    },
    Preset {
        name: "deepagents",
        command: &["deepagents-acp"],
        version: &["deepagents-acp", "--version"],
        env: &["ANTHROPIC_API_KEY", "OPENAI_API_KEY"],
        home: &[".deepagents"],
        hosts: &["api.anthropic.com", "api.openai.com"],
        ..Preset::GENERIC
    },
    Preset {
        name: "devin",
        command: &["devin", "acp"],
        version: &["devin", "--version"],
        env: &["DEVIN_API_KEY"],
        home: &[".devin", ".config/devin"],
        hosts: &["*.devin.ai"],
        ..Preset::GENERIC
    },
    Preset {
        name: "droid",
        command: &["droid", "exec", "--output-format", "acp-daemon"],
        version: &["droid", "--version"],
        env: &["FACTORY_API_KEY"],
        set_env: &[("DROID_DISABLE_AUTO_UPDATE", "true"), ("FACTORY_DROID_AUTO_UPDATE_ENABLED", "false")],
        home: &[".factory"],
        hosts: &["*.factory.ai"],
        ..Preset::GENERIC
    },
    Preset {
        name: "grok",
        command: &["grok", "agent", "stdio"],
        version: &["grok", "--version"],
        env: &["XAI_API_KEY", "GROK_API_KEY"],
        home: &[".grok"],
        hosts: &["*.x.ai"],
        ..Preset::GENERIC
    },
    Preset {
        name: "junie",
        command: &["junie", "--acp=true"],
        version: &["junie", "--version"],
        env: &["JUNIE_API_KEY"],
        home: &[".junie"],
        hosts: &["*.jetbrains.com", "*.jetbrains.ai"],
        ..Preset::GENERIC
    },
    Preset {
        name: "kilo",
        command: &["kilo", "acp"],
        version: &["kilo", "--version"],
        env: &["KILO_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY"],
        home: &[".config/kilo", ".local/share/kilo", ".local/state/kilo", ".cache/kilo"],
        hosts: &["kilo.ai", "*.kilo.ai", "api.anthropic.com", "api.openai.com"],
        ..Preset::GENERIC
    },
    Preset {
        name: "poolside",
        command: &["pool", "acp"],
        version: &["pool", "--version"],
        env: &["POOLSIDE_API_KEY"],
        home: &[".config/poolside"],
        hosts: &["*.poolside.ai"],
        ..Preset::GENERIC
    },
    Preset {
        name: "qoder",
        command: &["qodercli", "--acp"],
        version: &["qodercli", "--version"],
        env: &["QODER_API_KEY"],
        home: &[".qoder"],
        hosts: &["*.qoder.com"],
        ..Preset::GENERIC
    },
    Preset {
        name: "stakpak",
        command: &["stakpak", "acp"],
        version: &["stakpak", "--version"],
        env: &["STAKPAK_API_KEY"],
        home: &[".stakpak"],
        hosts: &["*.stakpak.dev"],
        ..Preset::GENERIC
    },
    Preset {
        name: "vtcode",
        command: &["vtcode", "acp"],
        version: &["vtcode", "--version"],
        env: &["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"],
        set_env: &[("VT_ACP_ENABLED", "1"), ("VT_ACP_ZED_ENABLED", "1")],
        home: &[".vtcode"],
        hosts: &["api.anthropic.com", "api.openai.com", "*.googleapis.com"],
        ..Preset::GENERIC
    },
    Preset {
        name: "claude-native",
        kind: AgentKind::Claude,
        command: &["claude"],
        version: &["claude", "--version"],
        env: CLAUDE_ENV,
        set_env: CLAUDE_SET_ENV,
        home: CLAUDE_HOME,
        hosts: CLAUDE_HOSTS,
        ..Preset::GENERIC
    },
    Preset {
        name: "codex-native",
        kind: AgentKind::Codex,
        command: &["codex"],
        version: &["codex", "--version"],
        env: &["OPENAI_API_KEY", "CODEX_API_KEY", "CODEX_HOME"],
        writable_roots: WritableRoots::CodexOptions,
        token_kind: UsageKind::PerSession,
        home: &[".codex"],
        hosts: CODEX_HOSTS,
        ..Preset::GENERIC
    },
];

const CLAUDE_HOME: &[&str] = &[".claude", ".claude.json", ".local/share/claude", ".cache/claude"];
const CLAUDE_HOSTS: &[&str] =
    &["api.anthropic.com", "claude.ai", "console.anthropic.com", "platform.claude.com"];
const CODEX_HOSTS: &[&str] = &["api.openai.com", "chatgpt.com", "*.chatgpt.com", "auth.openai.com"];
const CLAUDE_ENV: &[&str] = &[
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_BASE_URL",
    "ANTHROPIC_MODEL",
    "CLAUDE_CONFIG_DIR",
    "CLAUDE_CODE_OAUTH_TOKEN",
];
/// Ten retries with back-off look like a hung agent; Baton holds the account instead. Tool search finds Baton's tools too
/// late, or never.
const CLAUDE_SET_ENV: &[(&str, &str)] = &[
    ("CLAUDE_CODE_MAX_RETRIES", "2"),
    ("DISABLE_AUTOUPDATER", "1"),
    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
    ("ENABLE_TOOL_SEARCH", "false"),
];

impl Preset {
    pub fn by_name(name: &str) -> Option<&'static Self> {
        PRESETS.iter().find(|preset| preset.name == name)
    }

    /// The preset for a command, by its program's name; generic for an unknown program.
    pub fn for_command(kind: AgentKind, command: &[String]) -> Self {
        let program = command.first().and_then(|word| word.rsplit('/').next()).unwrap_or_default();
        let is_it = |preset: &&Self| preset.kind == kind && preset.command.first() == Some(&program);
        PRESETS.iter().find(is_it).copied().unwrap_or(Self { kind, ..Self::GENERIC })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_preset_is_found_by_its_name_and_by_its_command() {
        let names: BTreeSet<_> = PRESETS.iter().map(|preset| preset.name).collect();
        assert_eq!(names.len(), PRESETS.len());
        for preset in &PRESETS {
            assert_eq!(Preset::by_name(preset.name), Some(preset));
            let mut command: Vec<String> = preset.command.iter().map(|&word| word.to_owned()).collect();
            command[0] = format!("/opt/agents/bin/{}", command[0]);
            assert_eq!(&Preset::for_command(preset.kind, &command), preset);
        }
    }

    #[test]
    fn an_unknown_program_is_driven_by_the_protocol_alone() {
        let preset = Preset::for_command(AgentKind::Acp, &["my-agent".to_owned()]);
        assert_eq!(preset, Preset::GENERIC);
        assert_eq!(Preset::for_command(AgentKind::Codex, &[]).kind, AgentKind::Codex);
    }
}

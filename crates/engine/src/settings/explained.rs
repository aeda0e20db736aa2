//! Settings that cannot be used, explained.

use baton_core::base::explanation::Explanation;
use baton_core::explained;

use crate::settings::SettingsError;

explained! { SettingsError {
    Self::Unreadable { .. } => Explanation {
        code: "settings_unreadable",
        means: "A settings file is there and cannot be read.",
        cause: "Its owner or its rights.",
        next: "Make it readable; `baton config` shows which files count.",
    },
    Self::Malformed { .. } => Explanation {
        code: "settings_malformed",
        means: "A setting does not have the form it must have. The place is named: file and line, or the variable.",
        cause: "A text where a number should be, a missing quote, a word that is none of the choices.",
        next: "Mend it. All keys with their types are in docs/reference/configuration.md.",
    },
    Self::UnknownKey { .. } => Explanation {
        code: "unknown_setting",
        means: "The file has a key that is no setting. Baton refuses it rather than leave it without effect.",
        cause: "A slip of the pen (the nearest known key is named), or a key of another version.",
        next: "Correct or remove it. All keys are in docs/reference/configuration.md.",
    },
    Self::UnknownAgent { .. } => Explanation {
        code: "unknown_agent",
        means: "An agent is named that is neither set up nor known.",
        cause: "default_agent or a role names it, and there is no [agents.NAME] for it.",
        next: "Correct the name, or add [agents.NAME] with kind and command. `baton doctor` lists the known ones.",
    },
} }

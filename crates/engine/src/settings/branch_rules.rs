//! What a branch itself says about the work that is to land on it.

use std::env;
use std::num::NonZeroU64;
use std::path::Path;

use baton_core::base::path_glob;
use serde::Deserialize;

use crate::settings::layers::{malformed, variable};
use crate::settings::schema::check_keys;
use crate::settings::{Settings, SettingsError};
use crate::user_tasks::checks::Checks;

/// The settings that are taken from the branch. What its file does not have comes from the person's checkout.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct BranchRules {
    pub(crate) checks: Option<Checks>,
    check_timeout_seconds: Option<NonZeroU64>,
    protect: Option<Vec<String>>,
}

impl BranchRules {
    /// From the branch's `.agent/baton.toml`. `path` is for errors.
    pub(crate) fn parse(text: &str, path: &Path) -> Result<Self, SettingsError> {
        let table = toml::from_str(text).map_err(|error| malformed(path, &error))?;
        check_keys(&table, path)?;
        let rules: Self = toml::from_str(text).map_err(|error| malformed(path, &error))?;
        check_globs(rules.protect.as_deref().unwrap_or_default(), path)?;
        Ok(rules)
    }
}

/// A glob that matches nothing would protect nothing, and nobody would know.
pub(super) fn check_globs(globs: &[String], path: &Path) -> Result<(), SettingsError> {
    for glob in globs {
        if let Some(why) = path_glob::objection(glob) {
            let message = format!("protect: \"{glob}\" {why}");
            return Err(SettingsError::Malformed { path: path.to_owned(), message });
        }
    }
    Ok(())
}

impl Settings {
    /// These settings, with what the branch says. A variable counts for more than any file.
    pub(crate) fn with_branch(&self, rules: BranchRules) -> Self {
        let is_free = |key: &str| env::var(variable(&[key])).map_or(true, |value| value.trim().is_empty());
        let mut settings = self.clone();
        if let Some(checks) = rules.checks {
            settings.checks = checks;
        }
        if let Some(seconds) = rules.check_timeout_seconds.filter(|_| is_free("check_timeout_seconds")) {
            settings.check_timeout_seconds = seconds;
        }
        if let Some(protect) = rules.protect.filter(|_| is_free("protect")) {
            settings.protect = protect;
        }
        settings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_decides_about_checks_and_nothing_else() {
        let path = Path::new("baton.toml");
        let mine = "accept_when = \"green\"\nchecks = [\"mine\"]\nprotect = [\"mine/**\"]\ncheck_timeout_seconds = 5\n";
        let mine = Settings::parse(mine, path).unwrap();
        let cases = [
            ("", "mine", "mine/**", 5),
            ("accept_when = \"person\"\nchecks = [\"theirs\"]\n", "theirs", "mine/**", 5),
            ("protect = [\"theirs/**\"]\ncheck_timeout_seconds = 7\n", "mine", "theirs/**", 7),
        ];
        for (text, check, protect, seconds) in cases {
            let both = mine.with_branch(BranchRules::parse(text, path).unwrap());
            assert_eq!(both.checks.user_tasks().collect::<Vec<_>>(), [check], "{text}");
            assert_eq!((both.protect, both.check_timeout_seconds.get()), (vec![protect.to_owned()], seconds));
            assert_eq!(both.accept_when, mine.accept_when, "{text}");
        }
        let none = mine.with_branch(BranchRules::parse("checks = []", path).unwrap());
        assert!(none.checks.is_empty());
    }

    #[test]
    fn what_cannot_be_read_is_an_error_that_names_its_place() {
        for text in ["checks = 3", "checks = [", "check = [\"test\"]", "protect = [\"tests/[ab\"]"] {
            let error = BranchRules::parse(text, Path::new("baton/next:.agent/baton.toml")).unwrap_err();
            assert!(error.to_string().starts_with("baton/next:.agent/baton.toml: "), "{error}");
        }
    }
}

//! The layers of the settings: variables, the repository's file, the user's own file, the defaults. The first wins.

use std::env;
use std::fmt;
use std::path::{Path, PathBuf};

use baton_taskfile::read_regular_file;
use serde::Deserialize;
use serde_json::Value;

use crate::settings::schema::{check_keys, leaves};
use crate::settings::{Settings, SettingsError};

/// The size limit of a file with settings.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// What came with a repository may lead anywhere: a device without end, a pipe that nobody writes to.
pub(crate) fn read_settings_file(path: &Path) -> std::io::Result<String> {
    let invalid = |error| std::io::Error::new(std::io::ErrorKind::InvalidData, error);
    String::from_utf8(read_regular_file(path, FILE_BYTES_MAX)?).map_err(invalid)
}

/// Where the value of a setting comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    Flag(&'static str),
    Variable(String),
    File(PathBuf),
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(name) => f.write_str(name),
            Self::Variable(name) => f.write_str(name),
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Default => f.write_str("default"),
        }
    }
}

/// A setting with its value and where that comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct SettingValue {
    /// `asking.unattended`
    pub key: String,
    pub value: Value,
    pub origin: Origin,
}

/// The settings of one source.
#[derive(Debug, Clone)]
struct Layer {
    origin: Origin,
    table: toml::Table,
    /// For errors with line numbers; empty for a variable.
    text: String,
}

/// All sources, highest precedence first.
#[derive(Debug, Clone, Default)]
pub struct Layers(Vec<Layer>);

/// Standard variables with the meaning of one of our settings. Our own variable takes precedence.
const STANDARD_VARIABLES: [(&str, [&str; 2]); 1] = [("OTEL_EXPORTER_OTLP_ENDPOINT", ["telemetry", "otlp"])];

impl Layers {
    /// The layers for the repository whose settings file is `path`, in this process.
    pub fn find(path: &Path) -> Result<Self, SettingsError> {
        let mut layers = Self::default();
        layers.add_variables(|name| env::var(name).ok());
        layers.add_file(path)?;
        if let Some(file) = user_file() {
            layers.add_file(&file)?;
        }
        Ok(layers)
    }

    /// The same, for a repository whose settings file at `path` has this text.
    pub(crate) fn with_text(text: &str, path: &Path) -> Result<Self, SettingsError> {
        let mut layers = Self::default();
        layers.add_variables(|name| env::var(name).ok());
        layers.add_text(text, path)?;
        if let Some(file) = user_file() {
            layers.add_file(&file)?;
        }
        Ok(layers)
    }

    /// The layers that are a person's own: their variables and their file.
    pub(crate) fn of_person() -> Result<Self, SettingsError> {
        let mut layers = Self::default();
        layers.add_variables(|name| env::var(name).ok());
        if let Some(file) = user_file() {
            layers.add_file(&file)?;
        }
        Ok(layers)
    }

    /// Each variable is a layer of its own, so that errors name it.
    fn add_variables(&mut self, read: impl Fn(&str) -> Option<String>) {
        let own = leaves().into_iter().map(|path| (variable(&path), path));
        let standard = STANDARD_VARIABLES.iter().map(|(name, path)| ((*name).to_owned(), path.to_vec()));
        for (name, path) in own.chain(standard) {
            let Some(text) = read(&name).filter(|text| !text.trim().is_empty()) else { continue };
            let mut value = parse_variable(&text);
            for key in path.iter().rev() {
                value = toml::Value::Table([((*key).to_owned(), value)].into_iter().collect());
            }
            if let toml::Value::Table(table) = value {
                self.0.push(Layer { origin: Origin::Variable(name), table, text: String::new() });
            }
        }
    }

    fn add_file(&mut self, path: &Path) -> Result<(), SettingsError> {
        match read_settings_file(path) {
            Ok(text) => self.add_text(&text, path),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            Err(source) => Err(SettingsError::Unreadable { path: path.to_owned(), source }),
        }
    }

    pub(crate) fn add_text(&mut self, text: &str, path: &Path) -> Result<(), SettingsError> {
        let table = toml::from_str(text).map_err(|error| malformed(path, &error))?;
        check_keys(&table, path)?;
        self.0.push(Layer { origin: Origin::File(path.to_owned()), table, text: text.to_owned() });
        Ok(())
    }

    /// The files that have a top-level key, with its value in each.
    pub(crate) fn files_with(&self, key: &str) -> Vec<(&Path, &toml::Value)> {
        let mut found = Vec::new();
        for layer in &self.0 {
            if let (Origin::File(path), Some(value)) = (&layer.origin, layer.table.get(key)) {
                found.push((path.as_path(), value));
            }
        }
        found
    }

    /// All layers merged.
    pub fn settings(&self, path: &Path) -> Result<Settings, SettingsError> {
        let mut merged = toml::Table::new();
        for layer in self.0.iter().rev() {
            merge(&mut merged, &layer.table);
        }
        let has_default = merged.contains_key("default_agent");
        let mut settings = Settings::deserialize(merged).map_err(|error| self.locate(path, &error))?;
        settings.add_known_agents(has_default, path)?;
        Ok(settings)
    }

    /// The error of the first layer that is invalid by itself, which has a line number; else the error of all merged.
    fn locate(&self, path: &Path, error: &toml::de::Error) -> SettingsError {
        for layer in &self.0 {
            match &layer.origin {
                Origin::File(file) => {
                    if let Err(error) = toml::from_str::<Settings>(&layer.text) {
                        return malformed(file, &error);
                    }
                }
                Origin::Variable(name) => {
                    if let Err(error) = Settings::deserialize(layer.table.clone()) {
                        return malformed(Path::new(name), &error);
                    }
                }
                Origin::Flag(_) | Origin::Default => {}
            }
        }
        malformed(path, error)
    }

    /// Every setting with its value and origin.
    pub fn values(&self, settings: &Settings) -> Vec<SettingValue> {
        let mut values = Vec::new();
        let all = serde_json::to_value(settings).unwrap_or_default();
        self.flatten(&all, &mut Vec::new(), &mut values);
        // Settings that are not serialized, such as permissions, are shown as they were written.
        for layer in &self.0 {
            let written = serde_json::to_value(&layer.table).unwrap_or_default();
            let mut more = Vec::new();
            self.flatten(&written, &mut Vec::new(), &mut more);
            more.retain(|one| !values.iter().any(|known| covers(&known.key, &one.key)));
            values.extend(more);
        }
        values
    }

    fn flatten(&self, value: &Value, path: &mut Vec<String>, into: &mut Vec<SettingValue>) {
        match value {
            Value::Object(entries) if !entries.is_empty() => {
                for (key, value) in entries {
                    path.push(key.clone());
                    self.flatten(value, path, into);
                    path.pop();
                }
            }
            value => {
                into.push(SettingValue {
                    key: path.join("."),
                    value: value.clone(),
                    origin: self.origin(path),
                });
            }
        }
    }

    fn origin(&self, path: &[String]) -> Origin {
        let has_key = |layer: &&Layer| {
            let mut at = Some(&layer.table);
            let (last, above) = path.split_last()?;
            for key in above {
                at = at?.get(key)?.as_table();
            }
            at?.contains_key(last).then_some(())
        };
        let layer = self.0.iter().find(|layer| has_key(layer).is_some());
        layer.map_or(Origin::Default, |layer| layer.origin.clone())
    }
}

/// Whether `key` is `known` or inside it.
fn covers(known: &str, key: &str) -> bool {
    key.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// `["asking", "unattended"]` → `BATON_ASKING_UNATTENDED`
pub(super) fn variable(path: &[&str]) -> String {
    format!("BATON_{}", path.join("_").to_uppercase())
}

/// An integer, a boolean or an array if it parses as one, else a string.
fn parse_variable(text: &str) -> toml::Value {
    let read = toml::from_str::<toml::Table>(&format!("value = {text}"));
    match read.ok().and_then(|mut table| table.remove("value")) {
        Some(value @ (toml::Value::Integer(_) | toml::Value::Boolean(_) | toml::Value::Array(_))) => value,
        _ => toml::Value::String(text.to_owned()),
    }
}

/// Merges tables recursively; `over` wins.
fn merge(under: &mut toml::Table, over: &toml::Table) {
    for (key, value) in over {
        match (under.get_mut(key), value) {
            (Some(toml::Value::Table(under)), toml::Value::Table(over)) => merge(under, over),
            _ => {
                under.insert(key.clone(), value.clone());
            }
        }
    }
}

pub(super) fn malformed(path: &Path, error: &toml::de::Error) -> SettingsError {
    SettingsError::Malformed { path: path.to_owned(), message: error.to_string().trim_end().to_owned() }
}

/// `~/.config/baton/config.toml`
pub(super) fn user_file() -> Option<PathBuf> {
    let set = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = set("XDG_CONFIG_HOME").or_else(|| set("HOME").map(|home| home.join(".config")))?;
    Some(folder.join("baton").join("config.toml"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layers(variables: &[(&str, &str)], repository: &str, user: &str) -> Result<Layers, SettingsError> {
        let mut layers = Layers::default();
        layers.add_variables(|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        });
        layers.add_text(repository, Path::new("baton.toml"))?;
        layers.add_text(user, Path::new("config.toml"))?;
        Ok(layers)
    }

    fn read(variables: &[(&str, &str)], repository: &str, user: &str) -> Result<Vec<SettingValue>, String> {
        let layers = layers(variables, repository, user).map_err(|error| error.to_string())?;
        let settings = layers.settings(Path::new("baton.toml")).map_err(|error| error.to_string())?;
        Ok(layers.values(&settings))
    }

    fn find<'a>(values: &'a [SettingValue], key: &str) -> (&'a Value, String) {
        let found = values.iter().find(|each| each.key == key).unwrap();
        (&found.value, found.origin.to_string())
    }

    #[test]
    fn the_source_with_the_highest_precedence_wins_and_is_reported() {
        let values = read(
            &[("BATON_MAX_AGENTS", "7"), ("BATON_ASKING_UNATTENDED", "fail"), ("BATON_BUDGETS_DAY_USD", "5")],
            "max_agents = 6\nmax_unaccepted = 9\n[agents.mine]\nmax_turns = 10\npermissions = \"ask\"\n",
            "max_unaccepted = 8\nlease_seconds = 60\ndefault_agent = \"mine\"\n\
             [agents.mine]\nkind = \"command\"\ncommand = [\"true\"]\n",
        )
        .unwrap();
        assert_eq!(find(&values, "max_agents"), (&7.into(), "BATON_MAX_AGENTS".to_owned()));
        assert_eq!(find(&values, "max_unaccepted"), (&9.into(), "baton.toml".to_owned()));
        assert_eq!(find(&values, "lease_seconds"), (&60.into(), "config.toml".to_owned()));
        assert_eq!(find(&values, "asking.unattended").1, "BATON_ASKING_UNATTENDED");
        assert_eq!(find(&values, "agents.mine.max_turns"), (&10.into(), "baton.toml".to_owned()));
        assert_eq!(find(&values, "agents.mine.kind").1, "config.toml");
        assert_eq!(find(&values, "agents.mine.permissions"), (&"ask".into(), "baton.toml".to_owned()));
        assert_eq!(find(&values, "budgets.day.usd"), (&5.into(), "BATON_BUDGETS_DAY_USD".to_owned()));
        assert_eq!(find(&values, "worktree.spares"), (&1.into(), "default".to_owned()));
    }

    #[test]
    fn an_error_names_its_source() {
        let error = read(&[("BATON_MAX_AGENTS", "many")], "", "").unwrap_err();
        assert!(error.starts_with("BATON_MAX_AGENTS: "), "{error}");
        let error = read(&[], "max_agents = 1", "\nmax_agents = \"many\"").map(|_| ());
        assert!(error.is_ok(), "an overridden value is not checked");
        let error = read(&[], "", "\nmax_unaccepted = \"many\"").unwrap_err();
        assert!(error.starts_with("config.toml: ") && error.contains("line 2"), "{error}");
        let error = read(&[], "", "max_agent = 3").unwrap_err();
        assert_eq!(error, "config.toml: the file has no setting \"max_agent\"; did you mean \"max_agents\"?");
    }

    #[test]
    fn our_variable_takes_precedence_over_the_standard_one() {
        let values = read(
            &[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://a:1"), ("BATON_TELEMETRY_OTLP", "http://b:2")],
            "",
            "",
        );
        assert_eq!(find(&values.unwrap(), "telemetry.otlp").0, "http://b:2");
        let values = read(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://a:1")], "", "").unwrap();
        let (value, from) = find(&values, "telemetry.otlp");
        assert_eq!((value.as_str(), from.as_str()), (Some("http://a:1"), "OTEL_EXPORTER_OTLP_ENDPOINT"));
    }
}

//! Where settings come from: variables over the repository's file over the person's own, and over the defaults.

use std::env;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use crate::settings::{Settings, SettingsError, check_known, leaves};

/// Who said what a setting is.
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

/// A setting as it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    /// `asking.unattended`
    pub key: String,
    pub value: Value,
    pub origin: Origin,
}

/// What one source says, strongest first in [`Layers`].
#[derive(Debug, Clone)]
struct Layer {
    origin: Origin,
    table: toml::Table,
    /// The text it was read from, for errors that say where.
    text: String,
}

#[derive(Debug, Clone, Default)]
pub struct Layers(Vec<Layer>);

/// What other programs call a setting of ours; ours wins over it.
const ALSO_KNOWN: [(&str, [&str; 2]); 1] = [("OTEL_EXPORTER_OTLP_ENDPOINT", ["telemetry", "otlp"])];

impl Layers {
    /// Of the repository whose settings are at `path`, for whoever runs this process.
    pub fn find(path: &Path) -> Result<Self, SettingsError> {
        let mut layers = Self::default();
        layers.add_variables(|name| env::var(name).ok());
        layers.add_file(path)?;
        if let Some(own) = own_file() {
            layers.add_file(&own)?;
        }
        Ok(layers)
    }

    /// Each variable is a layer of its own, so that a mistake in it is told by its name.
    fn add_variables(&mut self, read: impl Fn(&str) -> Option<String>) {
        let ours = leaves().into_iter().map(|path| (variable(&path), path));
        let theirs = ALSO_KNOWN.iter().map(|(name, path)| ((*name).to_owned(), path.to_vec()));
        for (name, path) in ours.chain(theirs) {
            let Some(text) = read(&name).filter(|text| !text.trim().is_empty()) else { continue };
            let mut value = said(&text);
            for key in path.iter().rev() {
                value = toml::Value::Table([((*key).to_owned(), value)].into_iter().collect());
            }
            if let toml::Value::Table(table) = value {
                self.0.push(Layer { origin: Origin::Variable(name), table, text: String::new() });
            }
        }
    }

    fn add_file(&mut self, path: &Path) -> Result<(), SettingsError> {
        match std::fs::read_to_string(path) {
            Ok(text) => self.add_text(&text, path),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            Err(source) => Err(SettingsError::Unreadable { path: path.to_owned(), source }),
        }
    }

    pub(crate) fn add_text(&mut self, text: &str, path: &Path) -> Result<(), SettingsError> {
        let table = toml::from_str(text).map_err(|error| malformed(path, &error))?;
        check_known(&table, path)?;
        self.0.push(Layer { origin: Origin::File(path.to_owned()), table, text: text.to_owned() });
        Ok(())
    }

    /// The files that say what a top setting is, with what each says.
    pub(crate) fn files_with(&self, key: &str) -> Vec<(&Path, &toml::Value)> {
        let mut found = Vec::new();
        for layer in &self.0 {
            if let (Origin::File(path), Some(value)) = (&layer.origin, layer.table.get(key)) {
                found.push((path.as_path(), value));
            }
        }
        found
    }

    /// All of them together.
    pub fn settings(&self, path: &Path) -> Result<Settings, SettingsError> {
        let mut together = toml::Table::new();
        for layer in self.0.iter().rev() {
            lay_over(&mut together, &layer.table);
        }
        let names_default = together.contains_key("default_agent");
        let mut settings = Settings::deserialize(together).map_err(|error| self.blame(path, &error))?;
        settings.find_agents(names_default, path)?;
        Ok(settings)
    }

    /// The error of the layer that is wrong by itself, which knows the line; else the error of all of them together.
    fn blame(&self, path: &Path, error: &toml::de::Error) -> SettingsError {
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

    /// Every setting with its value and where that came from.
    pub fn standings(&self, settings: &Settings) -> Vec<Standing> {
        let mut standings = Vec::new();
        let all = serde_json::to_value(settings).unwrap_or_default();
        self.flatten(&all, &mut Vec::new(), &mut standings);
        // What has a form of its own, such as permissions, is shown as it was written.
        for layer in &self.0 {
            let written = serde_json::to_value(&layer.table).unwrap_or_default();
            let mut more = Vec::new();
            self.flatten(&written, &mut Vec::new(), &mut more);
            more.retain(|one| !standings.iter().any(|known| covers(&known.key, &one.key)));
            standings.extend(more);
        }
        standings
    }

    fn flatten(&self, value: &Value, path: &mut Vec<String>, into: &mut Vec<Standing>) {
        match value {
            Value::Object(entries) if !entries.is_empty() => {
                for (key, value) in entries {
                    path.push(key.clone());
                    self.flatten(value, path, into);
                    path.pop();
                }
            }
            value => {
                into.push(Standing { key: path.join("."), value: value.clone(), origin: self.origin(path) });
            }
        }
    }

    fn origin(&self, path: &[String]) -> Origin {
        let says = |layer: &&Layer| {
            let mut at = Some(&layer.table);
            let (last, above) = path.split_last()?;
            for key in above {
                at = at?.get(key)?.as_table();
            }
            at?.contains_key(last).then_some(())
        };
        let said_by = self.0.iter().find(|layer| says(layer).is_some());
        said_by.map_or(Origin::Default, |layer| layer.origin.clone())
    }
}

/// Whether one key is the other, or a part of it.
fn covers(known: &str, key: &str) -> bool {
    key.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// `["asking", "unattended"]` → `BATON_ASKING_UNATTENDED`
fn variable(path: &[&str]) -> String {
    format!("BATON_{}", path.join("_").to_uppercase())
}

/// A number, a switch or a list where it reads as one; else the text itself.
fn said(text: &str) -> toml::Value {
    let read = toml::from_str::<toml::Table>(&format!("value = {text}"));
    match read.ok().and_then(|mut table| table.remove("value")) {
        Some(value @ (toml::Value::Integer(_) | toml::Value::Boolean(_) | toml::Value::Array(_))) => value,
        _ => toml::Value::String(text.to_owned()),
    }
}

/// What is in `over` wins; tables are gone through.
fn lay_over(under: &mut toml::Table, over: &toml::Table) {
    for (key, value) in over {
        match (under.get_mut(key), value) {
            (Some(toml::Value::Table(under)), toml::Value::Table(over)) => lay_over(under, over),
            _ => {
                under.insert(key.clone(), value.clone());
            }
        }
    }
}

fn malformed(path: &Path, error: &toml::de::Error) -> SettingsError {
    SettingsError::Malformed { path: path.to_owned(), message: error.to_string().trim_end().to_owned() }
}

/// `~/.config/baton/config.toml`
fn own_file() -> Option<PathBuf> {
    let set = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = set("XDG_CONFIG_HOME").or_else(|| set("HOME").map(|home| home.join(".config")))?;
    Some(folder.join("baton").join("config.toml"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layers(variables: &[(&str, &str)], repository: &str, own: &str) -> Result<Layers, SettingsError> {
        let mut layers = Layers::default();
        layers.add_variables(|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        });
        layers.add_text(repository, Path::new("baton.toml"))?;
        layers.add_text(own, Path::new("config.toml"))?;
        Ok(layers)
    }

    fn read(variables: &[(&str, &str)], repository: &str, own: &str) -> Result<Vec<Standing>, String> {
        let layers = layers(variables, repository, own).map_err(|error| error.to_string())?;
        let settings = layers.settings(Path::new("baton.toml")).map_err(|error| error.to_string())?;
        Ok(layers.standings(&settings))
    }

    fn find<'a>(standings: &'a [Standing], key: &str) -> (&'a Value, String) {
        let standing = standings.iter().find(|standing| standing.key == key).unwrap();
        (&standing.value, standing.origin.to_string())
    }

    #[test]
    fn the_stronger_source_wins_and_each_value_knows_its_own() {
        let standings = read(
            &[("BATON_MAX_AGENTS", "7"), ("BATON_ASKING_UNATTENDED", "fail"), ("BATON_BUDGETS_DAY_USD", "5")],
            "max_agents = 6\nmax_unaccepted = 9\n[agents.mine]\nmax_turns = 10\npermissions = \"ask\"\n",
            "max_unaccepted = 8\nlease_seconds = 60\ndefault_agent = \"mine\"\n\
             [agents.mine]\nkind = \"command\"\ncommand = [\"true\"]\n",
        )
        .unwrap();
        assert_eq!(find(&standings, "max_agents"), (&7.into(), "BATON_MAX_AGENTS".to_owned()));
        assert_eq!(find(&standings, "max_unaccepted"), (&9.into(), "baton.toml".to_owned()));
        assert_eq!(find(&standings, "lease_seconds"), (&60.into(), "config.toml".to_owned()));
        assert_eq!(find(&standings, "asking.unattended").1, "BATON_ASKING_UNATTENDED");
        assert_eq!(find(&standings, "agents.mine.max_turns"), (&10.into(), "baton.toml".to_owned()));
        assert_eq!(find(&standings, "agents.mine.kind").1, "config.toml");
        assert_eq!(find(&standings, "agents.mine.permissions"), (&"ask".into(), "baton.toml".to_owned()));
        assert_eq!(find(&standings, "budgets.day.usd"), (&5.into(), "BATON_BUDGETS_DAY_USD".to_owned()));
        assert_eq!(find(&standings, "worktree.spares"), (&1.into(), "default".to_owned()));
    }

    #[test]
    fn a_mistake_is_told_where_it_is() {
        let error = read(&[("BATON_MAX_AGENTS", "many")], "", "").unwrap_err();
        assert!(error.starts_with("BATON_MAX_AGENTS: "), "{error}");
        let error = read(&[], "max_agents = 1", "\nmax_agents = \"many\"").map(|_| ());
        assert!(error.is_ok(), "what is covered is never looked at");
        let error = read(&[], "", "\nmax_unaccepted = \"many\"").unwrap_err();
        assert!(error.starts_with("config.toml: ") && error.contains("line 2"), "{error}");
        let error = read(&[], "", "max_agent = 3").unwrap_err();
        assert_eq!(error, "config.toml: the file has no setting \"max_agent\"; did you mean \"max_agents\"?");
    }

    #[test]
    fn another_programs_name_is_weaker_than_ours() {
        let standings = read(
            &[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://a:1"), ("BATON_TELEMETRY_OTLP", "http://b:2")],
            "",
            "",
        );
        assert_eq!(find(&standings.unwrap(), "telemetry.otlp").0, "http://b:2");
        let standings = read(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://a:1")], "", "").unwrap();
        let (value, from) = find(&standings, "telemetry.otlp");
        assert_eq!((value.as_str(), from.as_str()), (Some("http://a:1"), "OTEL_EXPORTER_OTLP_ENDPOINT"));
    }
}

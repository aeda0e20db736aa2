//! The environment a run starts with.

use std::collections::HashMap;
use std::ffi::OsString;
use std::sync::OnceLock;

use crate::go::{Map, Value};

/// The process's environment, or an explicit one.
#[derive(Debug, Default)]
pub struct TaskEnvironment {
    overrides: Option<Vec<(String, String)>>,
    known: OnceLock<HashMap<String, String>>,
}

impl TaskEnvironment {
    pub fn from_process() -> TaskEnvironment {
        TaskEnvironment::default()
    }

    /// Exactly these variables; nothing is inherited.
    pub fn from_vars(vars: impl IntoIterator<Item = (String, String)>) -> TaskEnvironment {
        TaskEnvironment { overrides: Some(vars.into_iter().collect()), known: OnceLock::new() }
    }

    /// The whole environment of commands; `None` means the process's own.
    pub fn overrides(&self) -> Option<&[(String, String)]> {
        self.overrides.as_deref()
    }

    pub fn get(&self, name: &str) -> Option<String> {
        match &self.overrides {
            Some(_) => self.known().get(name).cloned(),
            None => std::env::var_os(name).map(|v| v.to_string_lossy().into_owned()),
        }
    }

    pub fn contains(&self, name: &str) -> bool {
        match &self.overrides {
            Some(_) => self.known().contains_key(name),
            None => std::env::var_os(name).is_some(),
        }
    }

    /// The environment as template data.
    pub fn values(&self) -> Map {
        match &self.overrides {
            Some(vars) => vars.iter().map(|(k, v)| (k.clone(), Value::from(v.as_str()))).collect(),
            None => std::env::vars_os().map(|(k, v)| (text(k), Value::Str(text(v)))).collect(),
        }
    }

    fn known(&self) -> &HashMap<String, String> {
        self.known.get_or_init(|| self.overrides.iter().flatten().cloned().collect())
    }
}

fn text(raw: OsString) -> String {
    raw.into_string().unwrap_or_else(|raw| raw.to_string_lossy().into_owned())
}

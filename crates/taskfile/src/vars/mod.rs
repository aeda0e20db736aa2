//! Variables while a task is prepared: what is known so far, in go-task's order of precedence.

mod environment;
mod render;

pub use environment::Environment;
pub use render::Renderer;

use indexmap::IndexMap;

use crate::value::{Map, Value};

/// What templates of a task see.
#[derive(Debug, Clone, Default)]
pub struct Variables {
    pub values: Map,
    /// Variables whose command has not been run, with the command; templates see nothing of them.
    pub pending: IndexMap<String, String>,
    /// Names whose values are not shown.
    pub secrets: Vec<String>,
}

impl Variables {
    pub fn set(&mut self, name: &str, value: Value) {
        self.pending.shift_remove(name);
        self.values.insert(name.to_owned(), value);
    }

    pub fn set_pending(&mut self, name: &str, command: &str) {
        self.values.shift_remove(name);
        self.pending.insert(name.to_owned(), command.to_owned());
    }

    pub fn contains(&self, name: &str) -> bool {
        self.values.contains_key(name) || self.pending.contains_key(name)
    }

    /// The values as shown to people: secrets are stars.
    pub fn masked(&self) -> Option<Map> {
        if self.secrets.is_empty() {
            return None;
        }
        let mut values = self.values.clone();
        for name in &self.secrets {
            values.insert(name.clone(), Value::from("*****"));
        }
        Some(values)
    }

    /// The variables a command can have in its environment: texts, numbers and truth values.
    pub fn exports(values: &Map) -> impl Iterator<Item = (&str, String)> {
        values
            .iter()
            .filter(|(_, v)| matches!(v, Value::Str(_) | Value::Int(_) | Value::Float(_) | Value::Bool(_)))
            .map(|(k, v)| (k.as_str(), v.display()))
    }
}

//! Variables while a task is prepared: what is known so far, in go-task's order of precedence.

use indexmap::IndexMap;

use crate::go::{Map, Value};

/// What templates of a task see.
#[derive(Debug, Clone, Default)]
pub struct Variables {
    pub values: Map,
    /// Variables whose command has not been run, with the command; templates see nothing of them.
    pub pending: IndexMap<String, String>,
    /// Names whose values are not shown.
    pub secrets: Vec<String>,
    /// Places of values that were set over others, and whether one was taken away: what going back has to mend.
    replaced: Vec<usize>,
    is_any_removed: bool,
}

impl Variables {
    /// With these values to begin with.
    pub fn with_base(base: &Map) -> Self {
        Self { values: base.clone(), ..Self::default() }
    }

    /// As they were when they were made over these values. Most are still there, which is cheaper than making all anew for
    /// each of many tasks.
    pub fn reset(&mut self, base: &Map) {
        self.pending.clear();
        self.secrets.clear();
        if std::mem::take(&mut self.is_any_removed) {
            self.replaced.clear();
            self.values.clone_from(base);
            return;
        }
        self.values.truncate(base.len());
        for place in self.replaced.drain(..) {
            if let (Some((_, value)), Some((_, first))) =
                (self.values.get_index_mut(place), base.get_index(place))
            {
                value.clone_from(first);
            }
        }
    }

    pub fn set(&mut self, name: &str, value: Value) {
        self.pending.shift_remove(name);
        if let (place, Some(_)) = self.values.insert_full(name.to_owned(), value) {
            self.replaced.push(place);
        }
    }

    pub fn set_pending(&mut self, name: &str, command: &str) {
        self.is_any_removed |= self.values.shift_remove(name).is_some();
        self.pending.insert(name.to_owned(), command.to_owned());
    }

    pub fn contains(&self, name: &str) -> bool {
        self.values.contains_key(name) || self.pending.contains_key(name)
    }

    /// The values as shown to people: secrets are stars.
    pub fn mask_secrets(&self) -> Option<Map> {
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
    pub fn exportable(values: &Map) -> impl Iterator<Item = (&str, String)> {
        values
            .iter()
            .filter(|(_, v)| matches!(v, Value::Str(_) | Value::Int(_) | Value::Float(_) | Value::Bool(_)))
            .map(|(k, v)| (k.as_str(), v.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base_values() -> Map {
        ["HOME", "USER", "TASK_EXE"].map(|name| (name.to_owned(), Value::from(name))).into_iter().collect()
    }

    #[test]
    fn whatever_was_set_is_gone_when_they_go_back() {
        let base = base_values();
        let mut variables = Variables::with_base(&base);
        let changes: [fn(&mut Variables); 4] = [
            |variables| variables.set("NEW", Value::from("new")),
            |variables| variables.set("USER", Value::from("other")),
            |variables| variables.set_pending("HOME", "pwd"),
            |variables| variables.secrets.push("USER".to_owned()),
        ];
        // Each alone, and each after all before it.
        for upto in 0..changes.len() {
            for first in [0, upto] {
                for change in &changes[first..=upto] {
                    change(&mut variables);
                }
                variables.reset(&base);
                assert!(variables.values.iter().eq(base.iter()), "{:?}", variables.values);
                assert!(variables.pending.is_empty() && variables.secrets.is_empty());
            }
        }
    }
}

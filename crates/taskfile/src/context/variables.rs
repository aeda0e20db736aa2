//! The variables of a task while it is evaluated, in go-task's order of precedence.

use indexmap::IndexMap;

use crate::go::{Map, Value};

/// The data of a task's templates.
#[derive(Debug, Clone, Default)]
pub(crate) struct Variables {
    pub values: Map,
    /// `sh:` variables that were not evaluated, with their command; templates do not see them.
    pub pending: IndexMap<String, String>,
    /// Names whose values must not be printed.
    pub secrets: Vec<String>,
    /// Indices of overwritten values, and whether any was removed, for [`Variables::reset`].
    replaced: Vec<usize>,
    is_any_removed: bool,
}

impl Variables {
    /// Starts with these values.
    pub(crate) fn with_base(base: &Map) -> Self {
        Self { values: base.clone(), ..Self::default() }
    }

    /// Restores the base values. Cheaper than cloning them for each of many tasks.
    pub(crate) fn reset(&mut self, base: &Map) {
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

    pub(crate) fn set(&mut self, name: &str, value: Value) {
        self.pending.shift_remove(name);
        if let (place, Some(_)) = self.values.insert_full(name.to_owned(), value) {
            self.replaced.push(place);
        }
    }

    pub(crate) fn set_pending(&mut self, name: &str, command: &str) {
        self.is_any_removed |= self.values.shift_remove(name).is_some();
        self.pending.insert(name.to_owned(), command.to_owned());
    }

    pub(crate) fn contains(&self, name: &str) -> bool {
        self.values.contains_key(name) || self.pending.contains_key(name)
    }

    /// The values as printed, with secrets masked; `None` if there are no secrets.
    pub(crate) fn mask_secrets(&self) -> Option<Map> {
        if self.secrets.is_empty() {
            return None;
        }
        let mut values = self.values.clone();
        for name in &self.secrets {
            values.insert(name.clone(), Value::from("*****"));
        }
        Some(values)
    }

    /// The variables that can be exported to a command: strings, numbers and booleans, with the data in them
    /// still marked.
    pub(crate) fn exportable(values: &Map) -> impl Iterator<Item = (&str, String)> {
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
    fn reset_restores_the_base_values() {
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

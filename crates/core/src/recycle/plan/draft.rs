//! What a breakdown agent sends, read as leniently as possible without guessing.
//!
//! Models write one text where a list is expected, `"2"` for a number, and `null` for nothing. Each of these has one
//! meaning, so it is accepted. Anything else is kept as sent, for validation to report.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanDraft {
    #[serde(default, alias = "tasks", alias = "subtasks", deserialize_with = "or_nothing")]
    pub items: Vec<ItemDraft>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ItemDraft {
    #[serde(deserialize_with = "or_nothing")]
    pub title: String,
    #[serde(deserialize_with = "or_nothing")]
    pub description: String,
    /// `"P1"`, `"p1"`, `"1"`, `1` or nothing.
    pub priority: Value,
    #[serde(deserialize_with = "one_or_many")]
    pub acceptance_criteria: Vec<String>,
    #[serde(deserialize_with = "one_or_many")]
    pub verification: Vec<String>,
    /// Numbers of other items, counted from 1; as numbers or as text.
    #[serde(deserialize_with = "one_or_many")]
    pub depends_on: Vec<Value>,
}

fn or_nothing<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Option::<T>::deserialize(deserializer).map(Option::unwrap_or_default)
}

fn one_or_many<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "a list, or one entry of it")]
    enum OneOrMany<T> {
        // First, because a unit matches null alone while `One(Value)` matches anything.
        Nothing(()),
        Many(Vec<T>),
        One(T),
    }
    Ok(match OneOrMany::deserialize(deserializer)? {
        OneOrMany::Nothing(()) => Vec::new(),
        OneOrMany::Many(entries) => entries,
        OneOrMany::One(entry) => vec![entry],
    })
}

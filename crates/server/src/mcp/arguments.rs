//! Typed access to a tool call's arguments. Errors are written for the model: which argument, what was expected, what was
//! found.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use baton_core::text::{NonBlank, nearest};

pub struct ToolArguments(Map<String, Value>);

/// Longest piece of an invalid value that is quoted in the error.
const SHOWN_CHARS_MAX: usize = 80;

impl ToolArguments {
    /// Refuses unknown arguments: a model that misspells one must not believe it was used.
    pub fn read(given: Option<Map<String, Value>>, known: &[&str]) -> Result<Self, String> {
        let given = given.unwrap_or_default();
        for name in given.keys() {
            if !known.contains(&name.as_str()) {
                let hint = match nearest(name, known.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None if known.is_empty() => "this tool takes none".to_owned(),
                    None => format!("this tool takes {}", known.join(", ")),
                };
                return Err(format!("unknown argument `{name}`; {hint}"));
            }
        }
        Ok(Self(given))
    }

    /// Null counts as absent: models send it for omitted arguments.
    fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    pub fn text(&self, name: &str) -> Result<Option<&str>, String> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(type_error(name, "a string", other)),
        }
    }

    pub fn non_blank(&self, name: &str) -> Result<NonBlank, String> {
        let text = self.text(name)?.ok_or_else(|| format!("missing argument `{name}`"))?;
        NonBlank::new(text).map_err(|_| format!("`{name}` is blank; write at least one visible character"))
    }

    pub fn optional_non_blank(&self, name: &str) -> Result<Option<NonBlank>, String> {
        if self.text(name)?.is_none() { Ok(None) } else { self.non_blank(name).map(Some) }
    }

    /// A text parsed by its type.
    pub fn parse<T: std::str::FromStr<Err: std::fmt::Display>>(
        &self,
        name: &str,
    ) -> Result<Option<T>, String> {
        self.text(name)?.map(|text| text.parse().map_err(|error| format!("`{name}`: {error}"))).transpose()
    }

    /// A value of one of our enums, such as a status.
    pub fn parse_enum<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, String> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        let read = serde_json::from_value(Value::String(text.to_owned()));
        read.map(Some).map_err(|error| format!("`{name}`: {error}"))
    }

    pub fn strings(&self, name: &str) -> Result<Vec<String>, String> {
        let wanted = "a list of strings";
        match self.get(name) {
            None => Ok(Vec::new()),
            Some(Value::Array(entries)) => entries
                .iter()
                .map(|entry| entry.as_str().map(str::to_owned).ok_or_else(|| type_error(name, wanted, entry)))
                .collect(),
            Some(other) => Err(type_error(name, wanted, other)),
        }
    }

    /// All arguments as one type.
    pub fn deserialize<T: DeserializeOwned>(self) -> Result<T, String> {
        serde_json::from_value(Value::Object(self.0)).map_err(|error| error.to_string())
    }
}

fn type_error(name: &str, wanted: &str, found: &Value) -> String {
    let shown: String = found.to_string().chars().take(SHOWN_CHARS_MAX).collect();
    format!("`{name}` must be {wanted}, not {shown}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(value: &Value, known: &[&str]) -> Result<ToolArguments, String> {
        ToolArguments::read(value.as_object().cloned(), known)
    }

    #[test]
    fn what_is_wrong_is_named() {
        let unknown = read(&json!({"titel": "x"}), &["title", "description"]).err();
        assert_eq!(unknown.as_deref(), Some("there is no argument `titel`; did you mean `title`?"));
        let arguments =
            read(&json!({"title": 7, "options": ["a", 1], "reply": "  "}), &["title", "options", "reply"])
                .unwrap();
        assert_eq!(arguments.text("title").unwrap_err(), "`title` must be a text, and is 7");
        assert_eq!(
            arguments.strings("options").unwrap_err(),
            "`options` must be a list of strings, and is 1"
        );
        assert_eq!(
            arguments.non_blank("reply").unwrap_err(),
            "`reply` is blank; write at least one visible character"
        );
        assert_eq!(arguments.non_blank("gone").unwrap_err(), "the argument `gone` is missing");
    }

    #[test]
    fn null_is_nothing() {
        let arguments = read(&json!({"title": null}), &["title"]).unwrap();
        assert_eq!(arguments.text("title").unwrap(), None);
        assert!(arguments.strings("title").unwrap().is_empty());
    }
}

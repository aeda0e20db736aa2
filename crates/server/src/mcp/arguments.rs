//! Parses the arguments of a tool call. Errors are written for the model: which argument, and what is wrong with it.

use baton_core::base::text::nearest;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

pub(super) struct ToolArguments(Map<String, Value>);

impl ToolArguments {
    /// Refuses unknown arguments: a model that misspells one must not believe it was used. Null counts as absent:
    /// models send it for omitted arguments.
    pub(super) fn check(given: Option<Map<String, Value>>, known: &[&str]) -> Result<Self, String> {
        let mut given = given.unwrap_or_default();
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
        given.retain(|_, value| !value.is_null());
        Ok(Self(given))
    }

    pub(super) fn parse<T: DeserializeOwned>(self) -> Result<T, String> {
        serde_path_to_error::deserialize(Value::Object(self.0)).map_err(|error| {
            let path = error.path().to_string();
            // An error of the whole object, such as a missing field, has no path.
            if path == "." {
                error.into_inner().to_string()
            } else {
                format!("`{path}`: {}", error.into_inner())
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::inputs::{AddTaskArguments, AskArguments, ListTasksArguments};
    use serde_json::json;

    fn parse<T: DeserializeOwned>(value: &Value, known: &[&str]) -> Result<T, String> {
        ToolArguments::check(value.as_object().cloned(), known)?.parse()
    }

    #[test]
    fn errors_name_the_argument() {
        let known = ["title", "options", "question", "description"];
        let error = |value: Value| parse::<AskArguments>(&value, &known).unwrap_err();
        assert_eq!(error(json!({"titel": "x"})), "unknown argument `titel`; did you mean `title`?");
        assert_eq!(error(json!({"question": 7})), "`question`: invalid type: integer `7`, expected a string");
        assert_eq!(
            error(json!({"question": "x", "options": ["a", 1]})),
            "`options[1]`: invalid type: integer `1`, expected a string"
        );
        assert_eq!(
            error(json!({"question": "  "})),
            "`question`: the text is blank; write at least one visible character"
        );
        assert_eq!(error(json!({})), "missing field `question`");
    }

    #[test]
    fn null_counts_as_absent() {
        let parsed: ListTasksArguments = parse(&json!({"title": null}), &["title"]).unwrap();
        assert_eq!(parsed.title, None);
    }

    #[test]
    fn spellings_models_use_are_accepted() {
        let known = ["title", "priority", "task_type"];
        let value = json!({"title": "x", "priority": "p1", "task_type": "read-info"});
        let parsed: AddTaskArguments = parse(&value, &known).unwrap();
        assert_eq!(parsed.priority, Some(baton_core::base::priority::Priority::P1));
        assert_eq!(parsed.task_type, Some(baton_core::base::task_type::TaskType::ReadInfo));
    }
}

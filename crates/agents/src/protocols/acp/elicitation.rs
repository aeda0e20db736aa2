//! Elicitation: turns an agent's question to its user into a Baton question.
//!
//! The protocol sends a form. One field makes an ordinary question; several fields are answered with a JSON object, and
//! the question says so.

use baton_core::ask::fallback::Fallback;
use baton_core::ask::question::{QuestionDraft, QuestionKind};
use baton_core::base::text::NonBlank;
use serde_json::{Map, Value, json};

use crate::output::excerpt::excerpt;
use crate::report::{OPTIONS_MAX, QUESTION_BYTES_MAX};

#[derive(Debug, Clone, PartialEq)]
pub(super) struct ElicitationForm {
    message: String,
    /// Name and schema, in the order of the form.
    fields: Vec<(String, Value)>,
}

impl ElicitationForm {
    /// None when it is not a form; a link, for example, needs a person at a browser.
    pub(super) fn read(params: &Value) -> Option<Self> {
        if !matches!(params["mode"].as_str(), None | Some("form")) {
            return None;
        }
        let fields = params["requestedSchema"]["properties"].as_object().cloned().unwrap_or_default();
        let message = params["message"].as_str()?.trim().to_owned();
        Some(Self { message, fields: fields.into_iter().collect() })
    }

    pub(super) fn question(&self) -> QuestionDraft {
        let mut text = self.message.clone();
        let mut options = Vec::new();
        match self.fields.as_slice() {
            [] => {
                options = vec!["YES".to_owned(), "NO".to_owned()];
                text.push_str(
                    "\n\nThe agent waits for the answer. YES: the agent accepts and continues. NO: the agent declines and \
                     continues.",
                );
            }
            [(_, schema)] => {
                options = choices(schema);
                text.push_str("\n\nThe agent waits for the answer and receives it as you write it");
                text.push_str(match schema["type"].as_str() {
                    Some("boolean") => {
                        ". YES: the agent is told yes and continues. NO: the agent is told no and continues."
                    }
                    Some(_) | None => ".",
                });
            }
            several => {
                text.push_str("\n\nAnswer with a JSON object with these keys:");
                for (name, schema) in several {
                    let about =
                        schema["description"].as_str().or(schema["title"].as_str()).unwrap_or_default();
                    text.extend(["\n- ", name, ": ", about]);
                }
            }
        }
        let text = NonBlank::or(&excerpt(&text, QUESTION_BYTES_MAX), Fallback::Default.question().text);
        let mut draft = QuestionDraft::new(QuestionKind::Clarification, text);
        draft.options =
            options.into_iter().filter_map(|text| NonBlank::new(text).ok()).take(OPTIONS_MAX).collect();
        draft
    }

    /// The answer in the form's shape; None when it does not fit.
    pub(super) fn answer(&self, text: &str) -> Option<Value> {
        let text = text.trim();
        let content = match self.fields.as_slice() {
            [] => return (!is_no(text)).then(|| json!({"action": "accept", "content": {}})),
            [(name, schema)] => Map::from_iter([(name.clone(), value(text, schema)?)]),
            _ => match serde_json::from_str(text) {
                Ok(Value::Object(object)) => object,
                Ok(_) | Err(_) => return None,
            },
        };
        Some(json!({"action": "accept", "content": content}))
    }
}

pub(super) fn declined() -> Value {
    json!({"action": "decline"})
}

pub(super) fn cancelled() -> Value {
    json!({"action": "cancel"})
}

fn is_no(text: &str) -> bool {
    matches!(text.to_lowercase().as_str(), "no" | "n" | "deny" | "decline" | "")
}

fn choices(schema: &Value) -> Vec<String> {
    if schema["type"] == "boolean" {
        return vec!["YES".to_owned(), "NO".to_owned()];
    }
    let named = schema["oneOf"].as_array().into_iter().flatten().map(|one| &one["const"]);
    let plain = schema["enum"].as_array().into_iter().flatten();
    plain.chain(named).filter_map(Value::as_str).map(str::to_owned).collect()
}

fn value(text: &str, schema: &Value) -> Option<Value> {
    match schema["type"].as_str() {
        Some("boolean") => Some(Value::Bool(!is_no(text))),
        Some("integer") => text.parse::<i64>().ok().map(Value::from),
        Some("number") => text.parse::<f64>().ok().map(Value::from),
        Some("array") => Some(text.split(',').map(|one| Value::from(one.trim())).collect::<Vec<_>>().into()),
        Some(_) | None => Some(Value::from(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(properties: &Value) -> ElicitationForm {
        let params =
            json!({"mode": "form", "message": "Which?", "requestedSchema": {"properties": properties}});
        ElicitationForm::read(&params).unwrap()
    }

    #[test]
    fn one_field_is_a_question_with_its_choices() {
        let form = form(&json!({"colour": {"type": "string", "enum": ["red", "blue"]}}));
        let draft = form.question();
        assert!(
            draft.text.as_str().starts_with("Which?\n\nThe agent waits for the answer"),
            "{}",
            draft.text
        );
        assert_eq!(draft.options.len(), 2);
        assert_eq!(form.answer("red"), Some(json!({"action": "accept", "content": {"colour": "red"}})));
    }

    #[test]
    fn offered_answers_are_explained() {
        for properties in [json!({}), json!({"sure": {"type": "boolean"}})] {
            let draft = form(&properties).question();
            assert_eq!(draft.missing_context(), [], "{}", draft.text);
        }
    }

    #[test]
    fn answers_take_the_shape_of_their_field() {
        let answer = |schema: Value, text: &str| {
            form(&json!({"x": schema})).answer(text).map(|a| a["content"]["x"].clone())
        };
        assert_eq!(answer(json!({"type": "integer"}), "7"), Some(json!(7)));
        assert_eq!(answer(json!({"type": "integer"}), "seven"), None);
        assert_eq!(answer(json!({"type": "boolean"}), "YES"), Some(json!(true)));
        assert_eq!(answer(json!({"type": "boolean"}), "no"), Some(json!(false)));
        assert_eq!(answer(json!({"type": "array"}), "a, b"), Some(json!(["a", "b"])));
    }

    #[test]
    fn several_fields_are_answered_as_json_and_a_link_is_no_form() {
        let form = form(&json!({"a": {"type": "string"}, "b": {"type": "string"}}));
        assert!(form.question().text.as_str().contains("JSON object"));
        assert_eq!(form.answer("red"), None);
        assert_eq!(form.answer(r#"{"a":"1"}"#).unwrap()["content"], json!({"a": "1"}));
        assert_eq!(ElicitationForm::read(&json!({"mode": "url", "message": "x"})), None);
    }
}

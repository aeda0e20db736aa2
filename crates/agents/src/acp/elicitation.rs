//! An agent's own question to its user, made one of ours.
//!
//! The protocol asks for a form. A form of one field is a question like any other; one of several is answered
//! with a JSON object, which the question says.

use baton_core::ask::fallback::Fallback;
use baton_core::ask::question::{QuestionDraft, QuestionKind};
use baton_core::base::text::NonBlank;
use serde_json::{Map, Value, json};

use crate::excerpt::excerpt;
use crate::report::{OPTIONS_MAX, QUESTION_BYTES_MAX};

/// A form that waits for its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Form {
    message: String,
    /// By name, in the order of the form.
    fields: Vec<(String, Value)>,
}

impl Form {
    /// None when it is not a form; links, for one, need a person at a browser.
    pub fn read(params: &Value) -> Option<Self> {
        if !matches!(params["mode"].as_str(), None | Some("form")) {
            return None;
        }
        let fields = params["requestedSchema"]["properties"].as_object().cloned().unwrap_or_default();
        let message = params["message"].as_str()?.trim().to_owned();
        Some(Self { message, fields: fields.into_iter().collect() })
    }

    pub fn question(&self) -> QuestionDraft {
        let mut text = self.message.clone();
        let mut options = Vec::new();
        match self.fields.as_slice() {
            [] => {
                options = vec!["YES".to_owned(), "NO".to_owned()];
                text.push_str(
                    "\n\nThe agent asks this itself, and waits. YES: it is told so, and goes on with it. NO: it is told \
                     no, and goes on without.",
                );
            }
            [(_, schema)] => {
                options = choices(schema);
                text.push_str(
                    "\n\nThe agent asks this itself, and waits. Your answer is given to it as it is",
                );
                text.push_str(match schema["type"].as_str() {
                    Some("boolean") => ". YES: it is told yes, and goes on. NO: it is told no, and goes on.",
                    Some(_) | None => ", and it goes on with it.",
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

    /// The answer in the form's own shape; None when it does not fit.
    pub fn answer(&self, text: &str) -> Option<Value> {
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

pub fn declined() -> Value {
    json!({"action": "decline"})
}

pub fn cancelled() -> Value {
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

    fn form(properties: &Value) -> Form {
        let params =
            json!({"mode": "form", "message": "Which?", "requestedSchema": {"properties": properties}});
        Form::read(&params).unwrap()
    }

    #[test]
    fn one_field_is_a_question_with_its_choices() {
        let form = form(&json!({"colour": {"type": "string", "enum": ["red", "blue"]}}));
        let draft = form.question();
        assert!(draft.text.as_str().starts_with("Which?\n\nThe agent asks this itself"), "{}", draft.text);
        assert_eq!(draft.options.len(), 2);
        assert_eq!(form.answer("red"), Some(json!({"action": "accept", "content": {"colour": "red"}})));
    }

    #[test]
    fn where_baton_offers_the_words_it_says_what_they_lead_to() {
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
        assert_eq!(Form::read(&json!({"mode": "url", "message": "x"})), None);
    }
}

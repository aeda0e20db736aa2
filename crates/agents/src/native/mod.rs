//! The streams of two agents as they are, for people who do not want an adapter between.
//!
//! Both write one JSON object to a line. A line of a kind we do not know is left out: they add kinds often.

pub mod claude;
pub mod codex;

use serde_json::Value;

use crate::conversation::Conversation;

/// The beginning of a line that is quoted back.
const QUOTED_BYTES_MAX: usize = 200;

/// One line as an object; what is none is kept in the log.
fn read(line: &str, talk: &mut Conversation) -> Option<Value> {
    match serde_json::from_str(line) {
        Ok(value @ Value::Object(_)) => Some(value),
        Ok(_) | Err(_) => {
            talk.hearing.reported(&format!("not a message: {line}"));
            None
        }
    }
}

fn too_long(beginning: &str, talk: &mut Conversation) {
    let beginning = &beginning[..beginning.floor_char_boundary(QUOTED_BYTES_MAX)];
    talk.hearing.problem(format!("a message of the agent is too long to be read: {beginning}"));
}

fn text_of<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

//! JSON-RPC 2.0, one message per line.

use serde::Serialize;
use serde_json::{Map, Value, json};

pub(super) const METHOD_NOT_FOUND: i64 = -32601;
pub(super) const INVALID_PARAMS: i64 = -32602;

/// A message from the agent.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum RpcMessage {
    Request {
        id: Value,
        method: String,
        params: Value,
    },
    Notification {
        method: String,
        params: Value,
    },
    /// The response to Baton's request with this id.
    Answer {
        id: u64,
        result: Result<Value, RpcError>,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct RpcError {
    pub code: i64,
    pub message: String,
}

impl std::fmt::Display for RpcError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} (error {})", self.message, self.code)
    }
}

/// Parses one line; None when it is no message.
pub(super) fn read(line: &str) -> Option<RpcMessage> {
    let Ok(Value::Object(mut message)) = serde_json::from_str(line) else { return None };
    let id = message.remove("id").filter(|id| !id.is_null());
    let method = match message.remove("method") {
        Some(Value::String(method)) => Some(method),
        Some(_) => return None,
        None => None,
    };
    let params = message.remove("params").unwrap_or(Value::Null);
    match (method, id) {
        (Some(method), Some(id)) => Some(RpcMessage::Request { id, method, params }),
        (Some(method), None) => Some(RpcMessage::Notification { method, params }),
        (None, Some(id)) => Some(RpcMessage::Answer { id: number(&id)?, result: answer(message)? }),
        (None, None) => None,
    }
}

/// Baton's ids are numbers; some agents return them as strings.
fn number(id: &Value) -> Option<u64> {
    id.as_u64().or_else(|| id.as_str()?.parse().ok())
}

fn answer(mut message: Map<String, Value>) -> Option<Result<Value, RpcError>> {
    match message.remove("error").filter(|error| !error.is_null()) {
        Some(error) => Some(Err(rpc_error(&error))),
        None => message.remove("result").map(Ok),
    }
}

/// Includes `data`, where agents put their provider's message.
fn rpc_error(error: &Value) -> RpcError {
    let mut message = error["message"].as_str().unwrap_or("no message").to_owned();
    let said = match &error["data"] {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        Value::Object(data) => Some(match data.get("details").or_else(|| data.get("message")) {
            Some(Value::String(details)) => details.clone(),
            Some(_) | None => Value::Object(data.clone()).to_string(),
        }),
        other => Some(other.to_string()),
    };
    if let Some(said) = said.filter(|said| !message.contains(said)) {
        message = format!("{message}: {said}");
    }
    RpcError { code: error["code"].as_i64().unwrap_or(0), message }
}

pub(super) fn request(id: u64, method: &str, params: &impl Serialize) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
}

pub(super) fn notification(method: &str, params: &impl Serialize) -> String {
    json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string()
}

pub(super) fn result(id: &Value, result: &impl Serialize) -> String {
    json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string()
}

pub(super) fn error(id: &Value, code: i64, message: &str) -> String {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_message_is_told_apart() {
        let request = read(r#"{"jsonrpc":"2.0","id":"a","method":"m","params":{"x":1}}"#);
        assert_eq!(
            request,
            Some(RpcMessage::Request { id: json!("a"), method: "m".to_owned(), params: json!({"x": 1}) })
        );
        let notification = read(r#"{"method":"m"}"#);
        assert_eq!(
            notification,
            Some(RpcMessage::Notification { method: "m".to_owned(), params: Value::Null })
        );
        assert_eq!(
            read(r#"{"id":7,"result":null}"#),
            Some(RpcMessage::Answer { id: 7, result: Ok(Value::Null) })
        );
        assert_eq!(
            read(r#"{"id":"7","result":1}"#),
            Some(RpcMessage::Answer { id: 7, result: Ok(json!(1)) })
        );
        let error =
            read(r#"{"id":7,"error":{"code":-32603,"message":"Internal error","data":{"details":"429"}}}"#);
        let said = RpcError { code: -32603, message: "Internal error: 429".to_owned() };
        assert_eq!(error, Some(RpcMessage::Answer { id: 7, result: Err(said) }));
    }

    #[test]
    fn what_is_no_message_is_not_taken_for_one() {
        for line in ["", "hello", "[1]", "{}", r#"{"id":7}"#, r#"{"method":5}"#, r#"{"id":"x","result":1}"#] {
            assert_eq!(read(line), None, "{line}");
        }
    }
}

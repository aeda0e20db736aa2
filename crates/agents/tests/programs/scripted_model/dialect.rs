//! Replies in the formats of the four model APIs.

use serde_json::{Value, json};

use crate::script::{ModelOutput, Tool};

/// The usage of every reply.
const INPUT_TOKENS: u64 = 100;
const OUTPUT_TOKENS: u64 = 20;
const MODEL: &str = "scripted";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ModelApi {
    Messages,
    Responses,
    Chat,
    Gemini,
}

impl ModelApi {
    pub(crate) fn from_path(path: &str) -> Option<Self> {
        let path = path.split('?').next().unwrap_or_default();
        if path.ends_with("/messages") {
            Some(Self::Messages)
        } else if path.ends_with("/responses") {
            Some(Self::Responses)
        } else if path.ends_with("/chat/completions") {
            Some(Self::Chat)
        } else if path.ends_with(":generateContent") || path.ends_with(":streamGenerateContent") {
            Some(Self::Gemini)
        } else {
            None
        }
    }

    pub(crate) fn wants_stream(self, path: &str, body: &Value) -> bool {
        match self {
            Self::Messages | Self::Responses | Self::Chat => body["stream"] == true,
            Self::Gemini => path.contains(":streamGenerateContent"),
        }
    }

    /// The number of the model's turns in this conversation.
    pub(crate) fn turns(self, body: &Value) -> usize {
        let items = |key: &str| body[key].as_array().cloned().unwrap_or_default();
        match self {
            Self::Messages | Self::Chat => {
                items("messages").iter().filter(|one| one["role"] == "assistant").count()
            }
            Self::Responses => {
                let is_ours = |one: &&Value| {
                    one["role"] == "assistant"
                        || one["type"].as_str().is_some_and(|kind| kind.ends_with("_call"))
                };
                items("input").iter().filter(is_ours).count()
            }
            Self::Gemini => items("contents").iter().filter(|one| one["role"] == "model").count(),
        }
    }

    pub(crate) fn error(self, status: u16, more: &str) -> Value {
        let (word, kind) = match status {
            429 => ("RESOURCE_EXHAUSTED", "rate_limit_error"),
            401 | 403 => ("UNAUTHENTICATED", "authentication_error"),
            529 => ("UNAVAILABLE", "overloaded_error"),
            _ => ("INTERNAL", "api_error"),
        };
        let message = format!("scripted {kind} {more}").trim_end().to_owned();
        match self {
            Self::Messages => json!({"type": "error", "error": {"type": kind, "message": message}}),
            Self::Responses | Self::Chat => {
                json!({"error": {"message": message, "type": kind, "code": kind}})
            }
            Self::Gemini => json!({"error": {"code": status, "message": message, "status": word}}),
        }
    }

    /// A complete response.
    pub(crate) fn whole(self, output: &ModelOutput, turn: usize) -> Value {
        match self {
            Self::Messages => {
                let block = match output {
                    ModelOutput::Text(text) => json!({"type": "text", "text": text}),
                    ModelOutput::Call { id, name, arguments, .. } => {
                        json!({"type": "tool_use", "id": id, "name": name, "input": arguments})
                    }
                };
                json!({"id": format!("msg_{turn}"), "type": "message", "role": "assistant", "model": MODEL, "content": [block],
                    "stop_reason": messages_stop(output), "usage": messages_usage()})
            }
            Self::Responses => responses_done(output, turn),
            Self::Chat => json!({"id": "chat_1", "object": "chat.completion", "created": 0, "model": MODEL,
                "choices": [{"index": 0, "message": chat_message(output), "finish_reason": chat_finish(output)}],
                "usage": chat_usage()}),
            Self::Gemini => gemini(output),
        }
    }

    /// The same as a stream of server-sent events.
    pub(crate) fn events(self, output: &ModelOutput, turn: usize) -> Vec<String> {
        match self {
            Self::Messages => messages_events(output, turn),
            Self::Responses => responses_events(output, turn),
            Self::Chat => chat_events(output),
            Self::Gemini => vec![data(&gemini(output))],
        }
    }
}

/// All tools in the request.
pub(crate) fn tools(body: &Value) -> Vec<Tool> {
    let mut found = Vec::new();
    collect(&body["tools"], None, &mut found);
    found
}

/// Every API nests tools differently; an object with a name and a schema is one.
fn collect(value: &Value, space: Option<&str>, found: &mut Vec<Tool>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, space, found)),
        Value::Object(fields) => {
            let schema = ["input_schema", "parameters", "parametersJsonSchema"]
                .iter()
                .find_map(|key| fields.get(*key));
            if let (Some(Value::String(name)), Some(schema)) = (fields.get("name"), schema) {
                let space = space.map(str::to_owned);
                found.push(Tool { name: name.clone(), space, schema: schema.clone() });
            } else {
                let is_space = fields.get("type").is_some_and(|kind| kind == "namespace");
                let space = if is_space { fields.get("name").and_then(Value::as_str) } else { space };
                for key in ["function", "functionDeclarations", "tools"] {
                    collect(fields.get(key).unwrap_or(&Value::Null), space, found);
                }
            }
        }
        _ => {}
    }
}

fn data(value: &Value) -> String {
    format!("data: {value}\n\n")
}

fn event(value: &Value) -> String {
    format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap_or_default())
}

// --- Anthropic Messages ---

fn messages_stop(output: &ModelOutput) -> &'static str {
    match output {
        ModelOutput::Text(_) => "end_turn",
        ModelOutput::Call { .. } => "tool_use",
    }
}

fn messages_usage() -> Value {
    json!({"input_tokens": INPUT_TOKENS, "output_tokens": OUTPUT_TOKENS})
}

/// Each turn has its own id: Claude Code merges messages with the same id.
fn messages_events(output: &ModelOutput, turn: usize) -> Vec<String> {
    let (block, delta) = match output {
        ModelOutput::Text(text) => {
            (json!({"type": "text", "text": ""}), json!({"type": "text_delta", "text": text}))
        }
        ModelOutput::Call { id, name, arguments, .. } => (
            json!({"type": "tool_use", "id": id, "name": name, "input": {}}),
            json!({"type": "input_json_delta", "partial_json": arguments.to_string()}),
        ),
    };
    let message = json!({"id": format!("msg_{turn}"), "type": "message", "role": "assistant", "model": MODEL, "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": INPUT_TOKENS, "output_tokens": 1}});
    [
        json!({"type": "message_start", "message": message}),
        json!({"type": "content_block_start", "index": 0, "content_block": block}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": messages_stop(output), "stop_sequence": null},
            "usage": {"output_tokens": OUTPUT_TOKENS}}),
        json!({"type": "message_stop"}),
    ]
    .iter()
    .map(event)
    .collect()
}

// --- OpenAI Responses ---

fn responses_item(output: &ModelOutput, turn: usize) -> Value {
    match output {
        ModelOutput::Text(text) => {
            json!({"type": "message", "id": format!("item_{turn}"), "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}]})
        }
        ModelOutput::Call { id, name, space, arguments } => {
            let mut item = json!({"type": "function_call", "id": format!("item_{turn}"), "call_id": id, "name": name,
            "arguments": arguments.to_string(), "status": "completed"});
            if let Some(space) = space {
                item["namespace"] = json!(space);
            }
            item
        }
    }
}

fn responses_done(output: &ModelOutput, turn: usize) -> Value {
    json!({"id": format!("resp_{turn}"), "object": "response", "model": MODEL, "status": "completed", "output": [responses_item(output, turn)],
        "usage": {"input_tokens": INPUT_TOKENS, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": OUTPUT_TOKENS,
        "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": INPUT_TOKENS + OUTPUT_TOKENS}})
}

fn responses_events(output: &ModelOutput, turn: usize) -> Vec<String> {
    let item = responses_item(output, turn);
    let mut events = vec![
        json!({"type": "response.created", "response": {"id": format!("resp_{turn}"), "status": "in_progress"}}),
        json!({"type": "response.output_item.added", "output_index": 0, "item": item}),
    ];
    if let ModelOutput::Text(text) = output {
        events.push(
            json!({"type": "response.output_text.delta", "item_id": format!("item_{turn}"), "output_index": 0,
            "content_index": 0, "delta": text}),
        );
    }
    events.push(json!({"type": "response.output_item.done", "output_index": 0, "item": item}));
    events.push(json!({"type": "response.completed", "response": responses_done(output, turn)}));
    events.iter().map(event).collect()
}

// --- OpenAI Chat ---

fn chat_message(output: &ModelOutput) -> Value {
    match output {
        ModelOutput::Text(text) => json!({"role": "assistant", "content": text}),
        ModelOutput::Call { id, name, arguments, .. } => {
            json!({"role": "assistant", "content": null, "tool_calls": [
            {"index": 0, "id": id, "type": "function", "function": {"name": name, "arguments": arguments.to_string()}}]})
        }
    }
}

fn chat_finish(output: &ModelOutput) -> &'static str {
    match output {
        ModelOutput::Text(_) => "stop",
        ModelOutput::Call { .. } => "tool_calls",
    }
}

fn chat_usage() -> Value {
    json!({"prompt_tokens": INPUT_TOKENS, "completion_tokens": OUTPUT_TOKENS, "total_tokens": INPUT_TOKENS + OUTPUT_TOKENS})
}

fn chat_events(output: &ModelOutput) -> Vec<String> {
    let chunk = |choices: Value| {
        json!({"id": "chat_1", "object": "chat.completion.chunk", "created": 0, "model": MODEL,
        "choices": choices})
    };
    let mut end = chunk(json!([{"index": 0, "delta": {}, "finish_reason": chat_finish(output)}]));
    end["usage"] = chat_usage();
    vec![
        data(&chunk(json!([{"index": 0, "delta": chat_message(output), "finish_reason": null}]))),
        data(&end),
        "data: [DONE]\n\n".to_owned(),
    ]
}

// --- Gemini ---

fn gemini(output: &ModelOutput) -> Value {
    let part = match output {
        ModelOutput::Text(text) => json!({"text": text}),
        ModelOutput::Call { name, arguments, .. } => {
            json!({"functionCall": {"name": name, "args": arguments}})
        }
    };
    json!({"candidates": [{"index": 0, "content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": INPUT_TOKENS, "candidatesTokenCount": OUTPUT_TOKENS,
        "totalTokenCount": INPUT_TOKENS + OUTPUT_TOKENS}})
}

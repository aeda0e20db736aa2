//! The same words in the four dialects models are spoken to in.

use serde_json::{Value, json};

use crate::script::{Said, Tool};

/// What every reply is said to have cost.
const INPUT_TOKENS: u64 = 100;
const OUTPUT_TOKENS: u64 = 20;
const MODEL: &str = "scripted";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Messages,
    Responses,
    Chat,
    Gemini,
}

impl Dialect {
    pub(crate) fn of(path: &str) -> Option<Self> {
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

    /// How often the model has spoken in this conversation.
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

    /// One answer, not streamed.
    pub(crate) fn whole(self, said: &Said, turn: usize) -> Value {
        match self {
            Self::Messages => {
                let block = match said {
                    Said::Text(text) => json!({"type": "text", "text": text}),
                    Said::Call { id, name, arguments, .. } => {
                        json!({"type": "tool_use", "id": id, "name": name, "input": arguments})
                    }
                };
                json!({"id": format!("msg_{turn}"), "type": "message", "role": "assistant", "model": MODEL, "content": [block],
                    "stop_reason": messages_stop(said), "usage": messages_usage()})
            }
            Self::Responses => responses_done(said, turn),
            Self::Chat => json!({"id": "chat_1", "object": "chat.completion", "created": 0, "model": MODEL,
                "choices": [{"index": 0, "message": chat_message(said), "finish_reason": chat_finish(said)}],
                "usage": chat_usage()}),
            Self::Gemini => gemini(said),
        }
    }

    /// The same as server-sent events.
    pub(crate) fn events(self, said: &Said, turn: usize) -> Vec<String> {
        match self {
            Self::Messages => messages_events(said, turn),
            Self::Responses => responses_events(said, turn),
            Self::Chat => chat_events(said),
            Self::Gemini => vec![data(&gemini(said))],
        }
    }
}

/// Every tool the agent offers.
pub(crate) fn tools(body: &Value) -> Vec<Tool> {
    let mut found = Vec::new();
    collect(&body["tools"], None, &mut found);
    found
}

/// Tools are nested differently everywhere; a thing with a name and a schema is one.
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

fn messages_stop(said: &Said) -> &'static str {
    match said {
        Said::Text(_) => "end_turn",
        Said::Call { .. } => "tool_use",
    }
}

fn messages_usage() -> Value {
    json!({"input_tokens": INPUT_TOKENS, "output_tokens": OUTPUT_TOKENS})
}

/// Each turn has an id of its own: Claude Code takes two messages of one id for one.
fn messages_events(said: &Said, turn: usize) -> Vec<String> {
    let (block, delta) = match said {
        Said::Text(text) => {
            (json!({"type": "text", "text": ""}), json!({"type": "text_delta", "text": text}))
        }
        Said::Call { id, name, arguments, .. } => (
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
        json!({"type": "message_delta", "delta": {"stop_reason": messages_stop(said), "stop_sequence": null},
            "usage": {"output_tokens": OUTPUT_TOKENS}}),
        json!({"type": "message_stop"}),
    ]
    .iter()
    .map(event)
    .collect()
}

// --- OpenAI Responses ---

fn responses_item(said: &Said, turn: usize) -> Value {
    match said {
        Said::Text(text) => {
            json!({"type": "message", "id": format!("item_{turn}"), "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}]})
        }
        Said::Call { id, name, space, arguments } => {
            let mut item = json!({"type": "function_call", "id": format!("item_{turn}"), "call_id": id, "name": name,
            "arguments": arguments.to_string(), "status": "completed"});
            if let Some(space) = space {
                item["namespace"] = json!(space);
            }
            item
        }
    }
}

fn responses_done(said: &Said, turn: usize) -> Value {
    json!({"id": format!("resp_{turn}"), "object": "response", "model": MODEL, "status": "completed", "output": [responses_item(said, turn)],
        "usage": {"input_tokens": INPUT_TOKENS, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": OUTPUT_TOKENS,
        "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": INPUT_TOKENS + OUTPUT_TOKENS}})
}

fn responses_events(said: &Said, turn: usize) -> Vec<String> {
    let item = responses_item(said, turn);
    let mut events = vec![
        json!({"type": "response.created", "response": {"id": format!("resp_{turn}"), "status": "in_progress"}}),
        json!({"type": "response.output_item.added", "output_index": 0, "item": item}),
    ];
    if let Said::Text(text) = said {
        events.push(
            json!({"type": "response.output_text.delta", "item_id": format!("item_{turn}"), "output_index": 0,
            "content_index": 0, "delta": text}),
        );
    }
    events.push(json!({"type": "response.output_item.done", "output_index": 0, "item": item}));
    events.push(json!({"type": "response.completed", "response": responses_done(said, turn)}));
    events.iter().map(event).collect()
}

// --- OpenAI Chat ---

fn chat_message(said: &Said) -> Value {
    match said {
        Said::Text(text) => json!({"role": "assistant", "content": text}),
        Said::Call { id, name, arguments, .. } => {
            json!({"role": "assistant", "content": null, "tool_calls": [
            {"index": 0, "id": id, "type": "function", "function": {"name": name, "arguments": arguments.to_string()}}]})
        }
    }
}

fn chat_finish(said: &Said) -> &'static str {
    match said {
        Said::Text(_) => "stop",
        Said::Call { .. } => "tool_calls",
    }
}

fn chat_usage() -> Value {
    json!({"prompt_tokens": INPUT_TOKENS, "completion_tokens": OUTPUT_TOKENS, "total_tokens": INPUT_TOKENS + OUTPUT_TOKENS})
}

fn chat_events(said: &Said) -> Vec<String> {
    let chunk = |choices: Value| {
        json!({"id": "chat_1", "object": "chat.completion.chunk", "created": 0, "model": MODEL,
        "choices": choices})
    };
    let mut end = chunk(json!([{"index": 0, "delta": {}, "finish_reason": chat_finish(said)}]));
    end["usage"] = chat_usage();
    vec![
        data(&chunk(json!([{"index": 0, "delta": chat_message(said), "finish_reason": null}]))),
        data(&end),
        "data: [DONE]\n\n".to_owned(),
    ]
}

// --- Gemini ---

fn gemini(said: &Said) -> Value {
    let part = match said {
        Said::Text(text) => json!({"text": text}),
        Said::Call { name, arguments, .. } => json!({"functionCall": {"name": name, "args": arguments}}),
    };
    json!({"candidates": [{"index": 0, "content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": INPUT_TOKENS, "candidatesTokenCount": OUTPUT_TOKENS,
        "totalTokenCount": INPUT_TOKENS + OUTPUT_TOKENS}})
}

//! Writes `docs/reference/websocket.md` from real messages.

use std::fmt::Write;

use axum::extract::ws::Message;
use baton_core::ask::answer_source::AnsweredBy;
use baton_core::ask::question::{QuestionDraft, QuestionKind};
use baton_core::base::id::{AttemptId, QuestionId, RunId, SessionId, TaskId};
use baton_core::base::text::NonBlank;
use baton_core::base::time::Timestamp;
use baton_core::people::actor::Actor;
use baton_core::phase::Phase;
use baton_core::phase::handoff::{Handoff, HandoffDecision, PhaseResults};
use baton_core::phase::summary::LoopSummary;
use baton_core::recipe::exit_reason::ExitReason;
use baton_core::records::event::{Event, EventBody};
use baton_core::task::attempt::{AttemptEnd, AttemptReport, AttemptResult, Evidence};
use baton_engine::StoredEvent;
use serde_json::{Value, json};

use crate::http::error::{ApiError, Code};
use crate::kept_page::holds;
use crate::live::wire::{WireBody, message};
use crate::socket::incoming::{ClientMessage, RequestId, read};
use crate::socket::outgoing;

const INTRO: &str = "# WebSocket\n\n\
<!-- Written by `scripts/reference` from crates/server/src/socket and wire. Do not edit. -->\n\n\
`/ws` of the running server exchanges JSON, one object per text frame. The server sends `hello`, the client `connect`, the\n\
server `connected`; after that the client sends requests and the server messages. A `request_id` chosen by the client is\n\
returned with the response. Errors look like [the API's](rest.md), with `\"type\": \"error\"`.\n\n\
A message that creates something, `start_recipe` or `prompt`, may have an `idempotency_key` of your choice: for 24 hours, sending\n\
the same message again with the same key changes nothing and gets the first answer, also on another connection. Another message\n\
with that key is a `CONFLICT`. Other messages take no key.\n\n\
Durable messages carry `seq`, the sequence number of their [event](events.md). A client that reconnects and subscribes with\n\
the last number it saw as `last_seq` misses none and gets none twice. A client that does not read is disconnected and can\n\
catch up later.\n";

/// Describes each request. Exhaustive, so that a new one must be documented.
fn wants(request: &ClientMessage) -> &'static str {
    match request {
        ClientMessage::Connect { .. } => "The first request. `token` is needed if `hello` says so.",
        ClientMessage::GetAvailableRecipes {} => "Returns `available_recipes`.",
        ClientMessage::StartRecipe { .. } => {
            "Starts a recipe on a session. `working_directory` is the repository. Optional: `message` says what to do, `provider` is the agent that must run every step, and `from` is the first phase of the loop (`plan`, `execute`, `review`). The session's messages follow without `subscribe`."
        }
        ClientMessage::ExitRecipe { .. } => "Stops the session's recipe and its agent.",
        ClientMessage::Prompt { .. } => {
            "Sends a message to the session's running recipe; without one it creates a task."
        }
        ClientMessage::Answer { .. } => "Answers a question.",
        ClientMessage::Subscribe { .. } => {
            "Sends all durable messages after `last_seq` (default 0), of one session or of all."
        }
    }
}

fn requests() -> Vec<Value> {
    vec![
        json!({ "type": "connect", "token": "…" }),
        json!({ "type": "subscribe", "session_id": "login", "last_seq": 41 }),
        json!({ "type": "get_available_recipes", "request_id": "1" }),
        json!({ "type": "start_recipe", "session_id": "login", "recipe_id": "implement-and-review", "working_directory": "/src/app", "message": "Add a greeting" }),
        json!({ "type": "prompt", "session_id": "login", "content": "Leave the public names as they are", "idempotency_key": "0f6a2c9e" }),
        json!({ "type": "answer", "question_id": "Q-5eed1234", "answer": "YES" }),
        json!({ "type": "exit_recipe", "session_id": "login" }),
    ]
}

/// Describes each durable message. Exhaustive, so that a new one must be documented.
fn tells(body: &WireBody) -> &'static str {
    match body {
        WireBody::RecipeStarted { .. } => "A recipe started.",
        WireBody::RecipeStepStarted { .. } => {
            "A step started; `step_count` counts the steps of the whole run, `iteration` how often a person sent it round."
        }
        WireBody::RecipeStepTransition { .. } => "The run moved from one step to another.",
        WireBody::OrchestrationRetry { .. } => "The agent's report was invalid; it is asked again.",
        WireBody::RecipeExited { .. } => {
            "The run ended. `category` is `completed`, `guardrail` or `error`; `error`, if present, says what failed."
        }
        WireBody::PhaseChanged { .. } => {
            "A loop moved on. In the `hub` it is over: `results` has its summary, and `options` what you can do next."
        }
        WireBody::QuestionAsked { .. } => "A question is pending.",
        WireBody::QuestionAnswered { .. } => "A question was answered.",
        WireBody::TaskChanged { .. } => {
            "A task changed; `change` says how. Read the task for its current state."
        }
        WireBody::TurnComplete { .. } => "An agent ended its turn.",
    }
}

fn durable() -> Vec<EventBody> {
    let session: SessionId = "login".parse().unwrap();
    let (run, task, attempt) = (RunId::from_bits(1), TaskId::from_bits(2), AttemptId::from_bits(3));
    let text = |text: &str| NonBlank::new(text).unwrap();
    let question = QuestionDraft::new(QuestionKind::Clarification, text("Formal or casual?"))
        .with_id(QuestionId::from_bits(4));
    let reported = AttemptReport::new(AttemptResult::Complete, "Done.");
    vec![
        EventBody::RunStarted {
            run,
            recipe: "implement-and-review".parse().unwrap(),
            label: text("Implement & Review"),
            session: session.clone(),
            task: Some(task),
            step: "implement".parse().unwrap(),
            step_count: 1,
            iteration: 1,
        },
        EventBody::StepStarted {
            run,
            session: session.clone(),
            step: "code-review".parse().unwrap(),
            step_count: 2,
            iteration: 1,
        },
        EventBody::StepLeft {
            run,
            session: session.clone(),
            from: "implement".parse().unwrap(),
            to: "code-review".parse().unwrap(),
            outcome: "complete".parse().unwrap(),
        },
        EventBody::OutcomeRefused {
            run,
            session: session.clone(),
            step: "fix".parse().unwrap(),
            error: text("your message has no JSON object with an \"outcome\" key"),
        },
        EventBody::RunExited {
            run,
            session: session.clone(),
            reason: ExitReason::new("no-tasks-available").unwrap(),
            error: None,
        },
        EventBody::PhaseHandedOff { session: session.clone(), handoff: Box::new(handed_off()) },
        EventBody::QuestionAsked { session: session.clone(), task: Some(task), question: Box::new(question) },
        EventBody::QuestionAnswered {
            session,
            task: Some(task),
            question: QuestionId::from_bits(4),
            answer: text("casual"),
            answered_by: AnsweredBy::Human { name: "mia".to_owned() },
        },
        EventBody::TaskRetried { task },
        EventBody::AttemptEnded {
            task,
            attempt,
            end: Box::new(AttemptEnd { reported, verified: Evidence::default() }),
        },
    ]
}

/// The end of a loop.
fn handed_off() -> Handoff {
    let summary = LoopSummary { iterations: 2, tasks_completed: 3, ..LoopSummary::default() };
    Handoff {
        from: Phase::Review,
        to: Phase::Hub,
        iteration: 2,
        decision: HandoffDecision::No,
        results: PhaseResults::Ended { summary },
        prompt: String::new(),
    }
}

fn page() -> String {
    let mut text = INTRO.to_owned();
    text.push_str("\n## In\n");
    for request in requests() {
        let name = request["type"].as_str().unwrap();
        let read = read(&Message::Text(request.to_string().into())).unwrap();
        let told = wants(&read.body.map_err(|error| error.message).unwrap());
        let _ = write!(text, "\n### `{name}`\n\n{told}\n\n```json\n{request}\n```\n");
    }
    text.push_str("\n## Out, not durable\n");
    let recipes = json!({ "type": "available_recipes", "recipes": ["…"], "faults": [] });
    let error = outgoing::error(
        &RequestId(Some(json!("1"))),
        &ApiError::new(Code::NotFound, "there is no recipe tidy", "list the recipes: baton recipe list"),
    );
    for (message, told) in [
        (
            outgoing::hello("app-1a2b", false),
            "The server's first message. With `needs_token`, `connect` must contain a token.",
        ),
        (
            outgoing::connected(&RequestId::default(), 41),
            "The client is connected. `last_seq` is the sequence number of the newest event.",
        ),
        (outgoing::ack("prompt"), "A request succeeded; with `task_id` or `run_id` if it concerns one."),
        (recipes, "All recipes, each as in `GET /api/recipes`."),
        (error, "A request failed."),
    ] {
        let name = message["type"].as_str().unwrap().to_owned();
        let _ = write!(text, "\n### `{name}`\n\n{told}\n\n```json\n{}\n```\n", versionless(&message));
    }
    text.push_str("\n## Out, durable\n");
    for body in durable() {
        let event = Event { at: Timestamp::from_ms(1_000), by: Actor::Baton, body };
        let sent = message(&StoredEvent { seq: 42, event }).unwrap();
        let form = serde_json::to_value(&sent).unwrap();
        let name = form["type"].as_str().unwrap();
        let _ = write!(text, "\n### `{name}`\n\n{}\n\n```json\n{form}\n```\n", tells(&sent.body));
    }
    text
}

/// A release must not change the page.
fn versionless(message: &Value) -> Value {
    let mut message = message.clone();
    if message.get("version").is_some() {
        message["version"] = json!("…");
    }
    message
}

#[test]
fn reference_of_the_socket_is_current() {
    holds("reference/websocket.md", &page());
}

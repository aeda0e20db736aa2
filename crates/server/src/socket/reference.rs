//! `docs/reference/websocket.md`: what is said on the socket, each message as it really goes.

use std::fmt::Write;

use axum::extract::ws::Message;
use baton_core::ask::answer_source::AnsweredBy;
use baton_core::ask::question::{QuestionDraft, QuestionKind};
use baton_core::base::id::{AttemptId, QuestionId, RunId, SessionId, TaskId};
use baton_core::base::text::NonBlank;
use baton_core::base::time::Timestamp;
use baton_core::people::actor::Actor;
use baton_core::recipe::exit_reason::ExitReason;
use baton_core::records::event::{Event, EventBody};
use baton_core::task::attempt::{AttemptEnd, AttemptReport, AttemptResult, Evidence};
use baton_engine::StoredEvent;
use serde_json::{Value, json};

use super::incoming::{Incoming, read};
use super::outgoing;
use crate::error::{ApiError, Code};
use crate::kept_page::holds;
use crate::wire::{WireBody, message};

const INTRO: &str = "# WebSocket\n\n\
<!-- Written by `scripts/reference` from crates/server/src/socket and wire. Do not edit. -->\n\n\
`/ws` of the running server speaks JSON, one object in each text frame. The server says `hello`, the client answers with\n\
`connect`, the server with `connected`; after that requests go in and messages come out. A `request_id` of the client's own\n\
choice comes back with the answer to its request. Errors have the form of [the API's](rest.md) with `\"type\": \"error\"`.\n\n\
What is durable carries `seq`, the number of [the event](events.md) it tells of. A client that comes back and subscribes with\n\
the last number it saw as `last_seq` misses nothing and gets nothing twice. One that does not read is cut off, and catches up\n\
when it comes back.\n";

/// What each request is for. A new one does not compile until it is told here.
fn wants(request: &Incoming) -> &'static str {
    match request {
        Incoming::Connect { .. } => {
            "The first thing a client says. `token` where the server needs one and the client has shown none."
        }
        Incoming::GetAvailableRecipes {} => "Answered with `available_recipes`.",
        Incoming::StartRecipe { .. } => {
            "Starts a recipe on a session. `working_directory` is the repository; `provider`, which may be left out, the agent that must do every step."
        }
        Incoming::ExitRecipe { .. } => "Ends the recipe of a session, and its agent.",
        Incoming::Prompt { .. } => {
            "Said to the recipe that runs on the session; without one it is a message like any other and becomes a task."
        }
        Incoming::Answer { .. } => "Answers a question.",
        Incoming::Subscribe { .. } => {
            "Everything durable after `last_seq` (0 where it is left out), of one session or of all."
        }
    }
}

fn requests() -> Vec<Value> {
    vec![
        json!({ "type": "connect", "token": "…" }),
        json!({ "type": "subscribe", "session_id": "login", "last_seq": 41 }),
        json!({ "type": "get_available_recipes", "request_id": "1" }),
        json!({ "type": "start_recipe", "session_id": "login", "recipe_id": "implement-and-review", "working_directory": "/src/app" }),
        json!({ "type": "prompt", "session_id": "login", "content": "Leave the public names as they are" }),
        json!({ "type": "answer", "question_id": "Q-5eed1234", "answer": "YES" }),
        json!({ "type": "exit_recipe", "session_id": "login" }),
    ]
}

/// What each durable message tells. A new one does not compile until it is told here.
fn tells(body: &WireBody) -> &'static str {
    match body {
        WireBody::RecipeStarted { .. } => "A recipe began.",
        WireBody::RecipeStepStarted { .. } => "A step was entered; `step_count` counts all steps of the run.",
        WireBody::RecipeStepTransition { .. } => "The run goes from one step to another.",
        WireBody::OrchestrationRetry { .. } => {
            "The agent's report could not be taken; it is asked once more."
        }
        WireBody::RecipeExited { .. } => {
            "The run came to its end. `category` is `completed`, `guardrail` or `error`; `error` says what went wrong, where something did."
        }
        WireBody::QuestionAsked { .. } => "A question waits for an answer.",
        WireBody::QuestionAnswered { .. } => "A question was answered.",
        WireBody::TaskChanged { .. } => {
            "Something about a task is different; `change` says what, the task itself says how it stands now."
        }
        WireBody::TurnComplete { .. } => "An agent has ended its turn.",
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
        },
        EventBody::StepStarted {
            run,
            session: session.clone(),
            step: "code-review".parse().unwrap(),
            step_count: 2,
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

fn page() -> String {
    let mut text = INTRO.to_owned();
    text.push_str("\n## In\n");
    for request in requests() {
        let name = request["type"].as_str().unwrap();
        let read = read(&Message::Text(request.to_string().into())).unwrap();
        let told = wants(&read.map_err(|error| error.message).unwrap().body);
        let _ = write!(text, "\n### `{name}`\n\n{told}\n\n```json\n{request}\n```\n");
    }
    text.push_str("\n## Out, to one client\n");
    let recipes = json!({ "type": "available_recipes", "recipes": ["…"] });
    let error = outgoing::error(
        Some("1"),
        &ApiError::new(Code::NotFound, "there is no recipe tidy", "see what there is: baton recipe list"),
    );
    for (message, told) in [
        (
            outgoing::hello("app-1a2b", false),
            "The first thing the server says. `needs_token`: `connect` must show one.",
        ),
        (outgoing::connected(None, 41), "The client is known. `last_seq` is the number of the newest event."),
        (
            outgoing::ack("prompt"),
            "A request was carried out; with `task_id` or `run_id` where it made or touched one.",
        ),
        (recipes, "The recipes there are, each as `GET /api/recipes` has it."),
        (error, "A request was not carried out."),
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

/// A release must not make the page out of date.
fn versionless(message: &Value) -> Value {
    let mut message = message.clone();
    if message.get("version").is_some() {
        message["version"] = json!("…");
    }
    message
}

#[test]
fn reference_of_the_socket_is_what_the_code_says() {
    holds("reference/websocket.md", &page());
}

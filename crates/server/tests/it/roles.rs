//! Every route with a token of every role. The expected roles are written down here, independently of the product code.

use baton_engine::people::AccessTokens;
use std::collections::BTreeSet;

use baton_core::people::actor::Actor;
use baton_core::people::role::PersonRole::{self, Operator, Responder, Viewer};
use baton_store::model::query::TaskFilter;
use serde_json::{Value, json};

use crate::stage::Stage;

/// The role each API call needs.
const CALLS: [(&str, &str, PersonRole); 78] = [
    ("GET", "/api/projects", Viewer),
    ("POST", "/api/projects", Operator),
    ("GET", "/api/projects/{id}", Viewer),
    ("PATCH", "/api/projects/{id}", Operator),
    ("GET", "/api/projects/{id}/report", Viewer),
    ("POST", "/api/projects/{id}/complete", Operator),
    ("POST", "/api/projects/{id}/chat", Responder),
    ("GET", "/api/projects/{id}/conversation", Viewer),
    ("GET", "/api/task-groups", Viewer),
    ("GET", "/api/task-groups/{id}/tasks", Viewer),
    ("GET", "/api/tasks", Viewer),
    ("POST", "/api/tasks", Operator),
    ("GET", "/api/tasks/ready", Viewer),
    ("GET", "/api/tasks/find", Viewer),
    ("GET", "/api/tasks/{id}", Viewer),
    ("PATCH", "/api/tasks/{id}", Operator),
    ("POST", "/api/tasks/{id}/reply", Responder),
    ("POST", "/api/tasks/{id}/accept", Operator),
    ("POST", "/api/tasks/accept-preview", Viewer),
    ("POST", "/api/tasks/{id}/reject", Operator),
    ("POST", "/api/tasks/{id}/review", Operator),
    ("POST", "/api/tasks/{id}/recycle", Operator),
    ("POST", "/api/tasks/{id}/cancel", Operator),
    ("POST", "/api/tasks/{id}/hold", Operator),
    ("POST", "/api/tasks/{id}/release", Operator),
    ("POST", "/api/tasks/{id}/retry", Operator),
    ("POST", "/api/tasks/{id}/messages", Responder),
    ("GET", "/api/tasks/{id}/messages", Viewer),
    ("POST", "/api/tasks/{id}/takeover", Operator),
    ("GET", "/api/tasks/{id}/takeover", Viewer),
    ("POST", "/api/tasks/{id}/handback", Operator),
    ("GET", "/api/tasks/{id}/events", Viewer),
    ("GET", "/api/tasks/{id}/log", Viewer),
    ("GET", "/api/tasks/{id}/diff", Viewer),
    ("GET", "/api/questions", Viewer),
    ("GET", "/api/questions/{id}", Viewer),
    ("GET", "/api/standstills", Viewer),
    ("POST", "/api/questions/{id}/answer", Responder),
    ("GET", "/api/breakdowns", Viewer),
    ("POST", "/api/breakdowns", Operator),
    ("GET", "/api/breakdowns/{id}", Viewer),
    ("PATCH", "/api/breakdowns/{id}", Operator),
    ("POST", "/api/breakdowns/{id}/run", Operator),
    ("POST", "/api/breakdowns/{id}/approve", Operator),
    ("POST", "/api/breakdowns/{id}/reject", Operator),
    ("GET", "/api/recipes", Viewer),
    ("GET", "/api/recipes/{id}", Viewer),
    ("GET", "/api/runs", Viewer),
    ("GET", "/api/runs/{id}", Viewer),
    ("GET", "/api/sessions/{id}/recipe", Viewer),
    ("POST", "/api/sessions/{id}/recipe", Operator),
    ("DELETE", "/api/sessions/{id}/recipe", Operator),
    ("POST", "/api/sessions/{id}/messages", Responder),
    ("POST", "/api/sessions/{id}/answers", Responder),
    ("GET", "/api/routines", Viewer),
    ("POST", "/api/routines", Operator),
    ("GET", "/api/routines/{id}", Viewer),
    ("DELETE", "/api/routines/{id}", Operator),
    ("POST", "/api/routines/{id}/pause", Operator),
    ("POST", "/api/routines/{id}/resume", Operator),
    ("POST", "/api/routines/{id}/run", Operator),
    ("GET", "/api/user-tasks", Viewer),
    ("POST", "/api/user-tasks/{name}/run", Operator),
    ("GET", "/api/tools", Viewer),
    // Only for agents.
    ("POST", "/api/attempt/questions", Viewer),
    // Depends on the tool; see below.
    ("POST", "/api/tools/{name}", Viewer),
    ("GET", "/api/events", Viewer),
    ("GET", "/api/accounts", Viewer),
    ("GET", "/api/costs", Viewer),
    ("GET", "/api/holds", Viewer),
    ("GET", "/api/landing", Viewer),
    ("POST", "/api/holds/{agent}/release", Operator),
    ("GET", "/api/workers", Viewer),
    ("GET", "/api/tokens", Operator),
    ("POST", "/api/tokens", Operator),
    ("DELETE", "/api/tokens/{name}", Operator),
    ("GET", "/api/health", Viewer),
    ("GET", "/api/openapi.json", Viewer),
];

/// The role each page needs.
const PAGES: [(&str, &str, PersonRole); 55] = [
    ("GET", "/live", Viewer),
    ("GET", "/search", Viewer),
    ("GET", "/help", Viewer),
    ("GET", "/", Viewer),
    ("GET", "/next", Viewer),
    ("GET", "/running", Viewer),
    ("GET", "/questions/{id}", Viewer),
    ("POST", "/questions/{id}/answer", Responder),
    ("GET", "/board", Viewer),
    ("GET", "/costs", Viewer),
    ("GET", "/tasks/new", Viewer),
    ("POST", "/tasks/new", Operator),
    ("GET", "/tasks/{id}", Viewer),
    ("POST", "/tasks/retry", Operator),
    ("POST", "/tasks/bulk", Operator),
    ("GET", "/tasks/{id}/details", Viewer),
    ("GET", "/tasks/{id}/activity", Viewer),
    ("GET", "/tasks/{id}/log", Viewer),
    ("GET", "/tasks/{id}/log.txt", Viewer),
    ("GET", "/tasks/{id}/diff", Viewer),
    ("GET", "/tasks/{id}/timeline", Viewer),
    ("GET", "/tasks/{id}/evidence", Viewer),
    ("GET", "/tasks/{id}/questions", Viewer),
    ("GET", "/tasks/{id}/lineage", Viewer),
    ("GET", "/tasks/{id}/do/{verb}", Viewer),
    ("POST", "/tasks/{id}/do/{verb}", Operator),
    ("POST", "/tasks/{id}/not-after", Operator),
    ("POST", "/tasks/{id}/say", Responder),
    ("GET", "/chat", Viewer),
    ("GET", "/chat/{session}", Viewer),
    ("POST", "/chat/{session}", Responder),
    ("POST", "/chat/{session}/exit", Operator),
    ("GET", "/graph", Viewer),
    ("GET", "/recipes", Viewer),
    ("POST", "/recipes/{id}/start", Operator),
    ("GET", "/routines", Viewer),
    ("POST", "/routines", Operator),
    ("POST", "/routines/{id}/do/{verb}", Operator),
    ("GET", "/breakdowns", Viewer),
    ("GET", "/breakdowns/{id}", Viewer),
    ("POST", "/breakdowns/{id}/edit", Operator),
    ("POST", "/breakdowns/{id}/run", Operator),
    ("POST", "/breakdowns/{id}/approve", Operator),
    ("POST", "/breakdowns/{id}/reject", Operator),
    ("GET", "/user-tasks", Viewer),
    ("POST", "/user-tasks/trust", Operator),
    ("POST", "/user-tasks/{name}/run", Operator),
    ("GET", "/workers", Viewer),
    ("GET", "/landing", Viewer),
    ("GET", "/health", Viewer),
    ("POST", "/health/holds/{agent}/release", Operator),
    ("GET", "/metrics", Viewer),
    ("GET", "/mcp", Viewer),
    ("POST", "/mcp", Viewer),
    ("DELETE", "/mcp", Viewer),
];

/// Public paths: the login and its assets. The socket authenticates itself.
const OPEN: [&str; 5] = ["/login", "/api/login", "/assets/{digest}/{name}", "/badge/{name}", "/ws"];

async fn token(stage: &Stage, name: &str, role: PersonRole) -> String {
    let made =
        AccessTokens::new(&stage.tasks).create(&name.parse().unwrap(), role, None, Actor::human("mia")).await;
    format!("authorization: Bearer {}\r\n", made.unwrap().1.reveal())
}

/// Well-formed values for the variables of a path; none exists.
fn filled(route: &str) -> String {
    let before = |name: &str| match name {
        "project" => "PROJ-00000000",
        "question" => "Q-00000000",
        "routine" => "RTN-00000000",
        "session" => "nowhere",
        _ => "TASK-00000000",
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in route.split('/') {
        let noun = parts.last().map_or("", |last| last.trim_end_matches('s'));
        parts.push(match part {
            "{verb}" => "cancel",
            "{name}" | "{agent}" => "nobody",
            "{session}" => "nowhere",
            "{id}" if noun == "task-group" => "nowhere",
            "{id}" if noun == "recipe" => "nobody",
            "{id}" => before(noun),
            fixed => fixed,
        });
    }
    parts.join("/")
}

#[tokio::test]
async fn every_route_is_checked_with_every_role() {
    let stage = Stage::set().await;
    for role in PersonRole::ALL {
        let shown = token(&stage, role.as_str(), role).await;
        for (method, route, needed) in CALLS.iter().chain(&PAGES) {
            let (status, body) = stage.send_with(&shown, method, &filled(route), None).await;
            if role.may(*needed) {
                // People cannot use the agents' endpoint.
                let wrong: &[u16] = if *route == "/api/attempt/questions" { &[403] } else { &[401, 403] };
                assert!(!wrong.contains(&status), "{role}: {method} {route} answered {status}\n{body}");
            } else {
                assert_eq!(status, 403, "{role}: {method} {route}\n{body}");
                let refusal: Value = serde_json::from_str(&body).unwrap();
                assert_eq!(refusal["error"], "FORBIDDEN");
                let message = refusal["message"].as_str().unwrap();
                assert!(message.contains(&format!("needs the role {needed}")), "{message}");
            }
        }
    }
}

/// New routes must be added to the tables above.
#[tokio::test]
async fn the_tables_list_every_route() {
    let stage = Stage::set().await;
    let (_, text) = stage.send("get", "/api/openapi.json", None).await;
    let document: Value = serde_json::from_str(&text).unwrap();
    let mut there = BTreeSet::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, about) in methods.as_object().unwrap() {
            there.insert((method.to_uppercase(), path.clone()));
            let known = CALLS.iter().find(|(verb, route, _)| *verb == method.to_uppercase() && route == path);
            let needed = known.map(|(_, _, role)| json!(role));
            assert_eq!(about.get("x-needs-role"), needed.as_ref(), "{method} {path}, as the document has it");
        }
    }
    let source = include_str!("../../src/pages/mod.rs");
    for line in source.lines().filter_map(|line| line.trim().strip_prefix(".route(\"")) {
        let (path, handlers) = line.split_once('"').unwrap();
        for (word, method) in [("get(", "GET"), ("post(", "POST")] {
            if handlers.contains(word) {
                there.insert((method.to_owned(), path.to_owned()));
            }
        }
    }
    let own = ["/metrics", "/mcp", "/api/openapi.json"];
    let listed: BTreeSet<(String, String)> = CALLS
        .iter()
        .chain(&PAGES)
        .filter(|(_, route, _)| !own.contains(route))
        .map(|(method, route, _)| ((*method).to_owned(), (*route).to_owned()))
        .collect();
    there.retain(|(_, path)| !OPEN.contains(&path.as_str()));
    assert_eq!(there, listed);
}

#[tokio::test]
async fn tools_check_the_callers_role() {
    let stage = Stage::set().await;
    for role in PersonRole::ALL {
        let shown = token(&stage, role.as_str(), role).await;
        let (_, text) = stage.send_with(&shown, "get", "/api/tools", None).await;
        let tools: Value = serde_json::from_str(&text).unwrap();
        let names: Vec<&str> =
            tools["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        assert!(names.contains(&"list_tasks"), "{role}: {names:?}");
        assert_eq!(names.contains(&"add_task"), role.may(Operator), "{role}: {names:?}");
        let arguments = json!({ "title": "By tool" });
        let (status, body) = stage.send_with(&shown, "post", "/api/tools/add_task", Some(&arguments)).await;
        assert_eq!(status, if role.may(Operator) { 200 } else { 403 }, "{role}: {body}");
        let (status, body) = stage.send_with(&shown, "post", "/api/tools/list_tasks", None).await;
        assert_eq!(status, 200, "{role}: {body}");
    }
}

#[tokio::test]
async fn mcp_offers_the_same_tools() {
    let stage = Stage::set().await;
    let mut changes = stage.tasks.changes();
    // The operator's task comes last: if it exists, the others would, too.
    for role in PersonRole::ALL {
        let accept = "accept: application/json, text/event-stream\r\n";
        let shown = format!("{}{accept}", token(&stage, role.as_str(), role).await);
        let hello = json!({
            "jsonrpc": "2.0", "id": 1, "method": "initialize",
            "params": {
                "protocolVersion": "2025-06-18", "capabilities": {},
                "clientInfo": { "name": "test", "version": "1" },
            },
        });
        let (status, body) = stage.send_with(&shown, "post", "/mcp", Some(&hello)).await;
        assert_eq!(status, 200, "{role}: {body}");
        let session = stage.last_header("mcp-session-id").unwrap_or_default();
        let shown = format!("{shown}mcp-session-id: {session}\r\n");
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        stage.send_with(&shown, "post", "/mcp", Some(&ready)).await;
        let add = json!({
            "jsonrpc": "2.0", "id": 2, "method": "tools/call",
            "params": { "name": "add_task", "arguments": { "title": role } },
        });
        let (status, body) = stage.send_with(&shown, "post", "/mcp", Some(&add)).await;
        assert_eq!(status, 200, "{role}: {body}");
    }
    let titles = async || {
        let page = stage.tasks.store.tasks(&TaskFilter::default(), None, 10).await.unwrap();
        page.items.iter().map(|task| task.value.spec().title.to_string()).collect::<Vec<_>>()
    };
    while titles().await.is_empty() {
        changes.changed().await.unwrap();
    }
    assert_eq!(titles().await, ["operator"]);
}
